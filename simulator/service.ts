import { Campaigns, viewOf, type Campaign, type CampaignView } from './campaigns';
import { counterNames } from './counters';
import { failures, type Failure } from './failures';
import { isJsonObject, type JsonObject } from './json';
import {
	checkSend,
	sendOperations,
	statusPath,
	subscriberCountPath,
	type SendOperation,
} from './operations';
import { RateLimiter, retryAfterHeader } from './rateLimiter';
import type { ArrivedRequest } from './recorder';
import { defaultExpiryMs, parseExpirePush, parseSendAt } from './schedule';
import {
	newCampaignSchema,
	type NewCampaign,
	type Settings,
	type SettingsChanges,
} from './schemas';
import { Subscribers } from './subscribers';

/** What is answered to one request. */
export interface Answer {
	readonly status: number;
	readonly headers: Readonly<Record<string, string>>;
	readonly body: JsonObject;
	/** The campaign that the request created. */
	readonly campaignId?: string;
}

/** What stays as it is while the service runs. */
export interface ServiceShape {
	/** What stands before `/v1/`, e.g. `/push`; empty for nothing. */
	readonly pathPrefix: string;
	readonly keyHeader: string;
	readonly tokenHeader: string;
	readonly lifeSpeed: number;
	/** How many campaigns are kept. */
	readonly maxCampaigns: number;
}

const jsonContentType = /^application\/json *(?:; *charset="?utf-8"?)?$/i;

/** The push service without its sockets: requests in, answers out. */
export class PushService {
	readonly campaigns: Campaigns;
	readonly subscribers: Subscribers;
	private readonly limiter = new RateLimiter();

	/**
	 * @param now - gives epoch milliseconds
	 * @param changed - is called after each change of the campaigns
	 */
	constructor(
		private readonly shape: ServiceShape,
		private settings: Settings,
		private readonly now: () => number,
		changed: () => void,
	) {
		this.campaigns = new Campaigns(shape.maxCampaigns, changed);
		this.subscribers = new Subscribers(settings.subscribers.active, settings.subscribers.lifetime);
		this.limiter.setLimit(settings.rateLimit, now());
	}

	get currentSettings(): Settings {
		return this.settings;
	}

	configure(changes: SettingsChanges): void {
		const { settings } = this;
		this.settings = {
			latencyMs: changes.latencyMs ?? settings.latencyMs,
			failureStatus: changes.failureStatus ?? settings.failureStatus,
			rateLimit: changes.rateLimit === undefined ? settings.rateLimit : changes.rateLimit,
			serviceKey: changes.serviceKey ?? settings.serviceKey,
			authToken: changes.authToken ?? settings.authToken,
			subscribers: changes.subscribers ?? settings.subscribers,
			waitingCounters: changes.waitingCounters ?? settings.waitingCounters,
		};
		this.subscribers.active = this.settings.subscribers.active;
		this.subscribers.lifetime = this.settings.subscribers.lifetime;
		if (changes.rateLimit !== undefined) this.limiter.setLimit(changes.rateLimit, this.now());
	}

	/** Keeps a campaign that nobody sent; gives its ID. Throws a ZodError on a malformed one. */
	addCampaign(campaign: NewCampaign): string {
		const { id, audience, body, audienceSize, dueAt, speed, status, counters } =
			newCampaignSchema.parse(campaign);
		const now = this.now();
		return this.campaigns.add({
			id,
			audience,
			body,
			audienceSize: audienceSize ?? this.subscribers.audienceSize(audience, body),
			createdAt: now,
			dueAt: dueAt ?? now,
			expiryMs: defaultExpiryMs,
			speed: speed ?? null,
			closesByItself: null,
			fixedStatus: status ?? null,
			fixedCounters: counters,
		}).id;
	}

	/**
	 * Has people click a campaign, as far as so many have it and have not clicked or closed it.
	 * Gives how many did; throws where there is no campaign with this ID.
	 */
	click(id: string, people: number): number {
		const campaign = this.campaigns.all.get(id);
		const clicked = campaign ? Math.min(people, this.view(campaign).clickable) : people;
		this.campaigns.click(id, clicked);
		return clicked;
	}

	/** What a campaign shows now. */
	view(campaign: Campaign): CampaignView {
		return viewOf(campaign, this.now(), this.shape.lifeSpeed);
	}

	/** Judges a request and carries it out. `tooLarge` where the body was not read to its end. */
	answer(request: ArrivedRequest, tooLarge: boolean): Answer {
		const refusal = this.checkHeaders(request.headers);
		if (refusal) return this.refuse(refusal);
		const waitMs = this.limiter.take(this.now());
		if (waitMs !== null) return this.refuseForNow(waitMs);
		if (tooLarge) return this.refuse(failures.badRequest(413));

		const { pathPrefix } = this.shape;
		if (!request.path.startsWith(`${pathPrefix}/`)) return this.refuse(failures.unknownPath());
		const path = request.path.slice(pathPrefix.length);

		const operation = sendOperations.get(path);
		if (operation) {
			if (request.method !== 'POST') return this.refuse(failures.wrongMethod());
			return this.send(operation, request.json);
		}
		const isStatus = path.startsWith(statusPath) && !path.includes('?');
		if (!isStatus && path !== subscriberCountPath) return this.refuse(failures.unknownPath());
		if (request.method !== 'GET') return this.refuse(failures.wrongMethod());
		if (request.body !== '') return this.refuse(failures.badRequest());
		return isStatus ? this.status(path.slice(statusPath.length)) : this.subscriberCount();
	}

