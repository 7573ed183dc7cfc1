import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { z } from 'zod';

const requestSchema = z.object({
	stream: z.boolean().nullish(),
	messages: z.array(z.object({ role: z.string(), content: z.unknown() })),
	tools: z
		.array(
			z.object({
				function: z.object({ name: z.string(), parameters: z.object({}).passthrough() }),
			}),
		)
		.default([]),
});

/** What an agent asked of the model. */
export type ModelRequest = z.infer<typeof requestSchema>;

/** A call of one of the agent's tools. */
export interface ToolCall {
	tool: string;
	arguments: Record<string, unknown>;
}

export interface ModelServer {
	/** For the Base URL of n8n's OpenAI credential. */
	url: string;
	requests: ModelRequest[];
	/** What the model was told of its calls, as JSON. */
	told(): string[];
	close(): Promise<void>;
}

function answer(response: ServerResponse, request: ModelRequest, calls: ToolCall[]): void {
	const message =
		calls.length === 0
			? { role: 'assistant', content: 'Done' }
			: {
					role: 'assistant',
					content: null,
					tool_calls: calls.map(({ tool, arguments: given }, index) => ({
						index,
						id: `call_${request.messages.length}_${index}`,
						type: 'function',
						function: { name: tool, arguments: JSON.stringify(given) },
					})),
				};
	const reason = calls.length === 0 ? 'stop' : 'tool_calls';
	const common = { id: 'chatcmpl-1', created: 1_700_000_000, model: 'scripted' };
	if (request.stream !== true) {
		const choices = [{ index: 0, finish_reason: reason, message }];
		const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
		response.writeHead(200, { 'content-type': 'application/json' });
		response.end(JSON.stringify({ ...common, object: 'chat.completion', choices, usage }));
		return;
	}
	const chunks = [
		{ index: 0, delta: message, finish_reason: null },
		{ index: 0, delta: {}, finish_reason: reason },
	].map((choice) =>
		JSON.stringify({ ...common, object: 'chat.completion.chunk', choices: [choice] }),
	);
	response.writeHead(200, { 'content-type': 'text/event-stream' });
	response.end([...chunks, '[DONE]'].map((chunk) => `data: ${chunk}\n\n`).join(''));
}

/**
 * A language model behind OpenAI's chat completions interface, on a loopback port: makes these calls, round by round,
 * and then says "Done".
 */
export async function startModel(rounds: readonly ToolCall[][]): Promise<ModelServer> {
	const requests: ModelRequest[] = [];
	const receive = async (incoming: IncomingMessage, response: ServerResponse) => {
		const request = requestSchema.parse(JSON.parse(await text(incoming)));
		const turns = request.messages.filter(({ role }) => role === 'assistant').length;
		requests.push(request);
		answer(response, request, rounds[turns] ?? []);
	};
	const server = createServer((incoming, response) => {
		receive(incoming, response).catch((error: unknown) => {
			response.writeHead(400).end(String(error));
		});
	});
	server.listen(0, '127.0.0.1');
	await once(server, 'listening');
	const address = server.address();
	const port = typeof address === 'object' ? address?.port : undefined;
	return {
		url: `http://127.0.0.1:${port}/v1`,
		requests,
		told: () =>
			(requests.at(-1)?.messages ?? [])
				.filter(({ role }) => role === 'tool')
				.map(({ content }) => JSON.stringify(content)),
		close: async () => {
			server.closeAllConnections();
			await new Promise((resolve) => server.close(resolve));
		},
	};
}
