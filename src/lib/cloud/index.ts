/**
 * The cloud: an outgoing MQTT link with a durable outbox, a gate that accepts two commands and one notification, the
 * release agent, and uploads to the object storage.
 */
export { createCloudLink } from './link/link.ts';
export type {
  CloudLink,
  CloudLinkOptions,
  Connection,
  FailedAttempt,
  LinkIdentity,
  LinkPath,
  LinkView,
} from './link/model.ts';
export type * from './model.ts';
export { type Topics, topicsOf } from './topics.ts';
