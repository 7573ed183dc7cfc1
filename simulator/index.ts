export { startSimulator, Simulator } from './simulator';
export type { SimulatorOptions } from './settings';
export type { Counters, NewCampaign } from './campaigns';
export type { Fault } from './faults';
export type { RateLimit } from './rateLimiter';
