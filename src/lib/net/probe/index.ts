/**
 * Looking at a network for a person: certificate chains, TLS, MQTT, HTTPS, sockets with their programs, what moves on
 * connections, path MTU. A door of its own, so that the daemon does not load what only a technician asks for.
 */
export { isInRange } from './address-range.ts';
export { type ChainLink, certificatesOf, chainOf, nameLine, type Trust, trustOf } from './certificate-chain.ts';
export { type ConnectionQueues, parseConnectionQueues, readConnectionQueues } from './connection-queues.ts';
export { parseHttpDate, parseHttpHead } from './http-date.ts';
export { clockDifference, type HttpProbe, probeHttps } from './http-probe.ts';
export { type Connack, createConnackReader, type MqttProbe, probeMqtt, returnCodeText } from './mqtt-probe.ts';
export {
  type OwnedSocket,
  parseOpenSockets,
  processName,
  readOpenSockets,
  socketInode,
} from './open-sockets.ts';
export { type ConnectionInfo, parseConnectionInfo } from './path-mtu.ts';
export { probeTls, type TlsFailure, type TlsProbe, tlsFailureOf } from './tls-probe.ts';
export { type VerifiedBy, verifiedByText } from './trust-lists.ts';
