/**
 * Enrolment of this device in the cloud: a key that never leaves the device, a certificate request with a one-time code, and
 * the atomic installation of the answer. Provides the identity, TLS credentials and a signer to other modules.
 */
export { CLOCK_TOLERANCE_MS, judgeValidity, readCertificates } from './certificate.ts';
export {
  type CertificateEnd,
  END_WARNING_DAYS,
  endOfIdentity,
  judgeEnd,
  periodsOf,
} from './ending.ts';
export { type EnrolmentStep, enrol } from './enrol.ts';
export { IDENTITY_FILE, identityFolderProblem, pendingPath } from './folder.ts';
export type { Credentials, Identity } from './model.ts';
export {
  failedRecord,
  forgetRenewal,
  installCandidate,
  keepRenewal,
  type RenewalRequest,
  type RenewalStep,
  requestRenewal,
} from './renew.ts';
export { type Candidate, candidateOf, type RenewalRecord, readRenewal, renewalPath } from './renewal-file.ts';
export {
  assertIdentityOf,
  isInstalled,
  loadIdentity,
  openSigner,
  type Pending,
  readCredentials,
  readPending,
} from './store.ts';
