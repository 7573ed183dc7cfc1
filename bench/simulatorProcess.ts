import { join } from 'node:path';
import { createInterface } from 'node:readline';
import execa from 'execa';
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
	// It ends with this process, should the bench be interrupted.
	const child = execa(
		process.execPath,
		['--import', 'tsx', script, '--port', '0', '--life-speed', '0'],
		{ cwd: projectFolder, stdin: 'ignore', stderr: 'inherit', buffer: false, reject: false },
	);
	const url = await new Promise<string>((resolve, reject) => {
		if (child.stdout === null) throw new Error('The simulator says nothing');
		createInterface(child.stdout).on('line', (line) => {
			const found = /^Push service simulator: (\S+)/.exec(line)?.[1];
			if (found !== undefined) resolve(found);
		});
		void child.then(() => reject(new Error('The simulator ended at once')));
	});
	return {
		url,
		control: new SimulatorControl(new URL(url).origin),
		close: async () => {
			child.kill('SIGTERM', { forceKillAfterTimeout: 5_000 });
			await child;
		},
	};
}
