/** Reaching robot-side addresses: dialers, what kind of failure a failed dial is, and what the machine knows. */
export {
  type ClockAgreement,
  type ClockDifference,
  type ClockReading,
  compareClocks,
  doAgree,
  judgeOffset,
  secondsText,
} from './clock-agreement.ts';
export { foreignCoding } from './content-coding.ts';
export {
  createDirectDialer,
  DialError,
  type Dialer,
  type DialFailure,
  type DialOptions,
  dialFailureOf,
  dialFailureText,
  directDialer,
  type Endpoint,
  formatEndpoint,
  isBeforeConnection,
  type RoundTrips,
  slowLinkRemedy,
  viaOf,
} from './dialer.ts';
export { afterOverLink, linkAllowanceMs, triedOver } from './link-delay.ts';
export {
  parseListeningSockets,
  parseListeningUnixSockets,
  readListeningSockets,
  type SocketPlace,
} from './listening-sockets.ts';
export {
  type AddressRecord,
  createSharedLookup,
  type Lookup,
  nodeLookup,
  type Resolution,
  resolveHost,
  sharedSystemLookup,
  systemLookup,
} from './names.ts';
export { type Neighbour, parseNeighbourTable, readNeighbourTable } from './neighbour-table.ts';
export {
  isLoopback,
  type Reach,
  reachEndpoint,
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
