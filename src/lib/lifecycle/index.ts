/**
 * How parts begin and end: services, their supervisor, and the clock that is passed in so that tests own time
 * and chance.
 */
export { type BackoffOptions, createBackoff } from './backoff.ts';
export { type Clock, systemClock } from './clock.ts';
export { type Log, silentLog } from './log.ts';
export type { Service, ServiceContext, ServiceHealth, ServiceStatus } from './service.ts';
export { createSupervisor, type Supervisor, type SupervisorEvent, type SupervisorOptions } from './supervisor.ts';
