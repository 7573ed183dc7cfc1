import type { IDataObject } from 'n8n-workflow';
import { z } from 'zod';

import { getStatus } from '../../../nodes/PushCampaign/operations/getStatus';
import type { SendOperation } from '../../../nodes/PushCampaign/operations/operation';
import { sendToAttributes } from '../../../nodes/PushCampaign/operations/sendToAttributes';
import { sendToSegments } from '../../../nodes/PushCampaign/operations/sendToSegments';
import { sendToSubscriber } from '../../../nodes/PushCampaign/operations/sendToSubscriber';
import { createClient } from '../../../nodes/PushCampaign/service/client';
import { parseSettings } from '../../../nodes/PushCampaign/service/settings';
import { itemOf, prepare, refusalOf } from '../operations/support';

// Whoever writes into a feed, a form or a webhook chooses these texts, and all of n8n stands still while one is read.

const length = 6_000;

const shapes = [
	...['{{ $', '{{', '}}', '\\{{', '$fromAI(', '$json.', '$json[', '$json["', "$json['\\'", '{'],
	...[
		'<script',
		'</script ',
		'<svg',
		'<svg "',
		'<noscript>',
		'<template a=">',
		'<!doctype ',
		'<![',
	],
	...['<!--', '<![CDATA[', '<?x ', '<a "', "<a '", `<a "'`, '<a-', '<a b', '<a b="', '</a', '<'],
	...[
		'<style></style',
		'<img class=emoji alt=',
		'<x/>',
		'<b c ',
		'&amp;',
		'&#38;',
		'&#x26;',
		'&#0',
	],
	...['&#x', '&#9', '&', '&amp', '"', "'", '[', '{"a":', '\\', '/', '?', '#', 'https://', 'https:'],
	...['://', '@', ', ', '|', ';', '9', '1:', '2030-05-17T', ' ', '\n', '\t', '\u200b', '\u202a'],
	...['\u0007', ' a', 'null-,', 'Err:', '\ud83d', '\u0301', 'é', '.'],
];

const htmlToText = true;
const shortenTexts = true;
const utm = (part: object) => ({ additionalFields: { utmParameters: { parameters: part } } });
const read = (parameters: object, operation?: SendOperation) => () =>
	refusalOf(() => prepare({ options: { htmlToText, shortenTexts }, ...parameters }, {}, operation));
const expressionOf = (expression: string, title: string, input: IDataObject) => () =>
	refusalOf(() =>
		prepare(
			{ title: expression, options: { htmlToText, shortenTexts } },
			{ input, evaluate: () => title },
		),
	);

/** What n8n gives for one pair of braces between marks. */
const bracesOf = (text: string) => `\uFDD0${text}\uFDD0`;

const answered = async (body: string) => {
	const client = createClient({
		settings: { baseUrl: 'https://push.example.com', headers: { serviceKey: 'k'.repeat(20) } },
		transport: async () => ({ statusCode: 200, headers: {}, body }),
	});
	await client.request({ isSend: true, path: '/' }, z.never(), 1000);
};

/** One of each function: a name is read as a title is, a button's address as any other. */
const kinds: ReadonlyArray<
	[kind: string, read: (text: string) => () => unknown, begin?: string[]]
