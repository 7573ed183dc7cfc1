import type { ICredentialType } from 'n8n-workflow';
import type { NodeTypeTable } from './nodeTypes';

/** This package's node types, as n8n names them. */
export const packageNodeTypes: NodeTypeTable = {};

/** This package's credential types. */
export const packageCredentialTypes: readonly ICredentialType[] = [];
