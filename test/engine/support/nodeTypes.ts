import type { INodeType, INodeTypes } from 'n8n-workflow';

/** Node types by their full name, such as `n8n-nodes-base.noOp`. */
export type NodeTypeTable = Readonly<Record<string, INodeType>>;

/** Serves the engine the node types of a table; throws on a name that is not in it. */
export class TableOfNodeTypes implements INodeTypes {
	constructor(private readonly table: NodeTypeTable) {}

	getByName(name: string): INodeType {
		const nodeType = this.table[name];
		if (nodeType === undefined) throw new Error(`No node type ${name} in this test`);
		return nodeType;
	}

	getByNameAndVersion(name: string): INodeType {
		return this.getByName(name);
	}

	getKnownTypes() {
		return {};
	}
}
