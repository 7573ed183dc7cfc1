import { z } from 'zod';
import { answerJson, serve, type LoopbackService } from './loopback';

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
		if (status === undefined) answerJson(response, {}, 404);
		else answerJson(response, { id, status });
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
			answerJson(response, { ok: false, error_code: 404, description: 'Not Found' }, 404);
			return;
		}
		const { text, reply_markup: markup } = botMessageSchema.parse(JSON.parse(body));
		const buttons = (markup?.inline_keyboard ?? []).flat();
		messages.push({ text, buttons: Object.fromEntries(buttons.map((b) => [b.text, b.url])) });
		answerJson(response, { ok: true, result: { message_id: messages.length } });
	});
	return { ...service, messages };
}
