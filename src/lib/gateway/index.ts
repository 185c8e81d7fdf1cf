/**
 * The composition root of the daemon: reads the site file, makes every service once, starts them in order, tells how
 * they are, and stops them in order.
 */
export { startGateway } from './gateway.ts';
export type { LineWriter } from './line-writer.ts';
export { type LogOptions, openEventOutput, openLog } from './log.ts';
export type { ServeEvent } from './serve.result.ts';
export { serve } from './serve.ts';
