import { join } from 'node:path';
import { createInterface } from 'node:readline';
import execa, { type ExecaChildProcess } from 'execa';
import { projectFolder } from '../host';
import { SimulatorControl } from '../simulator';

/** The simulator as a process of its own, so that it takes no time from what is measured. */
export class SimulatorProcess extends SimulatorControl {
	private constructor(
		readonly url: string,
		private readonly child: ExecaChildProcess,
	) {
		super(url);
	}

	/** Starts it; it ends with this process, should the bench be interrupted. */
	static async start(): Promise<SimulatorProcess> {
		const script = join(projectFolder, 'simulator', 'cli.ts');
		const child = execa(
			process.execPath,
			['--import', 'tsx', script, '--port', '0', '--life-speed', '0'],
			{ cwd: projectFolder, stdin: 'ignore', stderr: 'inherit', buffer: false, reject: false },
		);
		const { stdout } = child;
		if (stdout === null) throw new Error('The simulator says nothing');
		for await (const line of createInterface(stdout)) {
			const url = /^Push service simulator: (\S+)/.exec(line)?.[1];
			if (url !== undefined) return new SimulatorProcess(url, child);
		}
		throw new Error('The simulator ended at once');
	}

	async close(): Promise<void> {
		this.child.kill('SIGTERM', { forceKillAfterTimeout: 5_000 });
		await this.child;
	}
}
