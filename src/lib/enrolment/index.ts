/**
 * How this device gets its identity in the cloud, once: a key that is made here and never leaves, a certificate request
 * with a one-time code, and the answer installed whole or not at all. And what others need of it afterwards: the
 * identity to show, credentials for TLS, and a signer.
 */
export { CLOCK_TOLERANCE_MS, judgeValidity, readCertificates } from './certificate.ts';
export { type EnrolmentStep, enrol } from './enrol.ts';
export { identityFolderProblem, pendingPath } from './folder.ts';
export type { Credentials, Identity } from './model.ts';
export { isInstalled, loadIdentity, openSigner, type Pending, readCredentials, readPending } from './store.ts';
