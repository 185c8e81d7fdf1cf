/**
 * Network probes of the toolkit: certificate chains, TLS, MQTT, HTTPS, open sockets with their processes, connection
 * queues, path MTU. A separate entry point, so that the daemon loads only those that `net/path` uses.
 */
export { hostsOfRange, isInRange, plainAddress } from './address-range.ts';
export type { ChainFault } from './chain-fault.ts';
export {
  type ConnectionQueues,
  parseConnectionQueues,
  readConnectionQueues,
  readTcpTables,
} from './connection-queues.ts';
export {
  clockDifference,
  type HttpProbe,
  parseHttpDate,
  parseHttpHead,
  probeDate,
  probeHttps,
} from './http-probe.ts';
export { type Connack, createConnackReader, type MqttProbe, probeMqtt, returnCodeText } from './mqtt-probe.ts';
export {
  type OwnedSocket,
  parseOpenSockets,
  processName,
  readOpenSockets,
  socketInode,
} from './open-sockets.ts';
export { type ConnectionInfo, parseConnectionInfo } from './path-mtu.ts';
export {
  probeTls,
  sentChain,
  systemCertificates,
  type TlsFailure,
  type TlsProbe,
  tlsFailureOf,
  trustOf,
  type VerifiedBy,
  verifiedByText,
} from './tls-probe.ts';
