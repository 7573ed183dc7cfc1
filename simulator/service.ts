import { answerRequest, type Answer, type ServiceRequest } from './answer';
import {
	Campaigns,
	viewOf,
	type Campaign,
	type CampaignView,
	type FixedCounters,
	type NewCampaign,
} from './campaigns';
import { Faults, type Fault } from './faults';
import { RateLimiter } from './rateLimiter';
import { defaultSettings, type Settings } from './settings';

const mostRequests = 20_000;

/** A request, and what became of it. */
export interface RecordedRequest extends ServiceRequest {
	/** Epoch milliseconds. */
	readonly at: number;
	/** What was answered; null while nothing is, and for good if the answer was lost. */
	answered: { status: number; body: string; at: number } | null;
	/** Whether a fault befell it. */
	isFaulty: boolean;
	/** The campaign that it created, whether or not the client heard of it. */
	campaignId: string | null;
}

/** The push service without its sockets, with all that a test wants to see or break. */
export class PushService {
	readonly faults = new Faults();
	/** The latest requests, oldest first. */
	readonly requests: RecordedRequest[] = [];
	/** How many came since the start or the last reset, kept or not. */
	requestCount = 0;
	settings: Settings;
	private readonly initialSettings: Settings;
	private store = new Campaigns();
	private limiter = new RateLimiter();

	/** @param now gives epoch milliseconds */
	constructor(
		settings: Partial<Settings>,
		readonly now: () => number,
	) {
		this.settings = { ...defaultSettings, ...settings };
		this.initialSettings = this.settings;
	}

	/** By ID, oldest first; sends to one subscriber are `sid-1` and up. */
	get campaigns(): ReadonlyMap<string, Campaign> {
		return this.store.byId;
	}

	/** A campaign with its present status and counters. */
	campaign(id: string): CampaignView | undefined {
		const campaign = this.campaigns.get(id);
		return campaign && viewOf(campaign, this.now(), this.settings.lifeSpeed);
	}

	/** Keeps a campaign that nobody sent; gives its ID. */
	addCampaign(campaign: NewCampaign = {}): string {
		return this.store.add(campaign, this.now(), this.settings.subscribers.active);
	}

	/** Fixes counters; the others go on growing. Throws a RangeError if there is no such campaign. */
	setCounters(id: string, counters: FixedCounters): void {
		Object.assign(this.store.find(id).counters, counters);
	}

	/** Has people click a campaign, as far as so many have it and did not. Throws a RangeError as above. */
	click(id: string, people: number): void {
		const campaign = this.store.find(id);
		const { clickable } = viewOf(campaign, this.now(), this.settings.lifeSpeed);
		campaign.extraClicks += Math.min(people, clickable);
	}

	configure(changes: Partial<Settings>): void {
		this.settings = { ...this.settings, ...changes };
	}

	setLatency(latencyMs: number): void {
		this.configure({ latencyMs });
	}

	addFault(fault: Fault): void {
		this.faults.add(fault);
	}

	clearFaults(): void {
		this.faults.clear();
	}

	clearRequests(): void {
		this.requests.length = 0;
		this.requestCount = 0;
	}

	/** As it was started, with nothing sent or broken. */
	reset(): void {
		this.store = new Campaigns();
		this.limiter = new RateLimiter();
		this.settings = this.initialSettings;
		this.clearFaults();
		this.clearRequests();
	}

	/** Begins with the campaigns of an earlier start. */
	protected restore(campaigns: readonly Campaign[]): void {
		for (const campaign of campaigns) this.store.byId.set(campaign.id, campaign);
	}

	/** Keeps a request. */
	protected record(request: ServiceRequest): RecordedRequest {
		const unanswered = { answered: null, isFaulty: false, campaignId: null };
		const recorded = { ...request, at: this.now(), ...unanswered };
		this.requests.push(recorded);
		this.requestCount += 1;
		if (this.requests.length > mostRequests) this.requests.shift();
		return recorded;
	}

	/** Judges a request and carries it out. */
	protected carryOut(request: RecordedRequest): Answer {
		const { settings, store: campaigns, limiter } = this;
		const answer = answerRequest(request, { settings, campaigns, limiter, now: this.now() });
		request.campaignId = answer.campaignId ?? null;
		return answer;
	}
}