	private checkHeaders(headers: ArrivedRequest['headers']): Failure | null {
		const { keyHeader, tokenHeader } = this.shape;
		const key = headers[keyHeader.toLowerCase()];
		const token = headers[tokenHeader.toLowerCase()];
		if (!key) return failures.missingHeader(keyHeader);
		if (!token) return failures.missingHeader(tokenHeader);
		const contentType = headers['content-type'];
		if (!contentType) return failures.missingHeader('Content-Type');
		if (!jsonContentType.test(String(contentType))) return failures.wrongContentType();
		const { serviceKey, authToken } = this.settings;
		return key === serviceKey && token === authToken ? null : failures.notAuthorized();
	}

	private send(operation: SendOperation, json: unknown): Answer {
		if (!isJsonObject(json)) return this.refuse(failures.badRequest());
		const now = this.now();
		const hasSubscriber = (sid: string): boolean => this.subscribers.has(sid);
		const failure = checkSend(operation, json, { now, hasSubscriber });
		if (failure) return this.refuse(failure);

		const { send_at: sendAt, expire_push: expirePush, auto_hide: autoHide } = json;
		const campaign = this.campaigns.add({
			audience: operation.audience,
			body: json,
			audienceSize: this.subscribers.audienceSize(operation.audience, json),
			createdAt: now,
			dueAt: (typeof sendAt === 'string' ? parseSendAt(sendAt) : null) ?? now,
			expiryMs:
				(typeof expirePush === 'string' ? parseExpirePush(expirePush) : null) ?? defaultExpiryMs,
			speed: null,
			closesByItself: autoHide === undefined ? null : autoHide === operation.closesByItselfWhen,
			fixedStatus: null,
			fixedCounters: {},
		});
		if (operation.audience === 'sid') {
			const body = { status: 'success', description: 'Notification sent successfully' };
			return { status: 200, headers: {}, body, campaignId: campaign.id };
		}
		const description = 'Campaign created successfully';
		const body = { status: 'success', description, ID: Number(campaign.id) };
		return { status: 200, headers: {}, body, campaignId: campaign.id };
	}

	private status(encodedId: string): Answer {
		const id = decode(encodedId);
		const campaign = id === null ? undefined : this.campaigns.all.get(id);
		// A send to one subscriber gives no campaign ID, so there is none to ask for.
		if (!campaign || campaign.audience === 'sid') return this.refuse(failures.unknownCampaign());
		const { status } = this.view(campaign);
		const count = this.count(campaign);
		const body = {
			notification_status: status,
			notification_id: campaign.id,
			...(count === null ? {} : { count }),
		};
		return { status: 200, headers: {}, body };
	}

	/** The counters as they are answered; null for none. */
	private count(campaign: Campaign): Record<string, string | null> | null {
		const { counters, elapsedMs } = this.view(campaign);
		const waiting = elapsedMs < 0 ? this.settings.waitingCounters : 'zero';
		const count: Record<string, string | null> = {};
		for (const name of counterNames) {
			const isThere = waiting === 'zero' || campaign.fixedCounters[name] !== undefined;
			if (isThere) count[name] = String(counters[name]);
			else if (waiting === 'empty') count[name] = '';
			else if (waiting === 'null') count[name] = null;
		}
		return waiting === 'none' && Object.keys(count).length === 0 ? null : count;
	}

	private subscriberCount(): Answer {
		const body = {
			total_life_time_subscribers: String(this.subscribers.lifetime),
			active_subscribers: String(this.subscribers.active),
		};
		return { status: 200, headers: {}, body };
	}

	private refuseForNow(waitMs: number): Answer {
		const { rateLimit } = this.settings;
		const refusal = this.refuse(failures.rateLimit(), rateLimit?.status);
		if (!rateLimit?.retryAfter) return refusal;
		const retryAfter = retryAfterHeader(rateLimit.retryAfter, waitMs, this.now());
		return { ...refusal, headers: { ...refusal.headers, 'retry-after': retryAfter } };
	}

	private refuse({ type, description, status, reason }: Failure, fixedStatus?: number): Answer {
		const { failureStatus } = this.settings;
		return {
			status: fixedStatus ?? (failureStatus === 'mapped' ? status : failureStatus),
			headers: reason === undefined ? {} : { 'x-simulator-reason': reason },
			body: { status: 'failure', ...(type === null ? {} : { type }), description },
		};
	}
}

function decode(text: string): string | null {
	try {
		return decodeURIComponent(text);
	} catch {
		return null;
	}
}
