/**
 * Remote support: the support session with its two clocks, the proxy between the tunnel service and the read-only socket,
 * the wire protocol of the tunnel, and the records.
 */

export { withoutTokens } from './link/index.ts';
export {
  CLIENT_TOKEN_VARIABLE,
  MAX_SERVICES,
  type ProxyEvent,
  type ProxyExit,
  proxyExits,
  TOKEN_VARIABLE,
} from './model.ts';
export { type ProxyResult, runProxy } from './proxy/run.ts';
export type { SourceEvent, SourceListener } from './source/model.ts';
export { runSource } from './source/source.ts';
