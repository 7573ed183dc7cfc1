import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { projectFolder } from '../host';
import { SimulatorControl } from '../simulator';

export interface SimulatorProcess {
	readonly url: string;
	readonly control: SimulatorControl;
	close(): Promise<void>;
}

/** Starts the simulator as a process of its own, so that it takes no time from what is measured. */
export async function startSimulatorProcess(): Promise<SimulatorProcess> {
	const script = join(projectFolder, 'simulator', 'cli.ts');
	const child = spawn(
		process.execPath,
		['--import', 'tsx', script, '--port', '0', '--life-speed', '0'],
		{ cwd: projectFolder, stdio: ['ignore', 'pipe', 'inherit'] },
	);
	const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
	// The bench may be interrupted: the simulator must not outlive it.
	const kill = () => child.kill('SIGKILL');
	process.once('exit', kill);
	const url = await new Promise<string>((resolve, reject) => {
		createInterface(child.stdout).on('line', (line) => {
			const found = /^Push service simulator: (\S+)/.exec(line)?.[1];
			if (found !== undefined) resolve(found);
		});
		void ended.then(() => reject(new Error('The simulator ended at once')));
	});
	return {
		url,
		control: new SimulatorControl(new URL(url).origin),
		close: async () => {
			process.off('exit', kill);
			child.kill('SIGTERM');
			const patience = setTimeout(kill, 5000);
			await ended;
			clearTimeout(patience);
		},
	};
}
