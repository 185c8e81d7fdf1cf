/**
 * The tablet of a robot: the profile that says how it must be, the way to it through an adb server, the steps that
 * compare and change it, and the proof that its debug bridge is closed again. Programs are started elsewhere; this
 * room speaks to an adb server that runs.
 */
export { type Bridge, openBridge } from './bridge.ts';
export { applySteps, planSteps, type StepOutcome } from './engine.ts';
export { keyFingerprint } from './fingerprint.ts';
export { kioskSteps } from './kiosk-steps.ts';
export {
  clearReopening,
  lookAtPort,
  type PortScene,
  type PortState,
  proveClosed,
  waitUntilDown,
  watchRestart,
} from './lock.ts';
export {
  type Answerer,
  afterConnection,
  afterLock,
  afterOpen,
  afterOrder,
  afterReading,
  afterRefusal,
  afterWireless,
  answererAfterOrder,
  answererOf,
} from './memory.ts';
export type { TabletWay } from './movement.ts';
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
export {
  type Knowledge,
  knowledgeOf,
  knowledgeSchema,
  type MachineTime,
  NO_KNOWLEDGE,
  readMachineTime,
  type Sighting,
} from './sighting.ts';
export { connectTablet, type Tablet, type TabletFacts } from './tablet.ts';
