import { demoFiles, demoOwner } from '../../../host/demoWorkflows';
import { machineTimezone } from '../../../host/timezone';
import { afterEdit, expectation, welcome, type Running } from '../../../host/welcome';

const running: Running = {
	n8n: 'http://127.0.0.1:5678',
	service: 'http://127.0.0.1:8787',
	timezone: 'Europe/Berlin',
	workflows: { [demoFiles.first]: 'first-id', [demoFiles.watching]: 'watching-id' },
	notices: [],
};

test('before the first start: how much, and how long', () => {
	expect(expectation(false)).toMatch(/about 2\.5 GB of disk.*about five minutes/);
	expect(expectation(true)).not.toMatch(/GB|minutes/);
});

test('the addresses of the workflows themselves, the login, and the timezone', () => {
	const text = welcome(running);
	expect(text).toContain('http://127.0.0.1:5678/workflow/first-id\n');
	expect(text).toContain('http://127.0.0.1:5678/workflow/watching-id/executions\n');
	expect(text).toContain('http://127.0.0.1:8787\n');
	expect(text).toContain(demoOwner.email);
	expect(text).toContain(demoOwner.password);
	expect(text).toContain('Times are in Europe/Berlin.');
});

test('no line is longer than a terminal is wide', () => {
	const lines = `${expectation(false)}${welcome(running)}`.split('\n');
	expect(lines.filter((line) => line.length > 100)).toEqual([]);
});

test('a workflow that is not known leads to the list', () => {
	expect(welcome({ ...running, workflows: {} })).toContain('http://127.0.0.1:5678/home/workflows');
});

test('a changed login is not printed, and what was not activated is said', () => {
	const text = welcome({
		...running,
		notices: [
			{ kind: 'login-changed' },
			{ kind: 'not-activated', workflow: 'Report', reason: 'No credential' },
		],
	});
	expect(text).not.toContain(demoOwner.password);
	expect(text).toContain("The workflow 'Report' was not activated: No credential");
});

describe('an edit', () => {
	const at = new Date(2030, 4, 17, 9, 30, 5);

	test('that n8n has', () => {
		expect(afterEdit({ kind: 'taken' }, at)).toBe('09:30:05  Your edit is in n8n.\n');
	});

	test('that n8n has not: why, as far as one reads', () => {
		const reasons = ['one', 'two', 'three', 'four', 'five', 'six'];
		const [first, ...lines] = afterEdit({ kind: 'refused', reasons }, at).trimEnd().split('\n');
		expect(first).toMatch(/^09:30:05 {2}Your edit is not in n8n, which goes on/);
		expect(lines).toEqual(['  one', '  two', '  three', '  four', '  five']);
	});

	test('that n8n could not load', () => {
		const said = afterEdit({ kind: 'not-loaded', reason: 'its log says why' }, at);
		expect(said).toBe(
			'09:30:05  Your edit compiles, but n8n has not loaded it: its log says why.\n',
		);
	});
});

describe("this machine's timezone", () => {
	const resolved = (timeZone: string) => {
		const options = { ...new Intl.DateTimeFormat().resolvedOptions(), timeZone };
		jest.spyOn(Intl.DateTimeFormat.prototype, 'resolvedOptions').mockReturnValue(options);
	};
	afterEach(() => jest.restoreAllMocks());

	test.each([
		['Europe/Berlin', 'Europe/Berlin'],
		['Etc/Unknown', 'UTC'],
		['', 'UTC'],
	])('%s: %s', (timeZone, expected) => {
		resolved(timeZone);
		expect(machineTimezone()).toBe(expected);
	});
});
