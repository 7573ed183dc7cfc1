import type { IDataObject } from 'n8n-workflow';
import { readerOf } from '../../../nodes/PushCampaign/n8n/parameters';

const readerFor = (parameters: object, evaluate = jest.fn(), input: IDataObject = {}) =>
	readerOf(parameters, 'Europe/Berlin', input, { parameter: evaluate, expression: evaluate });

const buttons = { button: [{ title: 'Shop' }, { title: '=Go', url: null }] };

test.each([
	['title', 'Sale'],
	['actionButtons.button[0].title', 'Shop'],
	['actionButtons.button[1].title', '=Go'],
	['actionButtons.button[1].url', null],
	['actionButtons.button[1].url.more', undefined],
	['actionButtons.button[2].title', undefined],
	['title.length', undefined],
	['toString', undefined],
	['missing.title', undefined],
])('the parameter at %s is %j', (path, value) => {
	expect(readerFor({ title: 'Sale', actionButtons: buttons }).written(path)).toBe(value);
});

test('what is not an expression is not evaluated', () => {
	const evaluate = jest.fn();
	const field = { label: "'Title'", path: 'title' };
	expect(readerFor({ title: 'Sale' }, evaluate).get(field)).toBe('Sale');
	expect(readerFor({ title: 'Sale' }).expression(field)).toBeUndefined();
	expect(readerFor({}, evaluate).get(field)).toBeUndefined();
	expect(evaluate).not.toHaveBeenCalled();
});

test('n8n evaluates what is not joined here: nothing that comes of it is null', () => {
	const evaluate = jest.fn().mockReturnValueOnce(5).mockReturnValue(undefined);
	const field = { label: "'Title'", path: 'title' };
	const reader = readerFor({ title: '={{ $json.a + 1 }}' }, evaluate, { a: 4 });
	expect(reader.get(field)).toBe(5);
	expect(evaluate).toHaveBeenCalledWith('title');
	expect(reader.expression(field)).toBe('{{ $json.a + 1 }}');
	expect(readerFor({ title: '={{ $json.b }}' }, evaluate).get(field)).toBeNull();
});

test('an expression is evaluated once, however often it is read: one that changes is the same everywhere', () => {
	const evaluate = jest.fn().mockReturnValueOnce('\uFDD01\uFDD0').mockReturnValueOnce('2');
	const field = { label: "'Title'", path: 'title' };
	const reader = readerFor({ title: '=No {{ Math.random() }}' }, evaluate);
	expect([reader.get(field), reader.get(field)]).toEqual(['No 1', 'No 1']);
	expect(reader.parts(field)).toEqual([{ code: ' Math.random() ', text: '1' }]);
	expect(evaluate.mock.calls).toEqual([['\uFDD0{{ Math.random() }}\uFDD0']]);
});

test('a second equals sign is refused in every field', () => {
	const evaluate = jest.fn();
	const read = () =>
		readerFor({ title: '=={{ $json.x }}' }, evaluate).get({ label: "'Title'", path: 'title' });
	expect(read).toThrow(
		`'Title' begins with an equals sign in front of its expression: "={{ $json.x }}"`,
	);
	expect(evaluate).not.toHaveBeenCalled();
});

test('an expression that can’t be evaluated names its field', () => {
	const evaluate = jest.fn(() => {
		throw new TypeError('x is undefined');
	});
	const read = () =>
		readerFor({ title: '={{ x }}' }, evaluate).get({ label: "'Title'", path: 'title' });
	expect(read).toThrow("'Title' can't be evaluated: x is undefined");
});
