/**
 * Composition root of the commands. This file exports what commands of several topics share; the work of one command is
 * at `<topic>/<verb>.ts` and is imported from there, so that a command loads its own topic only.
 */
export type { Finding } from './finding.result.ts';
export { isOutOfStep } from './map/change/running-map.ts';
export { secondHosts } from './network/check/from.ts';
export { followRemoteGw, remoteArguments, runRemoteGw } from './remote-run.ts';
export { openToolkit, type Toolkit } from './toolkit.ts';
export { throughSsh } from './via.ts';
