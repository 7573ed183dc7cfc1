import { z } from 'zod';
import { answerJson, serve, type LoopbackService } from './loopback';

const toolSchema = z.object({
	type: z.literal('function'),
	function: z.object({
		name: z.string(),
		description: z.string().default(''),
		parameters: z.object({
			type: z.literal('object'),
			properties: z.record(
				z.object({ type: z.string().optional(), description: z.string().optional() }).passthrough(),
			),
			required: z.array(z.string()).default([]),
		}),
	}),
});

const requestSchema = z.object({
	stream: z.boolean().nullish(),
	messages: z.array(z.object({ role: z.string(), content: z.unknown() }).passthrough()),
	tools: z.array(toolSchema).default([]),
});

/** What an agent asked of the model. */
export type ModelRequest = z.infer<typeof requestSchema>;

/** What the model answers: words, or calls of the agent's tools. */
export type ModelAnswer =
	| { text: string }
	| { calls: Array<{ tool: string; arguments: Record<string, unknown> }> };

/** Its `url` is for the Base URL of n8n's OpenAI credential. */
export interface ModelServer extends LoopbackService {
	requests: readonly ModelRequest[];
}

function messageOf(answer: ModelAnswer, turn: number) {
	if ('text' in answer) {
		return { reason: 'stop', message: { role: 'assistant', content: answer.text } };
	}
	const calls = answer.calls.map(({ tool, arguments: given }, index) => ({
		index,
		id: `call_${turn}_${index}`,
		type: 'function',
		function: { name: tool, arguments: JSON.stringify(given) },
	}));
	return {
		reason: 'tool_calls',
		message: { role: 'assistant', content: null, tool_calls: calls },
	};
}

/** The body of an answer: one JSON value, or the same as a stream of events in two parts. */
function bodyOf(answer: ModelAnswer, turn: number, streams: boolean): string {
	const { reason, message } = messageOf(answer, turn);
	const common = {
		id: `chatcmpl-${turn}`,
		created: Math.floor(Date.now() / 1000),
		model: 'scripted',
	};
	if (!streams) {
		return JSON.stringify({
			...common,
			object: 'chat.completion',
			choices: [{ index: 0, finish_reason: reason, message }],
			usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
		});
	}
	const parts = [
		{ index: 0, delta: message, finish_reason: null },
		{ index: 0, delta: {}, finish_reason: reason },
	];
	const events = parts.map((choice) =>
		JSON.stringify({ ...common, object: 'chat.completion.chunk', choices: [choice] }),
	);
	return [...events, '[DONE]'].map((event) => `data: ${event}\n\n`).join('');
}

/**
 * A language model that says what `script` says, behind the chat completions interface of OpenAI, on a
 * loopback port.
 *
 * @param script gives the answer to the request of that turn, the first is 0
 */
export async function startModel(
	script: (request: ModelRequest, turn: number) => ModelAnswer,
): Promise<ModelServer> {
	const requests: ModelRequest[] = [];
	const service = await serve((request, body, response) => {
		const refuse = (status: number, message: string) =>
			answerJson(response, { error: { message } }, status);
		if (request.method !== 'POST' || request.url !== '/v1/chat/completions') {
			refuse(404, `There is no ${request.url ?? ''} here`);
			return;
		}
		const parsed = requestSchema.safeParse(JSON.parse(body));
		if (!parsed.success) {
			refuse(400, parsed.error.message);
			return;
		}
		const streams = parsed.data.stream === true;
		const turn = requests.push(parsed.data) - 1;
		response.writeHead(200, {
			'content-type': streams ? 'text/event-stream' : 'application/json',
		});
		response.end(bodyOf(script(parsed.data, turn), turn, streams));
	});
	return { ...service, url: `${service.url}/v1`, requests };
}

/** A script that always drafts the same: by calling the tool for structured output where there is one. */
export function drafting(draft: Record<string, string>): (request: ModelRequest) => ModelAnswer {
	const output = { output: draft };
	return ({ tools: [format] }) =>
		format === undefined
			? { text: JSON.stringify(output) }
			: { calls: [{ tool: format.function.name, arguments: output }] };
}
