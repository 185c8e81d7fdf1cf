/**
 * Services and their supervisor, the injected clock (time and randomness), the structured log, folders, and files that
 * are written atomically and synced.
 */
export { aborted, firstOf, onAbort, untilAborted, withDeadline } from './abort.ts';
export { createBackoff } from './backoff.ts';
export { type Clock, systemClock } from './clock.ts';
export { createFile } from './create-file.ts';
export { ensureFolder } from './ensure-folder.ts';
export { createFoldedLog, type EmittedEvent, writeEvent } from './folded-log.ts';
export { assertOwnFolder, type FolderProblem, folderProblem, privateFolderProblem } from './folder-owner.ts';
export { lockName } from './lock-name.ts';
export { type Log, silentLog } from './log.ts';
export { openExisting, UnsuitableFile } from './open-existing.ts';
export { orAfter } from './or-after.ts';
export { type BoundedRead, readBounded, readWhole } from './read-bounded.ts';
export { openFresh, removeLeftDrafts, replaceFile } from './replace-file.ts';
export type { Service, ServiceContext, ServiceHealth } from './service.ts';
export { sha256 } from './sha256.ts';
export { createSupervisor, type SupervisorEvent } from './supervisor.ts';
export { syncFolder } from './sync-folder.ts';
export { createWakeup, type Wakeup } from './wakeup.ts';
