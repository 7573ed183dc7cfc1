import { useStage } from './support';
import { testTrigger } from './support/triggerTests';

describe("in n8n's classic engine", () => {
	testTrigger('classic', useStage());
});
