import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

// n8n-core reads all this when it is loaded, and writes an instance key into its user folder.
process.env['N8N_USER_FOLDER'] = mkdtempSync(join(tmpdir(), 'push-campaign-engine-'));
process.env['N8N_LOG_LEVEL'] = 'silent';
process.env['N8N_ENCRYPTION_KEY'] = 'engine-tests';
process.env['N8N_DIAGNOSTICS_ENABLED'] = 'false';
