/**
 * Services and their supervisor, the injected clock (time and randomness), the structured log, folders, and files that
 * are written atomically and synced.
 */

export { type Clock, longestAgeMs, systemClock } from './clock.ts';
export {
  createFile,
  ensureFolder,
  isDraftName,
  openFresh,
  removeLeftDrafts,
  replaceFile,
  syncFolder,
} from './create-file.ts';
export { createFoldedLog, type EmittedEvent, type Log, silentLog, writeEvent } from './folded-log.ts';
export { assertOwnFolder, type FolderProblem, folderProblem, privateFolderProblem } from './folder-owner.ts';
export { lockName } from './lock-name.ts';
export { openExisting, UnsuitableFile } from './open-existing.ts';
export { type BoundedRead, readBounded, readWhole } from './read-bounded.ts';
export { repeat } from './repeat.ts';
export { sha256 } from './sha256.ts';
export type { Service, ServiceContext, ServiceHealth } from './supervisor.ts';
export {
  aborted,
  createBackoff,
  createSupervisor,
  firstOf,
  onAbort,
  type SupervisorEvent,
  untilAborted,
  withDeadline,
} from './supervisor.ts';
export { createWakeup, orAfter, type Wakeup } from './wakeup.ts';
