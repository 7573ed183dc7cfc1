import { spawnSync } from 'node:child_process';
import {
	copyFileSync,
	cpSync,
	mkdirSync,
	mkdtempSync,
	readFileSync,
	rmSync,
	writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';

export const projectFolder = join(__dirname, '../..');

const programTimeoutMs = 60_000;

const packReport = z
	.array(
		z.object({
			filename: z.string(),
			size: z.number(),
			files: z.array(z.object({ path: z.string() })),
		}),
	)
	.length(1);

const paths = z.array(z.string());

const manifestSchema = z
	.object({
		name: z.string(),
		peerDependencies: z.unknown(),
		n8n: z.object({ nodes: paths, credentials: paths }).passthrough(),
	})
	.passthrough();

const scanReport = z.object({ files: z.number(), messages: z.array(z.string()) });
const scanReports = z.array(z.object({ scanner: scanReport, newest: scanReport }));

/** Files to lint: a folder, and patterns in it. */
export interface Lint {
	folder: string;
	patterns: string[];
}

interface Finished {
	stdout: string;
	stderr: string;
}

/** The package as npm packs it, unpacked into a folder of its own. */
export class PackedPackage {
	private readonly scratch = mkdtempSync(join(tmpdir(), 'push-campaign-verify-'));
	/** Where the tarball was unpacked to. */
	readonly folder = join(this.scratch, 'package');
	readonly files: string[];
	/** Bytes of the tarball. */
	readonly size: number;
	/** What npm printed beside the report. */
	readonly printed: string;

	/** @throws when npm cannot pack, with what it printed */
	constructor() {
		const { stdout, stderr } = this.run('npm', [
			'pack',
			'--json',
			'--ignore-scripts',
			'--pack-destination',
			this.scratch,
		]);
		const [report] = packReport.parse(JSON.parse(stdout));
		if (report === undefined) throw new Error('npm packed nothing');
		mkdirSync(this.folder);
		const tarball = join(this.scratch, report.filename);
		this.run('tar', ['-xzf', tarball, '-C', this.folder, '--strip-components=1']);
		this.files = report.files.map(({ path }) => path).sort();
		this.size = report.size;
		this.printed = stderr;
	}

	get manifest() {
		const text = readFileSync(join(this.folder, 'package.json'), 'utf8');
		return manifestSchema.parse(JSON.parse(text));
	}

	/** The manifest after `npm pkg fix`, which does what `npm publish` would silently do to it. */
	manifestAsNpmWantsIt(): unknown {
		const folder = join(this.scratch, 'fixed');
		mkdirSync(folder);
		copyFileSync(join(this.folder, 'package.json'), join(folder, 'package.json'));
		this.run('npm', ['pkg', 'fix'], { cwd: folder });
		return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
	}

	/** A copy of it with one more file. */
	copyWith(path: string, text: string): string {
		const folder = join(this.scratch, 'changed');
		cpSync(this.folder, folder, { recursive: true });
		writeFileSync(join(folder, path), text);
		return folder;
	}

	/**
	 * Lints files as n8n's verification does, with disable comments switched off. All at once: to load the
	 * linter takes longer than to lint.
	 */
	scan(lints: readonly Lint[]) {
		const script = join(__dirname, 'scan.mjs');
		const { stdout } = this.run(process.execPath, [script, JSON.stringify(lints)], {
			timeout: lints.length * programTimeoutMs,
		});
		return scanReports.parse(JSON.parse(stdout));
	}

	/** The names that a module of the package exports, loaded with nothing but n8n's own modules around. */
	exportsOf(path: string): string[] {
		const code = `console.log(JSON.stringify(Object.keys(require(${JSON.stringify(join(this.folder, path))}))))`;
		const { stdout } = this.run(process.execPath, ['-e', code]);
		return paths.parse(JSON.parse(stdout));
	}

	remove(): void {
		rmSync(this.scratch, { recursive: true, force: true });
	}

	private run(
		command: string,
		args: string[],
		{ cwd = projectFolder, timeout = programTimeoutMs } = {},
	): Finished {
		// The rules find other things when NODE_ENV says that they are being tested.
		const own = Object.entries(process.env).filter(
			([name]) => !/^(npm_|NODE_ENV|JEST_)/i.test(name),
		);
		const { status, stdout, stderr, error } = spawnSync(command, args, {
			cwd,
			encoding: 'utf8',
			timeout,
			env: {
				...Object.fromEntries(own),
				// What is set up on this machine, or left in its temp folder, is none of the package's business.
				npm_config_userconfig: join(this.scratch, 'npmrc'),
				npm_config_update_notifier: 'false',
				NODE_PATH: join(projectFolder, 'node_modules'),
				TMPDIR: this.scratch,
			},
		});
		if (error === undefined && status === 0) return { stdout, stderr };
		throw new Error(`${command} ${args.join(' ')} ended with ${status}\n${stdout}\n${stderr}`, {
			cause: error,
		});
	}
}
