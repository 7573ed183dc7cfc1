import { demoFiles, demoOwner } from '../../../host/demo/prepare';
import { afterEdit, expectation, machineTimezone, welcome } from '../../../host/demo/welcome';

const running = {
	n8n: 'http://127.0.0.1:5678',
	service: 'http://127.0.0.1:8787',
	timezone: 'Europe/Berlin',
	workflows: { [demoFiles.first]: 'first-id', [demoFiles.watching]: 'watching-id' },
	isLoginChanged: false,
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
	const lines = `${expectation(false)}${text}`.split('\n');
	expect(lines.filter((line) => line.length > 100)).toEqual([]);
});

test('what is not as it was: a workflow, the login', () => {
	const text = welcome({ ...running, workflows: {}, isLoginChanged: true });
	expect(text).toContain('http://127.0.0.1:5678/home/workflows');
	expect(text).not.toContain(demoOwner.password);
});

test('an edit: that n8n has it, or has not, and why, as far as one reads', () => {
	const at = new Date(2030, 4, 17, 9, 30, 5);
	const reasons = ['one', 'two', 'three', 'four', 'five', 'six'];
	expect(afterEdit({ kind: 'taken' }, at)).toBe('09:30:05  Your edit is in n8n.\n');
	expect(afterEdit({ kind: 'refused', reasons }, at)).toMatch(
		/^09:30:05 {2}Your edit is not in n8n, which goes on.*:\n {2}one\n(.*\n){3} {2}five\n$/,
	);
	expect(afterEdit({ kind: 'not-loaded', reason: 'its log says why' }, at)).toBe(
		'09:30:05  Your edit compiles, but n8n has not loaded it: its log says why.\n',
	);
});

test.each([
	['Europe/Berlin', 'Europe/Berlin'],
	['Etc/Unknown', 'UTC'],
	['', 'UTC'],
])("this machine's timezone %j: %s", (timeZone, expected) => {
	const options = { ...new Intl.DateTimeFormat().resolvedOptions(), timeZone };
	const spy = jest.spyOn(Intl.DateTimeFormat.prototype, 'resolvedOptions');
	expect(spy.mockReturnValue(options) && machineTimezone()).toBe(expected);
	spy.mockRestore();
});
