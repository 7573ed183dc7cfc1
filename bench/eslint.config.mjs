// n8n's rules are for what is published. The rules for this folder are in eslint.project.mjs.
export default [{ ignores: ['**'] }];
