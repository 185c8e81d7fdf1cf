/**
 * The path to a cloud endpoint: name, TCP, TLS, ALPN and application protocol, opened or probed step by step, and each
 * result in words that a customer's IT can act on. The network check and the cloud link use the same functions. A separate
 * entry point, as that of the probes.
 */
export { createConnackReader, type MqttProbe, systemCertificates, type TlsFailure } from '../probe/index.ts';
export { httpsOutcome, mqttOutcome } from './application-outcome.ts';
export { readCaFile, readSiteCa } from './ca-file.ts';
export { FULL_SIZE_ASK, lastIssuer, nameOutcome, quoted, tcpOutcome } from './dial-outcome.ts';
export {
  openPath,
  type PathConnection,
  type PathPlan,
  STEP_MS,
} from './open-path.ts';
export { type PathOutcome, pathOutcomeSchema } from './outcome.ts';
export {
  createNameCache,
  createSerialQueue,
  type NameLookup,
  type PathResult,
  type PathTools,
  probePath,
  type SerialQueue,
} from './probe-path.ts';
export { type ClockAnswer, readClock } from './read-clock.ts';
export { alpnOutcome, tlsOutcome } from './tls-outcome.ts';
