/** Reaching robot-side addresses: dialers, what kind of failure a failed dial is, and what the machine knows. */
export {
  createDirectDialer,
  DialError,
  type Dialer,
  type DialFailure,
  dialFailureOf,
  dialFailureText,
  directDialer,
  type Endpoint,
  formatEndpoint,
  type Lookup,
  type RoundTrips,
  slowLinkRemedy,
  systemLookup,
  viaOf,
} from './dialer.ts';
export { afterOverLink, linkAllowanceMs, triedOver } from './link-delay.ts';
export {
  parseListeningSockets,
  parseListeningUnixSockets,
  readListeningSockets,
  type SocketPlace,
} from './listening-sockets.ts';
export { type Neighbour, parseNeighbourTable, readNeighbourTable } from './neighbour-table.ts';
export {
  isLoopback,
  type Reach,
  type Resolution,
  reachEndpoint,
  resolveHost,
} from './reach.ts';
export { parseSshTarget } from './ssh/config/config.ts';
export type {
  HostKeyQuestion,
  RemoteExit,
  RemoteProcess,
  SecretQuestion,
  Ssh,
  SshOptions,
  SshPerson,
} from './ssh/model.ts';
