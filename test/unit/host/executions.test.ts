import { readExecution } from '../../../host/executions';

const execution = { id: 7, status: 'success', mode: 'webhook' };

test.each([
	['as n8n stores it', '[{"resultData":"1"},{"runData":"2","lastNodeExecuted":"3"},{},"Send"]'],
	['as it is', { resultData: { runData: {}, lastNodeExecuted: 'Send' } }],
])('the data of an execution %s', async (_, data) => {
	const read = await readExecution({ ...execution, data });
	expect(read).toMatchObject({ id: '7', data: { resultData: { lastNodeExecuted: 'Send' } } });
});

test.each(['nonsense', '[{"a":"b"}]', undefined])(
	'data that is none is refused: %s',
	async (data) => {
		await expect(readExecution({ ...execution, data })).rejects.toThrow();
	},
);
