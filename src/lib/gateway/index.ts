/**
 * The composition root of the daemon: reads the site file, creates every service once, starts them in order, reports
 * their health, and stops them in order.
 */
export { type Gateway, type GatewayOptions, startGateway } from './gateway.ts';
export type { LineWriter, OutputState } from './line-writer.ts';
export { type LogLevel, type LogOptions, type LogOutput, openEventOutput, openLog } from './log.ts';
export type { ServeEvent } from './serve.result.ts';
export { serve } from './serve.ts';
