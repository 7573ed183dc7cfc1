import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { packageName, packagesFolder, until } from '../host';
import type { Case } from './contest';
import { prepare, times } from './contest';
import { timeLoading } from './loading';
import { median, summarize } from './report';
import { readPlainly, watch } from './stage';

/** Milliseconds without a request after which a poll is over; polls are five seconds apart. */
const quietMs = 1500;

/** As many reads at once as a poll makes. */
const maxParallel = 100;

export const poll: Case = {
	id: 'poll-200',
	title: 'Poll of 200 campaigns, latency 50 ms',
	async measure({ stage, pairs, tell }) {
		const { simulator } = stage;
		await prepare(stage, 50);
		const ids: string[] = [];
		while (ids.length < 200) ids.push(await simulator.addCampaign());

		/** From the first request's arrival to the last one's answer, as the service sees it. */
		const spanOfRequests = async () => {
			const requests = (await simulator.requests()).slice(-ids.length);
			const ends = requests.map(({ answered }) => answered?.at ?? Infinity);
			const span = Math.max(...ends) - Math.min(...requests.map(({ at }) => at));
			return requests.length === ids.length && Number.isFinite(span) ? span : undefined;
		};

		const ours: number[] = [];
		const plain: number[] = [];
		await simulator.clearRequests();
		const endWatching = await watch(stage, ids);
		try {
			// The first poll is n8n's own test on activation.
			for (let turn = 0; turn <= pairs; turn += 1) {
				tell(turn === 0 ? 'warming up' : `poll ${turn} of ${pairs}`);
				const span = await until(spanOfRequests, (seen) => seen !== undefined, {
					within: 30_000,
					every: 200,
					late: () => 'No poll came within 30 s',
				});
				await simulator.clearRequests();
				await readPlainly(stage, ids, maxParallel);
				const plainSpan = (await spanOfRequests()) ?? NaN;
				await simulator.clearRequests();
				if (turn === 0) continue;
				ours.push(span ?? NaN);
				plain.push(plainSpan);
			}
		} finally {
			await endWatching();
		}
		await sleep(quietMs);
		return {
			ours: summarize(ours),
			limit: { name: 'plain requests', ms: median(plain) },
			measure: 'of plain requests',
			value: times(median(ours) / median(plain)),
			notes: [`from the first request to the last answer, ${maxParallel} at once`],
		};
	},
};

export const loading: Case = {
	id: 'loading',
	title: 'require() of both nodes and the credential',
	async measure({ stage, pairs, tell }) {
		tell('requiring');
		const modules = join(packagesFolder(stage.server.userFolder), 'node_modules');
		const ours = await timeLoading(join(modules, packageName), Math.max(5, pairs));
		return {
			ours: summarize(ours),
			measure: 'for all three',
			value: `${median(ours).toFixed(1)} ms`,
			notes: ['in a process that has loaded what n8n has loaded already'],
		};
	},
};
