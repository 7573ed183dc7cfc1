import { TestEnvironment } from 'jest-environment-node';
import * as n8nWorkflow from 'n8n-workflow';

/**
 * Loads n8n's packages once for each of jest's workers. Jest would load them again for each test file, which takes
 * longer than most tests do; `useOnceLoaded.ts` hands them to the tests.
 */
export default class OnceLoaded extends TestEnvironment {
	/** What to hand out, by the name or the path under which it is imported. */
	protected get modules(): Readonly<Record<string, unknown>> {
		return { 'n8n-workflow': n8nWorkflow };
	}

	constructor(...options: ConstructorParameters<typeof TestEnvironment>) {
		super(...options);
		// In `setup` it would be too late: jest calls it after the setup files.
		this.global['onceLoaded'] = this.modules;
	}
}
