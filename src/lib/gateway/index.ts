/**
 * The composition root of the daemon: reads the site file, creates every service once, starts them in order, reports
 * their health, and stops them in order.
 */
export { openEventOutput } from './event-output.ts';
export { startGateway } from './gateway.ts';
export type { LineWriter } from './line-writer.ts';
export { isJournal, type LogOptions, openLog, priorities } from './log.ts';
export type { ServeEvent } from './serve.result.ts';
export { serve } from './serve.ts';
export { serviceManagerOf } from './service-manager.ts';
