import { existsSync, readdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** The programs that the suites start and npm does not install, by the Debian package that brings them. */
const requirements = [
	{ debianPackage: 'chromium', programs: ['chromium'], purpose: "n8n's editor in a browser" },
	{ debianPackage: 'redis-server', programs: ['redis-server'], purpose: "n8n's queue mode" },
	{
		debianPackage: 'postgresql',
		programs: ['initdb', 'postgres', 'psql'],
		purpose: "n8n's queue mode",
	},
];

const debianPostgres = '/usr/lib/postgresql';

/** Where a program is: on the PATH, or where Debian keeps PostgreSQL's server programs. */
function findProgram(program: string): string | undefined {
	const versions = existsSync(debianPostgres) ? readdirSync(debianPostgres) : [];
	const folders = [
		...(process.env['PATH'] ?? '').split(delimiter),
		...versions.map((version) => join(debianPostgres, version, 'bin')),
	];
	return folders.map((folder) => join(folder, program)).find((path) => existsSync(path));
}

/** The path of a program. Throws if it is not installed. */
export function requireProgram(program: string): string {
	const path = findProgram(program);
	if (path === undefined) throw new Error(`${program} is not installed`);
	return path;
}

/** Says what is missing and how to install it; undefined if everything is there. */
export function missingRequirements(): string | undefined {
	const missing = requirements.filter(({ programs }) =>
		programs.some((program) => findProgram(program) === undefined),
	);
	if (missing.length === 0) return undefined;
	return [
		'The tests on real servers need programs that are not installed:',
		...missing.map(({ programs, purpose }) => `  ${programs.join(', ')} (for ${purpose})`),
		`Install them (Debian, Ubuntu): sudo apt-get install ${missing.map(({ debianPackage }) => debianPackage).join(' ')}`,
	].join('\n');
}
