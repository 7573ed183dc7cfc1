export * from './sends';
export * from './stage';
export * from './workflows';
