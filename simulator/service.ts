import { Campaigns, countOf, plainId, viewOf, type Campaign, type CampaignView } from './campaigns';
import type { CounterChanges } from './counters';
import { failures, type Failure } from './failures';
import { isJsonObject, type JsonObject } from './json';
import {
	checkHeaders,
	checkSend,
	sendOperations,
	statusPath,
	subscriberCountPath,
	type SendOperation,
} from './operations';
import type { SimulatorOptions } from './options';
import { RateLimiter, retryAfterHeader } from './rateLimiter';
import type { RecordedRequest } from './request';
import { defaultExpiryMs, parseExpirePush, parseSendAt } from './schedule';
import { newCampaignSchema, settingsSchema } from './schemas';
import type { NewCampaign, RateLimit, Settings, SettingsChanges } from './schemas';
import { audienceSizeOf, isSubscriber } from './subscribers';

/** The most that a body may hold, in bytes. */
const bodyLimit = 1_000_000;

/** What is answered to one request. */
export interface Answer {
	readonly status: number;
	readonly headers?: Readonly<Record<string, string>>;
	readonly body: JsonObject;
	/** The campaign that the request created. */
	readonly campaignId?: string;
}

/** What a campaign is that neither a request nor a hand made otherwise. */
const ordinary = {
	expiryMs: defaultExpiryMs,
	speed: null,
	closesByItself: null,
	fixedStatus: null,
	fixedCounters: {},
	extraClicks: 0,
};

/** The push service without its sockets: requests in, answers out. */
export class PushService {
	protected readonly store = new Campaigns();
	protected settings: Settings;
	/** What stays as it is while the service runs. */
	protected readonly shape;
	private readonly limiter = new RateLimiter();
	/** Gives epoch milliseconds. */
	readonly now: () => number;

	constructor({
		pathPrefix = '',
		keyHeader = 'serviceKey',
		tokenHeader = 'serviceAuthToken',
		lifeSpeed = 1,
		clock = Date.now,
		...settings
	}: Omit<SimulatorOptions, 'port' | 'stateFile'>) {
		this.shape = { pathPrefix: pathPrefix.replace(/\/+$/, ''), keyHeader, tokenHeader, lifeSpeed };
		this.settings = settingsSchema.parse(settings);
		this.now = clock;
		this.limiter.setLimit(this.settings.rateLimit, this.now());
	}

	/** The accepted campaigns by ID, oldest first; sends to one subscriber as `sid-1` and up. */
	get campaigns(): ReadonlyMap<string, Campaign> {
		return this.store.all;
	}

	/** A campaign with its present status and counters. */
	campaign(id: string): CampaignView | undefined {
		const campaign = this.campaigns.get(id);
		return campaign && this.view(campaign);
	}

	/** Changes settings while running. Throws a ZodError where they are not well formed. */
	configure(changes: SettingsChanges): void {
		this.settings = settingsSchema.parse({ ...this.settings, ...changes });
		if (changes.rateLimit !== undefined) this.limiter.setLimit(changes.rateLimit, this.now());
	}

	setRateLimit(rateLimit: RateLimit | undefined): void {
		this.configure({ rateLimit: rateLimit ?? null });
	}

	setLatency(latencyMs: number): void {
		this.configure({ latencyMs });
	}

	/** Keeps a campaign that nobody sent; gives its ID. Throws a ZodError on a malformed one. */
	addCampaign(campaign: NewCampaign = {}): string {
		const { id, audience, body, ...rest } = newCampaignSchema.parse(campaign);
		const now = this.now();
		const added = {
			...ordinary,
			audience,
			body,
			audienceSize: rest.audienceSize ?? this.audienceSizeOf(audience, body),
			createdAt: now,
			dueAt: rest.dueAt ?? now,
			speed: rest.speed ?? null,
			fixedStatus: rest.status ?? null,
			fixedCounters: rest.counters,
		};
		return this.store.add(added, id);
	}

	/**
	 * Has people click a campaign, as far as so many have it and have not clicked or closed it.
	 * Gives how many did; throws where there is no campaign with this ID.
	 */
	click(id: string, people: number): number {
		const { clickable, extraClicks } = this.view(this.store.of(id));
		const clicked = Math.min(people, clickable);
		this.store.change(id, { extraClicks: extraClicks + clicked });
		return clicked;
	}

	/** Fixes counters of a campaign; those left out go on living. Throws on an unknown ID. */
	setCounters(id: string, counters: CounterChanges): void {
		const { fixedCounters } = this.store.of(id);
		this.store.change(id, { fixedCounters: { ...fixedCounters, ...counters } });
	}

