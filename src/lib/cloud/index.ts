/**
 * The cloud: an outgoing MQTT link with a durable outbox, a gate that accepts two commands and one notification, the
 * release agent, and uploads to the object storage.
 */

export { createCloud } from './cloud.ts';
export {
  type CandidateIdentity,
  type LinkIdentity,
  type LinkPath,
  linkTroubleKinds,
  type PathCheck,
  pathCheckSchema,
} from './link/model.ts';
export type * from './model.ts';
export { cloudViewSchema } from './model.ts';
export { type KeptMessage, readSetAside } from './outbox/store/others.ts';
export { snapshotOutbox } from './outbox/store/snapshot.ts';
export { isThere } from './release/folder.ts';
export { keyFingerprint, readReleaseKeys } from './release/keys.ts';
export { installedVersionSchema, releaseRunSchema } from './release/model.ts';
export { carryOutRollback, planRollback, readReleaseFolder } from './release/on-site.ts';
export { inspectPackage, verifyPackage } from './release/read-package.ts';
export { writePackage } from './release/write-package.ts';
export type { CurrentFaults, PresentFault } from './reporting/model.ts';
export { addUpload, type SpoolEntry, UPLOADS_FOLDER } from './storage/spool.ts';
export { subscribedFilters, topicsOf } from './topics.ts';
export type { TunnelNotificationWire } from './wire.ts';
