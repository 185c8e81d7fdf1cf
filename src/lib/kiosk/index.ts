/**
 * The tablet of a robot: its profile, the client of an adb server, the steps that compare and change the tablet, and
 * the verification that ADB over TCP is closed again. The module needs a running adb server and starts no programs.
 */

export { type Bridge, openBridge } from './adb/bridge.ts';
export { tabletCommand } from './adb/command.ts';
export { parseAddresses } from './adb/command-output.ts';
export { keyFingerprint } from './adb/fingerprint.ts';
export { openRelay } from './adb/relay.ts';
export type { TabletTransport } from './adb/stall.ts';
export { connectTablet, type Tablet } from './adb/tablet.ts';
export { byHardware, type Candidate } from './candidates.ts';
export {
  clearReopening,
  type PortState,
  type PortTarget,
  probePort,
  verifyClosed,
  waitUntilDown,
  watchRestart,
} from './lock.ts';
export { type KioskProfile, kioskProfileSchema, loadKioskProfile, profileHash } from './profile.ts';
export {
  afterConnection,
  afterLock,
  afterOpen,
  afterOrder,
  afterRefusal,
  newTabletRecord,
  type Responder,
  responderAfterOrder,
  responderOf,
} from './record/memory.ts';
export {
  type MachineTime,
  NO_PROVENANCE,
  type Observation,
  type Provenance,
  provenanceOf,
  provenanceSchema,
  readMachineTime,
} from './record/observation.ts';
export {
  type Doubt,
  doubtIds,
  type Reading,
  readers,
  readTabletRecord,
  recordedStepSchema,
  redLineOf,
  type TabletFacts,
  type TabletRecord,
  tabletFactsSchema,
  tabletRecordSchema,
  tabletRedLine,
  writeTabletRecord,
} from './record/record.ts';
export { applySteps, planSteps } from './setup/engine.ts';
export { kioskSteps } from './setup/kiosk-steps.ts';
export { checkAppFile } from './setup/package-step.ts';
export { type StepOutcome, stepOutcomeSchema } from './setup/step.ts';
