import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

// The node knows neither what else the workflow has sent, nor where its items come from, nor what its user will correct.

const project = join(__dirname, '../../..');
const order =
	/run (the|this|your) (whole )?workflow|workflow again|run it again|items? alone|deactivate/i;

/** Every line of what is published, without its comments. */
function linesOf(folder: string): string[] {
	return readdirSync(join(project, folder), { recursive: true, encoding: 'utf8' })
		.filter((name) => /\.(ts|json)$/.test(name))
		.flatMap((name) => readFileSync(join(project, folder, name), 'utf8').split('\n'))
		.filter((line) => !/^\s*(\/\/|\/?\*)/.test(line));
}

test('no text of the package orders what the node can’t know', () => {
	const texts = readFileSync(join(__dirname, 'failureTexts.md'), 'utf8').split('\n');
	const lines = [...linesOf('nodes'), ...linesOf('credentials'), ...texts];
	expect(lines.length).toBeGreaterThan(5_000);
	expect(lines.filter((line) => order.test(line))).toEqual([]);
});
