/**
 * The cloud: an outgoing MQTT link with a durable outbox, a gate that accepts two commands and one notification, the
 * release agent, and uploads to the object storage.
 */
export { discardReasons } from './gate/model.ts';
export type * from './model.ts';
export { messageClasses } from './outbox/model.ts';
export { releasePhases } from './release/model.ts';
export { addUpload, type SpoolEntry, UPLOADS_FOLDER } from './storage/spool.ts';
export { subscribedFilters, type Topics, topicsOf } from './topics.ts';
