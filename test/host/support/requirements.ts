import { existsSync, readdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** The programs that the suites start and npm does not install, by the Debian package that brings them. */
const requirements = [
	{ debianPackage: 'chromium', programs: ['chromium'], purpose: "n8n's editor in a real browser" },
	{ debianPackage: 'redis-server', programs: ['redis-server'], purpose: "n8n's queue mode" },
	{ debianPackage: 'postgresql', programs: ['initdb', 'postgres'], purpose: "n8n's queue mode" },
];

const debianPostgres = '/usr/lib/postgresql';

/** Where a program is: on the PATH, or, for PostgreSQL's server programs, where Debian keeps them. */
function findProgram(program: string): string | undefined {
	const versions = existsSync(debianPostgres) ? readdirSync(debianPostgres) : [];
	return [
		...(process.env['PATH'] ?? '').split(delimiter),
		...versions.map((version) => join(debianPostgres, version, 'bin')),
	]
		.map((folder) => join(folder, program))
		.find((path) => existsSync(path));
}

/** The path of a program. Throws where it is not installed. */
export function requireProgram(program: string): string {
	const path = findProgram(program);
	if (path === undefined) throw new Error(`${program} is not installed`);
	return path;
}

/** Says what is missing and how to install it; undefined where everything is there. */
export function missingRequirements(): string | undefined {
	const missing = requirements.filter(({ programs }) =>
		programs.some((program) => findProgram(program) === undefined),
	);
	if (missing.length === 0) return undefined;
	const packages = missing.map(({ debianPackage }) => debianPackage);
	return [
		'The host tests need programs that are not installed:',
		...missing.map(({ programs, purpose }) => `  ${programs.join(', ')} (for ${purpose})`),
		`Install them (Debian, Ubuntu): sudo apt-get install ${packages.join(' ')}`,
	].join('\n');
}
