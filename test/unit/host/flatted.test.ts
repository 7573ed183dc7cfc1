import { decodeFlatted } from '../../../host/flatted';

test('texts are entries of their own, other values stand where they belong', () => {
	const text = '[{"title":"1","count":3,"sent":true,"none":null},"Hello"]';
	expect(decodeFlatted(text)).toEqual({ title: 'Hello', count: 3, sent: true, none: null });
});

test('nested objects and arrays', () => {
	expect(decodeFlatted('[{"list":"1"},["2","3",5],{"a":"3"},"x"]')).toEqual({
		list: [{ a: 'x' }, 'x', 5],
	});
});

test('what was one object stays one object', () => {
	const decoded = decodeFlatted('[["1","1"],{"a":1}]');
	expect(Array.isArray(decoded) && decoded[0] === decoded[1]).toBe(true);
});

test('a cycle stays a cycle', () => {
	const decoded = decodeFlatted('[{"self":"0"}]');
	expect(decoded).toHaveProperty('self', decoded);
});

test('a text that looks like a number stays a text', () => {
	expect(decodeFlatted('[{"id":"1"},"1001"]')).toEqual({ id: '1001' });
});

test.each(['{}', '[]', '[{"a":"7"}]', '[{"a":"x"}]', 'nonsense'])('refuses %s', (text) => {
	expect(() => decodeFlatted(text)).toThrow();
});
