import { accessSync, constants, readdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** A program that the suites start and that npm does not install. */
export interface Requirement {
	program: string;
	/** The Debian package that brings it. */
	debianPackage: string;
	/** What it is for. */
	purpose: string;
}

export const requirements: readonly Requirement[] = [
	{ program: 'chromium', debianPackage: 'chromium', purpose: "n8n's editor in a real browser" },
	{ program: 'redis-server', debianPackage: 'redis-server', purpose: "n8n's queue mode" },
	{ program: 'initdb', debianPackage: 'postgresql', purpose: "n8n's queue mode" },
	{ program: 'postgres', debianPackage: 'postgresql', purpose: "n8n's queue mode" },
];

const debianPostgres = '/usr/lib/postgresql';

/**
 * Where a program is: on the PATH, or, for PostgreSQL's server programs, where Debian keeps them.
 *
 * @returns its path, undefined where it is not installed
 */
export function findProgram(program: string): string | undefined {
	const folders = (process.env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '');
	return [...folders, ...postgresFolders()]
		.map((folder) => join(folder, program))
		.find(isExecutable);
}

/** As `findProgram`, for what a suite cannot do without. Throws where it is not installed. */
export function requireProgram(program: string): string {
	const path = findProgram(program);
	if (path === undefined) throw new Error(`${program} is not installed`);
	return path;
}

/** The newest PostgreSQL first. */
function postgresFolders(): string[] {
	try {
		return readdirSync(debianPostgres)
			.sort((one, other) => Number(other) - Number(one))
			.map((version) => join(debianPostgres, version, 'bin'));
	} catch {
		return [];
	}
}

function isExecutable(path: string): boolean {
	try {
		accessSync(path, constants.X_OK);
		return true;
	} catch {
		return false;
	}
}

/** Says what is missing and how to install it; undefined where everything is there. */
export function missingRequirements(
	find: (program: string) => string | undefined = findProgram,
): string | undefined {
	const missing = requirements.filter(({ program }) => find(program) === undefined);
	if (missing.length === 0) return undefined;
	const lines = missing.map(({ program, purpose }) => `  ${program} (for ${purpose})`);
	const packages = [...new Set(missing.map(({ debianPackage }) => debianPackage))];
	return [
		'The host tests need programs that are not installed:',
		...lines,
		`Install them (Debian, Ubuntu): sudo apt-get install ${packages.join(' ')}`,
	].join('\n');
}
