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
  type ProxySettings,
  proxyExits,
  TOKEN_VARIABLE,
  TUNNEL_TARGET,
} from './model.ts';
export { type ProxyResult, type RunProxyOptions, runProxy } from './proxy/run.ts';
export type { ConnectionEndReason, SourceEvent, SourceListener, SourceSettings } from './source/model.ts';
export { runSource } from './source/source.ts';
