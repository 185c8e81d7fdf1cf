/**
 * What destination and source share: one WebSocket to the tunnel service from its handshake to its end, and the flow
 * control of local TCP connections through it. What the messages mean is decided by an engine.
 */
export { type Brake, createBrake, createTurns, type LocalConnection, openConnection, reset } from './connection.ts';
export { type ProxyLimits, proxyLimits } from './limits.ts';
export { withoutTokens } from './redaction.ts';
export type { Engine, EngineEnd, TunnelWire } from './serve-socket.ts';
export { type SocketEnd, serveSocket } from './serve-socket.ts';
export { openTunnelSocket, type ProxyTokens, type SocketResult, secretsOf, type TunnelSocket } from './socket.ts';
