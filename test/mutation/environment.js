const { require: requireTypeScript } = require('tsx/cjs/api');

// Stryker loads the environment itself, and knows no TypeScript.
module.exports = requireTypeScript('../support/onceLoaded.ts', __filename);
