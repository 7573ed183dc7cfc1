export { startSimulator, Simulator } from './simulator';
export type { SimulatorOptions, SimulatorState } from './controlled';
export { SimulatorControl } from './client';
export type { Campaign, CampaignView } from './campaigns';
export { counterNames } from './counters';
export type { CounterName, Counters } from './counters';
export type { Audience } from './operations';
export type { RecordedRequest } from './recorder';
export type {
	CounterChanges,
	Fault,
	NewCampaign,
	RateLimit,
	Settings,
	SettingsChanges,
} from './schemas';
