export { startSimulator, Simulator } from './simulator';
export { SimulatorControl } from './client';
export { parseJson } from './json';
export { JsonFile } from './jsonFile';
export type { SimulatorOptions } from './options';
export type { Counters } from './counters';
export type { RecordedRequest } from './request';
export type { Fault, NewCampaign, RateLimit } from './schemas';
