import './userFolder';
import { rmSync } from 'node:fs';
import * as n8nCore from 'n8n-core';
import OnceLoaded from '../../support/onceLoaded';
import { ProcessedData } from '../../support/processedData';

const processedData = new ProcessedData();
void n8nCore.DataDeduplicationService.init(processedData);

const userFolder = process.env['N8N_USER_FOLDER'] ?? '';

/** Loads n8n's engine once for each of jest's workers, with a table of what was processed (`pushCampaign.ts`). */
export default class EngineEnvironment extends OnceLoaded {
	protected override get modules() {
		return { ...super.modules, 'n8n-core': n8nCore };
	}

	override async setup(): Promise<void> {
		await super.setup();
		processedData.reset();
		this.global['processedData'] = processedData;
	}

	override async teardown(): Promise<void> {
		await super.teardown();
		rmSync(userFolder, { recursive: true, force: true });
	}
}
