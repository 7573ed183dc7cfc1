import type { Case } from './contest';
import { limits } from './limits';
import { loading, poll } from './reads';
import { keyedSends, memoryInUse, personalSends, sends } from './sends';

export const cases: readonly Case[] = [
	sends('sends-50ms', 50, 0.25),
	sends('sends-5ms', 5, 0.2),
	personalSends,
	keyedSends('keys', '500 sends with idempotency keys, latency 50 ms', 0, 2),
	keyedSends('keys-10000', 'The same with 10,000 keys remembered', 10_000, 2.5),
	...limits,
	memoryInUse,
	poll,
	loading,
];
