/** The workflows that polled last are remembered: a few kilobytes for each of their triggers. */
const mostWorkflows = 1000;
const mostTriggers = 100;

/** Gets the value of a key, makes it the newest entry, and drops the oldest one if there are too many. */
function use<Value>(
	entries: Map<string, Value>,
	key: string,
	most: number,
	create: () => Value,
): Value {
	const value = entries.get(key) ?? create();
	entries.delete(key);
	entries.set(key, value);
	const [oldest = key] = entries.keys();
	if (entries.size > most) entries.delete(oldest);
	return value;
}

/** What this process remembers of each trigger, until n8n ends. */
export class TriggerMemories<Memory> {
	private readonly workflows = new Map<string, Map<string, Memory>>();

	constructor(private readonly create: () => Memory) {}

	/** What is remembered of the triggers of a workflow, by node ID. */
	ofWorkflow(workflowId: string): ReadonlyMap<string, Memory> {
		return this.workflows.get(workflowId) ?? new Map<string, Memory>();
	}

	ofTrigger(workflowId: string, nodeId: string): Memory {
		const triggers = use(
			this.workflows,
			workflowId,
			mostWorkflows,
			() => new Map<string, Memory>(),
		);
		return use(triggers, nodeId, mostTriggers, this.create);
	}
}
