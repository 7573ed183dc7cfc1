// Loaded into an n8n server: at SIGUSR2 it collects the garbage and notes what is in use, in its working
// folder (`memory.ts`).
const { appendFileSync } = require('node:fs');
const { setFlagsFromString } = require('node:v8');
const { runInNewContext } = require('node:vm');

if (/n8n[\\/]bin[\\/]n8n$/.test(process.argv[1] ?? '')) {
	setFlagsFromString('--expose-gc');
	const collect = runInNewContext('gc');
	process.on('SIGUSR2', () => {
		collect();
		const { heapUsed, external } = process.memoryUsage();
		appendFileSync('bytes-in-use', `${heapUsed + external}\n`);
	});
}