	/** Makes all campaigns older, in milliseconds, as if they had been due earlier; the clock stays. */
	age(ms: number): void {
		for (const { id, dueAt } of this.campaigns.values())
			this.store.change(id, { dueAt: dueAt - ms });
	}

	/** Whether there was one to remove. */
	removeCampaign(id: string): boolean {
		return this.store.remove(id);
	}

	/** What a campaign shows now. */
	protected view(campaign: Campaign): CampaignView {
		return viewOf(campaign, this.now(), this.shape.lifeSpeed);
	}

	/** Judges a request and carries it out. */
	protected answer(request: RecordedRequest): Answer {
		const refusal = checkHeaders(request.headers, { ...this.shape, ...this.settings });
		if (refusal) return this.refuse(refusal);
		const waitMs = this.limiter.take(this.now());
		if (waitMs !== null) return this.refuseForNow(waitMs);
		if (Buffer.byteLength(request.body) > bodyLimit) return this.refuse(failures.bodyTooLarge);

		const { pathPrefix } = this.shape;
		if (!request.path.startsWith(`${pathPrefix}/`)) return this.refuse(failures.unknownPath);
		const path = request.path.slice(pathPrefix.length);

		const operation = sendOperations.get(path);
		if (operation) {
			if (request.method !== 'POST') return this.refuse(failures.wrongMethod);
			return this.send(operation, request.json);
		}
		const isStatus = path.startsWith(statusPath) && !path.includes('?');
		if (!isStatus && path !== subscriberCountPath) return this.refuse(failures.unknownPath);
		if (request.method !== 'GET') return this.refuse(failures.wrongMethod);
		if (request.body !== '') return this.refuse(failures.badRequest);
		return isStatus ? this.status(path.slice(statusPath.length)) : this.subscriberCount();
	}

	private send(operation: SendOperation, json: unknown): Answer {
		if (!isJsonObject(json)) return this.refuse(failures.badRequest);
		const now = this.now();
		const hasSubscriber = (sid: string) => isSubscriber(sid, this.settings.subscribers.active);
		const failure = checkSend(operation, json, { now, hasSubscriber });
		if (failure) return this.refuse(failure);

		const { audience, closesByItselfWhen } = operation;
		const { send_at: sendAt, expire_push: expirePush, auto_hide: autoHide } = json;
		const campaignId = this.store.add({
			...ordinary,
			audience,
			body: json,
			audienceSize: this.audienceSizeOf(audience, json),
			createdAt: now,
			dueAt: parseSendAt(sendAt) ?? now,
			expiryMs: parseExpirePush(expirePush) ?? defaultExpiryMs,
			closesByItself: autoHide === undefined ? null : autoHide === closesByItselfWhen,
		});
		const toOne = { status: 'success', description: 'Notification sent successfully' };
		const ID = Number(campaignId);
		const toMany = { status: 'success', description: 'Campaign created successfully', ID };
		return { status: 200, body: audience === 'sid' ? toOne : toMany, campaignId };
	}

	private status(encodedId: string): Answer {
		const campaign = this.campaign(plainId(decode(encodedId)));
		// A send to one subscriber gives no campaign ID, so there is none to ask for.
		if (!campaign || campaign.audience === 'sid') return this.refuse(failures.unknownCampaign);
		const body = {
			notification_status: campaign.status,
			notification_id: campaign.id,
			count: countOf(campaign, this.settings.waitingCounters),
		};
		return { status: 200, body };
	}

	private subscriberCount(): Answer {
		const { active, lifetime } = this.settings.subscribers;
		const body = {
			total_life_time_subscribers: String(lifetime),
			active_subscribers: String(active),
		};
		return { status: 200, body };
	}

	private audienceSizeOf(audience: Campaign['audience'], body: JsonObject): number {
		return audienceSizeOf(audience, body, this.settings.subscribers.active);
	}

	private refuseForNow(waitMs: number): Answer {
		const refusal = this.refuse(failures.rateLimit);
		if (this.settings.rateLimit?.retryAfter === undefined) return refusal;
		return { ...refusal, headers: { 'retry-after': retryAfterHeader(waitMs) } };
	}

	private refuse({ type, description, status, reason }: Failure): Answer {
		return {
			status,
			headers: reason === undefined ? {} : { 'x-simulator-reason': reason },
			body: { status: 'failure', type, description },
		};
	}
}

/** Decodes an ID in a path; what can't be decoded is no ID. */
function decode(text: string): string {
	try {
		return decodeURIComponent(text);
	} catch {
		return '';
	}
}
