import { InvalidInput } from '../../../nodes/PushCampaign/service/invalidInput';

test('says what is wrong with which field, and what to do', () => {
	const { name, field, message, advice } = new InvalidInput(
		'Title',
		'Title is missing',
		'Give one.',
	);
	expect([name, field, message, advice]).toEqual([
		'InvalidInput',
		'Title',
		'Title is missing',
		'Give one.',
	]);
});
