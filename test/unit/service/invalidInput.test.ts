import { InvalidInput } from '../../../nodes/PushCampaign/service/invalidInput';

test('says what is wrong with what, and what to do', () => {
	const { name, message, advice } = new InvalidInput('Title is missing', 'Give one.');
	expect([name, message, advice]).toEqual(['InvalidInput', 'Title is missing', 'Give one.']);
});
