import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

// n8n-core writes an instance key into its user folder and logs to the console when it is loaded,
// so both have to be set before a test file imports it: jest runs this file first.
const userFolder = mkdtempSync(join(tmpdir(), 'push-campaign-engine-'));

process.env['N8N_USER_FOLDER'] = userFolder;
process.env['N8N_LOG_LEVEL'] = 'silent';
process.env['N8N_ENCRYPTION_KEY'] = 'engine-tests';
process.env['N8N_DIAGNOSTICS_ENABLED'] = 'false';

afterAll(() => rmSync(userFolder, { recursive: true, force: true }));
