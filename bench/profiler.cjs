// Loaded into the n8n server by `npm run bench -- --profile <folder>`: writes what it spent its time on.
const { writeFileSync, mkdirSync } = require('node:fs');
const { Session } = require('node:inspector');
const { join } = require('node:path');

const folder = process.env.BENCH_PROFILE;

if (folder !== undefined && /n8n[\\/]bin[\\/]n8n$/.test(process.argv[1] ?? '')) {
	const session = new Session();
	session.connect();
	session.post('Profiler.enable');
	session.post('Profiler.start');
	process.on('exit', () => {
		session.post('Profiler.stop', (error, result) => {
			if (error !== null) return;
			mkdirSync(folder, { recursive: true });
			writeFileSync(join(folder, `${process.pid}.cpuprofile`), JSON.stringify(result.profile));
		});
	});
}
