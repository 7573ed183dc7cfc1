import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { z } from 'zod';

/** A service on a loopback port that stands in for one outside. */
export interface LoopbackService {
	url: string;
	close(): Promise<void>;
}

type Answer = (request: IncomingMessage, body: string, response: ServerResponse) => void;

async function serve(answer: Answer): Promise<LoopbackService> {
	const server = createServer((request, response) => {
		const chunks: Buffer[] = [];
		request.on('data', (chunk: Buffer) => chunks.push(chunk));
		request.on('end', () => answer(request, Buffer.concat(chunks).toString('utf8'), response));
	});
	await new Promise<void>((resolve, reject) => {
		server.once('error', reject);
		server.listen(0, '127.0.0.1', resolve);
	});
	const address = server.address();
	if (address === null || typeof address === 'string') throw new Error('Not on a TCP port');
	return {
		url: `http://127.0.0.1:${address.port}`,
		close: async () => {
			await new Promise<void>((resolve) => {
				server.close(() => resolve());
				server.closeAllConnections();
			});
		},
	};
}

function answerJson(response: ServerResponse, body: unknown): void {
	response.setHeader('content-type', 'application/json');
	response.end(JSON.stringify(body));
}

export interface Post {
	title: string;
	text: string;
	link: string;
	published: Date;
}

const escaped = (text: string) =>
	text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** A blog's RSS feed; `posts` may be changed at any time, the newest first. */
export interface Feed extends LoopbackService {
	posts: Post[];
	/** How often the feed was read. */
	reads(): number;
}

export async function startFeed(posts: Post[]): Promise<Feed> {
	let reads = 0;
	const service = await serve((_request, _body, response) => {
		reads += 1;
		const items = feed.posts.map(
			({ title, text, link, published }) =>
				`<item><title>${escaped(title)}</title><description>${escaped(text)}</description>` +
				`<link>${escaped(link)}</link><pubDate>${published.toUTCString()}</pubDate></item>`,
		);
		response.setHeader('content-type', 'application/rss+xml');
		response.end(
			`<?xml version="1.0" encoding="UTF-8"?><rss version="2.0"><channel><title>Blog</title>${items.join('')}</channel></rss>`,
		);
	});
	const feed: Feed = { ...service, posts, reads: () => reads };
	return feed;
}

/** A chat's incoming webhook; keeps the texts that were posted. */
export interface Chat extends LoopbackService {
	texts: string[];
}

export async function startChat(): Promise<Chat> {
	const texts: string[] = [];
	const service = await serve((_request, body, response) => {
		texts.push(z.object({ text: z.string() }).parse(JSON.parse(body)).text);
		answerJson(response, { ok: true });
	});
	return { ...service, texts };
}

/** A shop that answers how its carts are; `carts` may be changed at any time. */
export interface Shop extends LoopbackService {
	/** A cart's status by its ID. */
	carts: Map<string, string>;
}

export async function startShop(): Promise<Shop> {
	const carts = new Map<string, string>();
	const service = await serve((request, _body, response) => {
		const id = decodeURIComponent((request.url ?? '').replace('/api/carts/', ''));
		const status = carts.get(id);
		if (status === undefined) response.statusCode = 404;
		answerJson(response, status === undefined ? {} : { id, status });
	});
	return { ...service, carts };
}

const botMessageSchema = z.object({
	chat_id: z.string(),
	text: z.string(),
	reply_markup: z
		.object({
			inline_keyboard: z.array(z.array(z.object({ text: z.string(), url: z.string() }))),
		})
		.optional(),
});

/** Telegram's interface for bots, as far as sending messages goes; keeps what was sent. */
export interface Telegram extends LoopbackService {
	/** The texts, and the addresses of the buttons below them by their labels. */
	messages: Array<{ text: string; buttons: Record<string, string> }>;
}

export async function startTelegram(): Promise<Telegram> {
	const messages: Telegram['messages'] = [];
	const service = await serve((request, body, response) => {
		if (!/^\/bot[^/]+\/sendMessage$/.test(request.url ?? '')) {
			response.statusCode = 404;
			answerJson(response, { ok: false, error_code: 404, description: 'Not Found' });
			return;
		}
		const { text, reply_markup: markup } = botMessageSchema.parse(JSON.parse(body));
		const buttons = (markup?.inline_keyboard ?? []).flat();
		messages.push({ text, buttons: Object.fromEntries(buttons.map((b) => [b.text, b.url])) });
		answerJson(response, { ok: true, result: { message_id: messages.length } });
	});
	return { ...service, messages };
}

const chatRequestSchema = z.object({
	model: z.string(),
	messages: z.array(z.object({ role: z.string(), content: z.unknown() })),
	tools: z.array(z.object({ function: z.object({ name: z.string() }) })).default([]),
});

/** A model server that speaks the chat part of OpenAI's interface and always drafts the same. */
export interface Model extends LoopbackService {
	/** What was said to it, and the tools it was offered, of each request. */
	requests: Array<{ said: string; tools: string[] }>;
}

export async function startModel(draft: Record<string, string>): Promise<Model> {
	const requests: Model['requests'] = [];
	const service = await serve((_request, body, response) => {
		const { model, messages, tools } = chatRequestSchema.parse(JSON.parse(body));
		const names = tools.map((tool) => tool.function.name);
		requests.push({ said: JSON.stringify(messages), tools: names });
		const [format] = names;
		const text = JSON.stringify({ output: draft });
		// n8n takes a structured answer as the call of a tool where it offers one, otherwise as text.
		const message =
			format === undefined
				? { role: 'assistant', content: text }
				: {
						role: 'assistant',
						content: null,
						tool_calls: [
							{ id: 'call-1', type: 'function', function: { name: format, arguments: text } },
						],
					};
		answerJson(response, {
			id: 'draft-1',
			object: 'chat.completion',
			created: 0,
			model,
			choices: [{ index: 0, message, finish_reason: format === undefined ? 'stop' : 'tool_calls' }],
			usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
		});
	});
	return { ...service, requests };
}
