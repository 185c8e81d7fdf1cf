/** Reaching robot-side addresses: dialers, what kind of failure a failed dial is, and what the machine knows. */
export { isInRange } from './address-range.ts';
export { type ChainLink, certificatesOf, chainOf, type Trust, trustOf } from './certificate-chain.ts';
export {
  DialError,
  type Dialer,
  type DialFailure,
  dialFailureOf,
  dialFailureText,
  directDialer,
  type Endpoint,
  viaOf,
} from './dialer.ts';
export { type HttpHead, parseHttpDate, parseHttpHead } from './http-date.ts';
export { type ClockDifference, clockDifference, type HttpProbe, probeHttps } from './http-probe.ts';
export { type ListeningSocket, parseListeningSockets, readListeningSockets } from './listening-sockets.ts';
export { type Connack, createConnackReader, type MqttProbe, probeMqtt, returnCodeText } from './mqtt-probe.ts';
export { type Neighbour, parseNeighbourTable, readNeighbourTable } from './neighbour-table.ts';
export {
  type OpenSocket,
  type OwnedSocket,
  parseOpenSockets,
  processName,
  readOpenSockets,
  type SocketOwner,
  socketInode,
} from './open-sockets.ts';
export { type ConnectionInfo, parseConnectionInfo } from './path-mtu.ts';
export {
  isLoopback,
  type Lookup,
  type Reach,
  type Resolution,
  reachEndpoint,
  resolveHost,
} from './reach.ts';
export type {
  FarExit,
  FarProcess,
  HostKeyQuestion,
  SecretQuestion,
  Ssh,
  SshOptions,
  SshPerson,
  SshTarget,
} from './ssh/model.ts';
export { probeTls, type TlsFailure, type TlsProbe, tlsFailureOf } from './tls-probe.ts';
