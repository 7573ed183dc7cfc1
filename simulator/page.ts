import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';

const html = readFileSync(join(__dirname, 'page.html'), 'utf8');

function hashesOf(tag: string): string {
	const blocks = html.matchAll(new RegExp(`<${tag}>([\\s\\S]*?)</${tag}>`, 'g'));
	const hash = (text: string): string => createHash('sha256').update(text).digest('base64');
	return [...blocks].map(([, text]) => `'sha256-${hash(text ?? '')}'`).join(' ');
}

// Titles and messages come from anywhere: the page runs nothing but its own script and loads
// nothing from elsewhere.
const contentSecurityPolicy = [
	"default-src 'none'",
	'img-src data:',
	`script-src ${hashesOf('script')}`,
	`style-src ${hashesOf('style')}`,
	"connect-src 'self'",
	"base-uri 'none'",
	"form-action 'none'",
	"frame-ancestors 'none'",
].join('; ');

/** Answers with the page that shows the campaigns. */
export function answerPage(response: ServerResponse): void {
	response.writeHead(200, {
		'content-type': 'text/html; charset=utf-8',
		'content-security-policy': contentSecurityPolicy,
		'cache-control': 'no-store',
		'x-content-type-options': 'nosniff',
	});
	response.end(html);
}
