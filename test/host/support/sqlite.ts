import { join } from 'node:path';
import execa from 'execa';
import { hostOf, type N8nServer } from '../../../host';

/** The host's own Node.js runs this: sqlite3 is built for it. */
const script = `
const { Database } = require('sqlite3');
const [file, sql] = process.argv.slice(1);
const database = new Database(file, (failed) => {
	if (failed) throw failed;
	database.configure('busyTimeout', 10_000);
	database.exec(sql, (refused) => {
		if (refused) throw refused;
	});
});
`;

/**
 * Runs SQL in the database of a server, which may be running.
 *
 * @throws with SQLite's words where it is refused
 */
export async function runSql(
	{ major, userFolder }: Pick<N8nServer, 'major' | 'userFolder'>,
	sql: string,
): Promise<void> {
	const { node, directory } = hostOf(major);
	const file = join(userFolder, '.n8n', 'database.sqlite');
	await execa(node, ['-e', script, file, sql], { cwd: directory });
}
