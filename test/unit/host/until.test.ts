import { until } from '../../../host/until';

const patience = { within: 60_000, every: 1, late: (seen: number) => `${seen} is not enough` };
const impatience = { ...patience, within: 5 };

test('looks until it is enough, and gives what was seen then', async () => {
	let looks = 0;
	await expect(
		until(
			() => ++looks,
			(seen) => seen === 3,
			patience,
		),
	).resolves.toBe(3);
});

test('when that takes too long it says what was seen last, or throws what it is given', async () => {
	const never = () => false;
	await expect(until(() => 7, never, impatience)).rejects.toThrow('7 is not enough');
	const given = new RangeError('mine');
	await expect(until(() => 7, never, { ...impatience, late: () => given })).rejects.toBe(given);
});

test('what is thrown while looking is thrown at once', async () => {
	await expect(until(() => Promise.reject(new Error('gone')), Boolean, patience)).rejects.toThrow(
		'gone',
	);
});
