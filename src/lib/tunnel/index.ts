/**
 * Remote support: a technician in the cloud reads the read-only page of the robot through a tunnel that this device opens
 * itself. Checks of the notification, the session with its own clock, the proxy as a child process, the wire protocol,
 * the records and their audit. The daemon uses `session/index.ts`, which loads neither the protocol nor the audit.
 */
export { withoutTokens } from './link/index.ts';
export * from './model.ts';
export { type ProxyResult, runProxy } from './proxy/run.ts';
export type { ProxyEvent } from './proxy.result.ts';
export { endReasons, refusalReasons } from './records/schema.ts';
export type { SourceEvent, SourceListener } from './source/model.ts';
export { runSource } from './source/source.ts';
export {
  runningSessionSchema,
  type SessionEntry,
  type SupportView,
  sessionEntrySchema,
  supportViewSchema,
} from './view.ts';
