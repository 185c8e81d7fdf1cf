/** What the gateway reports to the cloud by itself, from its own state. The sets are documented in docs/cloud.md. */
export { type FaultSources, faultsOf } from './faults.ts';
export { type ShadowSources, shadowOf } from './shadow.ts';
export { telemetryOf } from './telemetry.ts';
