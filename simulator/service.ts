import { Campaigns, countOf, viewOf, type Campaign, type CampaignView } from './campaigns';
import { counterChangesSchema, type CounterChanges } from './counters';
import { failures, type Failure } from './failures';
import { isJsonObject, type JsonObject } from './json';
import {
	checkHeaders,
	checkSend,
	sendOperations,
	statusPath,
	subscriberCountPath,
} from './operations';
import type { SendOperation } from './operations';
import type { ServiceShape } from './options';
import { RateLimiter, retryAfterHeader } from './rateLimiter';
import type { ArrivedRequest } from './recorder';
import { defaultExpiryMs, parseExpirePush, parseSendAt } from './schedule';
import { newCampaignSchema, settingsSchema } from './schemas';
import type { NewCampaign, RateLimit, Settings, SettingsChanges } from './schemas';
import { Subscribers } from './subscribers';

/** What is answered to one request. */
export interface Answer {
	readonly status: number;
	readonly headers: Readonly<Record<string, string>>;
	readonly body: JsonObject;
	/** The campaign that the request created. */
	readonly campaignId?: string;
}

const answerOf = (body: JsonObject, campaignId?: string): Answer => ({
	status: 200,
	headers: {},
	body,
	...(campaignId === undefined ? {} : { campaignId }),
});

/** The push service without its sockets: requests in, answers out. */
export class PushService {
	protected readonly store: Campaigns;
	protected readonly subscribers: Subscribers;
	private readonly limiter = new RateLimiter();

	/** @param now - gives epoch milliseconds. */
	constructor(
		protected readonly shape: ServiceShape,
		protected settings: Settings,
		readonly now: () => number,
	) {
		this.store = new Campaigns(shape.maxCampaigns, () => this.changed());
		this.subscribers = new Subscribers(() => this.settings.subscribers.active);
		this.limiter.setLimit(settings.rateLimit, this.now());
	}

	/** Is called after each change of the campaigns. */
	protected changed(): void {}

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
		const { audience, body, status, counters, ...rest } = newCampaignSchema.parse(campaign);
		const now = this.now();
		return this.store.add({
			id: rest.id,
			audience,
			body,
			audienceSize: rest.audienceSize ?? this.subscribers.audienceSize(audience, body),
			createdAt: now,
			dueAt: rest.dueAt ?? now,
			expiryMs: defaultExpiryMs,
			speed: rest.speed ?? null,
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
		const campaign = this.store.of(id);
		const clicked = Math.min(people, this.view(campaign).clickable);
		this.store.click(campaign, clicked);
		return clicked;
	}

	/** Fixes counters of a campaign; those left out go on living. Throws on an unknown ID. */
	setCounters(id: string, counters: CounterChanges): void {
		this.store.fixCounters(id, counterChangesSchema.parse(counters));
	}

	/** Makes all campaigns older, in milliseconds; the clock stays. */
	age(ms: number): void {
		this.store.age(ms);
	}

	/** Whether there was one to remove. */
	removeCampaign(id: string): boolean {
		return this.store.remove(id);
	}

	/** What a campaign shows now. */
	protected view(campaign: Campaign): CampaignView {
		return viewOf(campaign, this.now(), this.shape.lifeSpeed);
	}

	/** Judges a request and carries it out. `tooLarge` where the body was not read to its end. */
	protected answer(request: ArrivedRequest, tooLarge: boolean): Answer {
		const refusal = checkHeaders(request.headers, { ...this.shape, ...this.settings });
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

	private send({ audience, ...operation }: SendOperation, json: unknown): Answer {
		if (!isJsonObject(json)) return this.refuse(failures.badRequest());
		const now = this.now();
		const hasSubscriber = (sid: string): boolean => this.subscribers.has(sid);
		const failure = checkSend(operation, json, { now, hasSubscriber });
		if (failure) return this.refuse(failure);

		const { send_at: sendAt, expire_push: expirePush, auto_hide: autoHide } = json;
		const { id } = this.store.add({
			audience,
			body: json,
			audienceSize: this.subscribers.audienceSize(audience, json),
			createdAt: now,
			dueAt: parseSendAt(sendAt) ?? now,
			expiryMs: parseExpirePush(expirePush) ?? defaultExpiryMs,
			speed: null,
			closesByItself: autoHide === undefined ? null : autoHide === operation.closesByItselfWhen,
			fixedStatus: null,
			fixedCounters: {},
		});
		const status = 'success';
		if (audience === 'sid') {
			return answerOf({ status, description: 'Notification sent successfully' }, id);
		}
		return answerOf({ status, description: 'Campaign created successfully', ID: Number(id) }, id);
	}

	private status(encodedId: string): Answer {
		const campaign = this.campaigns.get(decode(encodedId) ?? '');
		// A send to one subscriber gives no campaign ID, so there is none to ask for.
		if (!campaign || campaign.audience === 'sid') return this.refuse(failures.unknownCampaign());
		const view = this.view(campaign);
		const count = countOf(view, this.settings.waitingCounters);
		return answerOf({
			notification_status: view.status,
			notification_id: campaign.id,
			...(count === null ? {} : { count }),
		});
	}

	private subscriberCount(): Answer {
		const { active, lifetime } = this.settings.subscribers;
		return answerOf({
			total_life_time_subscribers: String(lifetime),
			active_subscribers: String(active),
		});
	}

	private refuseForNow(waitMs: number): Answer {
		const { rateLimit } = this.settings;
		const refusal = this.refuse(failures.rateLimit(), rateLimit?.status);
		if (!rateLimit?.retryAfter) return refusal;
		const retryAfter = retryAfterHeader(rateLimit.retryAfter, waitMs, this.now());
		return { ...refusal, headers: { 'retry-after': retryAfter } };
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
