/**
 * Remote support: a technician in the cloud reads the read-only page of the robot through a tunnel that this device opens
 * itself. Checks of the notification, the session with its own clock, the proxy as a child process, and the records.
 */
export type * from './model.ts';
export { endReasons, refusalReasons } from './model.ts';
export { createSupport } from './session/support.ts';