> = [
	['a title', (title) => read({ title }), ['', '<a ']],
	['a message', (message) => read({ message })],
	['a URL', (targetUrl) => read({ targetUrl }), ['', 'https://shop.example/?']],
	['the address of a picture', (iconUrl) => read({ additionalFields: { iconUrl } }), ['https://']],
	['a UTM parameter', (source) => read(utm({ source }))],
	[
		'an attribute',
		(value) => read({ attributes: { pairs: [{ name: 'a', value }] } }, sendToAttributes),
	],
	[
		'attributes as JSON',
		(attributesJson) => read({ specifyAttributes: 'json', attributesJson }, sendToAttributes),
		['', '{"a":"'],
	],
	['segment IDs', (segmentIds) => read({ segmentIds }, sendToSegments), ['', '12,']],
	['a subscriber ID', (subscriberId) => read({ subscriberId }, sendToSubscriber)],
	[
		'a campaign ID',
		(campaignId) => () => refusalOf(() => getStatus.prepare(itemOf({ campaignId }))),
	],
	['a key', (idempotencyKey) => read({ options: { idempotencyKey } })],
	[
		'a time',
		(sendAt) => read({ additionalFields: { sendAt } }),
		['', '0T0', '2030-05-17', '2030-05-17 09:30'],
	],
	[
		'a timezone',
		(sendAtTimezone) => read({ additionalFields: { sendAt: '2030-05-17 09:30', sendAtTimezone } }),
	],
	[
		'a time of quiet hours',
		(from) => read({ additionalFields: { quietHours: { hours: { from, to: '08:00' } } } }),
	],
	[
		'an expression',
		(text) => expressionOf(`=Hello ${text}`, 'Hello', {}),
		['', '{{ $json', "{{ $json['"],
	],
	[
		'the code of a part',
		(code) => expressionOf(`=Hi {{ $json.a + ${code} }}`, bracesOf(''), {}),
		['', "'", '`${', "|| '"],
	],
	[
		'what a part gave',
		(text) => expressionOf('=Hi {{ $json.a + "" }}', bracesOf(text), { a: text }),
		['', '<a '],
	],
	['a number', (timeout) => read({ options: { timeout } })],
	['a switch', (autoHide) => read({ additionalFields: { autoHide } })],
	[
		'a text that an expression joins',
		(text) => expressionOf("={{ 'New: ' + $json.text }}", `New: ${text}`, { text }),
	],
	[
		'the address of the service',
		(baseUrl) => () => refusalOf(() => parseSettings({ baseUrl, apiKey: 'k', authToken: 't' })),
		['https://push.example.com/'],
	],
	[
		'an answer of the service',
		(body) => async () => await answered(body),
		['', '{"status":"failure","description":"'],
	],
];

/** How much processor time something takes, in milliseconds: whatever else the machine does at the same time. */
async function cpuTimeOf(action: () => unknown): Promise<number> {
	const before = process.cpuUsage();
	await action();
	const { user, system } = process.cpuUsage(before);
	return (user + system) / 1000;
}

/** The least of three tries. */
async function timeOf(read: (text: string) => () => unknown, text: string): Promise<number> {
	const times: number[] = [];
	for (let tries = 0; tries < 3; tries += 1) times.push(await cpuTimeOf(read(text)));
	return Math.min(...times);
}

/** Whether a text four times as long takes far more than four times as long; if it takes any time at all. */
async function seemsSlow(read: (text: string) => () => unknown, begin: string, shape: string) {
	// The end keeps a pattern from reaching the end of the text at its first try.
	const textOf = (characters: number) =>
		`${begin}${shape.repeat(Math.ceil(characters / shape.length))}x<`;
	const anyTimeMs = 5;
	if ((await cpuTimeOf(read(textOf(length)))) < anyTimeMs) return false;
	const long = await timeOf(read, textOf(4 * length));
	return long > anyTimeMs && long > 8 * (await timeOf(read, textOf(length)));
}

/** A busy machine may make it seem so once. */
async function isSlow(...text: Parameters<typeof seemsSlow>): Promise<boolean> {
	for (let tries = 0; tries < 3; tries += 1) if (!(await seemsSlow(...text))) return false;
	return true;
}

test.each(kinds)(
	'%s: the time to read it grows no faster than its length, whatever it holds',
	async (_kind, read, begins = ['']) => {
		for (const begin of begins) {
			for (const shape of shapes) {
				expect([begin, shape, await isSlow(read, begin, shape)]).toEqual([begin, shape, false]);
			}
		}
	},
);
