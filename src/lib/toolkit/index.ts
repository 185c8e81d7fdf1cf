/**
 * Composition root of the commands. This file exports what all commands share; the work of one command is at
 * `<topic>/<verb>.ts` and is imported from there, so that a command loads its own topic only.
 */
export type { Finding, Line } from './finding.result.ts';
export { type CheckContext, openToolkit, type Toolkit } from './toolkit.ts';
