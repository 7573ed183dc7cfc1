import { z } from 'zod';
import { answerJson, serve, type LoopbackService } from './loopback';

const requestSchema = z.object({
	/** The older agents ask for a stream. */
	stream: z.boolean().nullish(),
	messages: z.array(z.object({ role: z.string(), content: z.unknown() })),
	tools: z
		.array(
			z.object({
				function: z.object({
					name: z.string(),
					description: z.string().default(''),
					parameters: z.object({
						properties: z.record(z.unknown()),
						required: z.array(z.string()).default([]),
					}),
				}),
			}),
		)
		.default([]),
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

/**
 * A language model that says what `script` says, behind the chat completions interface of OpenAI, on a
 * loopback port.
 */
export async function startModel(
	script: (request: ModelRequest) => ModelAnswer,
): Promise<ModelServer> {
	const requests: ModelRequest[] = [];
	const service = await serve((request, body, response) => {
		const parsed = requestSchema.safeParse(JSON.parse(body));
		if (request.url !== '/v1/chat/completions' || !parsed.success) {
			const message = parsed.error?.message ?? `There is no ${request.url} here`;
			answerJson(response, { error: { message } }, 400);
			return;
		}
		const turn = requests.push(parsed.data) - 1;
		const { reason, message } = messageOf(script(parsed.data), turn);
		const common = { id: `chatcmpl-${turn}`, created: 1_700_000_000, model: 'scripted' };
		if (parsed.data.stream !== true) {
			const choices = [{ index: 0, finish_reason: reason, message }];
			const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
			answerJson(response, { ...common, object: 'chat.completion', choices, usage });
			return;
		}
		const parts = [
			{ index: 0, delta: message, finish_reason: null },
			{ index: 0, delta: {}, finish_reason: reason },
		].map((choice) =>
			JSON.stringify({ ...common, object: 'chat.completion.chunk', choices: [choice] }),
		);
		response.writeHead(200, { 'content-type': 'text/event-stream' });
		response.end([...parts, '[DONE]'].map((part) => `data: ${part}\n\n`).join(''));
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
