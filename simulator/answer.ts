import type { IncomingHttpHeaders } from 'node:http';
import { counterNames, viewOf, type Campaigns } from './campaigns';
import { failures, ownFailures, type Failure } from './failures';
import { isJsonObject, type JsonObject } from './json';
import { audiences, judgeSend, sendOperations, type Audience } from './operations';
import type { RateLimiter } from './rateLimiter';
import { parseSendAt } from './schedule';
import type { Settings } from './settings';
import { isSubscriber } from './subscribers';

/** A request as it came. */
export interface ServiceRequest {
	readonly method: string;
	/** With prefix and query. */
	readonly path: string;
	readonly headers: IncomingHttpHeaders;
	/** The raw text, numbers as they were written. */
	readonly body: string;
	/** The parsed body; undefined if it is no JSON in UTF-8. Numbers beyond 2^53 have lost digits. */
	readonly json: unknown;
}

export interface Answer {
	readonly status: number;
	readonly headers: Readonly<Record<string, string>>;
	readonly body: JsonObject;
	/** The campaign that was created. */
	readonly campaignId?: string;
}

/** What the service has when a request comes, at `now` (epoch milliseconds). */
export interface ServiceParts {
	readonly settings: Settings;
	readonly campaigns: Campaigns;
	readonly limiter: RateLimiter;
	readonly now: number;
}

/** What the paths of all sends begin with. */
export const sendPath = '/v1/notification/send/';
const statusPath = '/v1/notification/status/id/';
const subscriberCountPath = '/v1/site/subscriber_count';

/** Bytes. The specification has no limit; a body without one would fill the memory. */
const largestBody = 1_000_000;

/** UTF-8 may be named beside it: it is what JSON is written in. */
const jsonType = /^application\/json *(?:; *charset="?utf-8"?)?$/i;

function accept(body: JsonObject): Answer {
	return { status: 200, headers: {}, body };
}

function refuse({ type, description, status }: Failure, headers = {}): Answer {
	return { status, headers, body: { status: 'failure', type, description } };
}

function judgeHeaders(headers: IncomingHttpHeaders, settings: Settings): Failure | undefined {
	const { keyHeader, tokenHeader, serviceKey, authToken } = settings;
	for (const name of [keyHeader, tokenHeader, 'Content-Type']) {
		if (!headers[name.toLowerCase()]) return failures.missingHeader(name);
	}
	if (!jsonType.test(String(headers['content-type']))) return ownFailures.wrongContentType;
	const isKey = headers[keyHeader.toLowerCase()] === serviceKey;
	const isToken = headers[tokenHeader.toLowerCase()] === authToken;
	return isKey && isToken ? undefined : failures.notAuthorized;
}

function answerSend(audience: Audience, body: unknown, service: ServiceParts): Answer {
	if (!isJsonObject(body)) return refuse(failures.badRequest);
	const { settings, campaigns, now } = service;
	const { active } = settings.subscribers;
	const hasSubscriber = (sid: string) => isSubscriber(sid, active);
	const failure = judgeSend(sendOperations[audience], body, { now, hasSubscriber });
	if (failure) return refuse(failure);
	const dueAt = parseSendAt(body['send_at']) ?? now;
	const campaignId = campaigns.add({ audience, body, dueAt }, now, active);
	if (audience === 'sid') {
		const sent = { status: 'success', description: 'Notification sent successfully' };
		return { ...accept(sent), campaignId };
	}
	const created = { status: 'success', description: 'Campaign created successfully' };
	return { ...accept({ ...created, ID: Number(campaignId) }), campaignId };
}

/** An ID in a path; what can't be decoded is none. */
function decode(text: string): string {
	try {
		return decodeURIComponent(text);
	} catch {
		return '';
	}
}

/** A send to one subscriber gave no campaign ID, so it has no status either. */
function answerStatus(id: string, { settings, campaigns, now }: ServiceParts): Answer {
	const campaign = campaigns.byId.get(id);
	if (!campaign || campaign.audience === 'sid') return refuse(failures.unknownCampaign);
	const { counters, isWaiting, status } = viewOf(campaign, now, settings.lifeSpeed);
	const isHidden = isWaiting && settings.waitingCounters === 'null';
	const count = counterNames.map((name) => {
		const isNull = isHidden && campaign.counters[name] === undefined;
		return [name, isNull ? null : String(counters[name])];
	});
	return accept({
		notification_status: status,
		notification_id: campaign.id,
		count: Object.fromEntries(count),
	});
}

function answerSubscriberCount({ settings }: ServiceParts): Answer {
	const { active, lifetime } = settings.subscribers;
	return accept({
		total_life_time_subscribers: String(lifetime),
		active_subscribers: String(active),
	});
}

/**
 * Judges a request and carries it out. The order is a decision, too: headers, credentials, rate limit (so reads
 * count, and what has no right to ask does not), size, path and method, body. An unknown path, a query or
 * another method is the generic failure; a GET has no body.
 */
export function answerRequest(request: ServiceRequest, service: ServiceParts): Answer {
	const { settings, limiter, now } = service;
	const refusal = judgeHeaders(request.headers, settings);
	if (refusal) return refuse(refusal);

	const { rateLimit, pathPrefix } = settings;
	const waitMs = rateLimit ? limiter.take(rateLimit, now) : 0;
	if (waitMs > 0) {
		const retryAfter = { 'retry-after': String(Math.ceil(waitMs / 1000)) };
		return refuse(failures.tooManyRequests, rateLimit?.retryAfter ? retryAfter : {});
	}
	if (Buffer.byteLength(request.body) > largestBody) return refuse(ownFailures.bodyTooLarge);

	if (!request.path.startsWith(pathPrefix)) return refuse(ownFailures.unknownPath);
	const path = request.path.slice(pathPrefix.length);
	const audience = audiences.find((one) => path === sendPath + one);
	const isStatus = path.startsWith(statusPath) && !path.includes('?');
	const isRead = isStatus || path === subscriberCountPath;
	if (!audience && !isRead) return refuse(ownFailures.unknownPath);
	if (request.method !== (audience ? 'POST' : 'GET')) return refuse(ownFailures.wrongMethod);

	if (audience) return answerSend(audience, request.json, service);
	if (request.body !== '') return refuse(failures.badRequest);
	if (isStatus) return answerStatus(decode(path.slice(statusPath.length)), service);
	return answerSubscriberCount(service);
}
