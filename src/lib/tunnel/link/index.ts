/**
 * What source and destination share: the WebSocket to the tunnel service with its handshake and keep-alive, and the flow
 * control of local TCP connections through it.
 */
export { type LocalConnection, openConnection } from './connection.ts';
export { type ProxyLimits, proxyLimits } from './limits.ts';
export { openTunnelSocket, type TunnelSocket, type TunnelSocketEnd } from './tunnel-socket.ts';
export { createTurns, type Sender, type Turns } from './turns.ts';
