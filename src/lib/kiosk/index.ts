/**
 * The tablet of a robot: its profile, the client of an adb server, the steps that compare and change the tablet, and
 * the verification that ADB over TCP is closed again. The module needs a running adb server and starts no programs.
 */
export { type Bridge, openBridge } from './bridge.ts';
export { applySteps, planSteps, type StepOutcome } from './engine.ts';
export { keyFingerprint } from './fingerprint.ts';
export { kioskSteps } from './kiosk-steps.ts';
export {
  clearReopening,
  type PortState,
  type PortTarget,
  probePort,
  verifyClosed,
  waitUntilDown,
  watchRestart,
} from './lock.ts';
export {
  afterConnection,
  afterLock,
  afterOpen,
  afterOrder,
  afterReading,
  afterRefusal,
  afterWireless,
  type Responder,
  responderAfterOrder,
  responderOf,
} from './memory.ts';
export {
  type MachineTime,
  NO_PROVENANCE,
  type Observation,
  type Provenance,
  provenanceOf,
  provenanceSchema,
  readMachineTime,
} from './observation.ts';
export { type KioskProfile, kioskProfileSchema, loadKioskProfile, profileHash } from './profile.ts';
export {
  type Doubt,
  type Reading,
  readTabletRecord,
  type TabletRecord,
  tabletRecordSchema,
  tabletRedLine,
  writeTabletRecord,
} from './record.ts';
export { openRelay } from './relay.ts';
export type { TabletTransport } from './stall.ts';
export { connectTablet, type Tablet, type TabletFacts } from './tablet.ts';
