import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const project = join(__dirname, '../..');

// In a folder of its own: n8n-node lints all that it finds, as if it were published. What is published, `npm run lint`
// lints by the same config.
test("`n8n-node lint` takes the ESLint config for n8n's own in strict mode", () => {
	const folder = mkdtempSync(join(tmpdir(), 'push-campaign-strict-'));
	try {
		for (const name of ['package.json', 'eslint.config.mjs']) {
			copyFileSync(join(project, name), join(folder, name));
		}
		symlinkSync(join(project, 'node_modules'), join(folder, 'node_modules'));
		const args = [join(project, 'node_modules/.bin/n8n-node'), 'lint'];
		const { status, stdout } = spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' });
		expect({ status, stdout }).toMatchObject({ status: 0 });
	} finally {
		rmSync(folder, { recursive: true, force: true });
	}
});
