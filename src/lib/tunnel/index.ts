/**
 * Remote support: the support session with its two clocks, the proxy between the tunnel service and the read-only socket,
 * the wire protocol of the tunnel, and the records.
 */
export {
  CLIENT_TOKEN_VARIABLE,
  type ProxyEvent,
  type ProxyExit,
  proxyExits,
  TOKEN_VARIABLE,
} from './model.ts';
export { withoutTokens } from './proxy/redaction.ts';
export { type ProxyResult, runProxy } from './proxy/run.ts';
