/**
 * The cloud: an outgoing MQTT link with a durable outbox, a gate that accepts two commands and one notification, the
 * release agent, and uploads to the object storage.
 */
export type * from './model.ts';
export { isThere } from './release/folder.ts';
export { releasePhases } from './release/model.ts';
export { keyFingerprint, planRollback, readReleaseFolder, rollBackOnSite } from './release/on-site.ts';
export { readReleaseKey, verifyPackage } from './release/read-package.ts';
export { type Topics, topicsOf } from './topics.ts';
