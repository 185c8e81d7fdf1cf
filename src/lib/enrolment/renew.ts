import { asGwError, GwError } from '../error/index.ts';
import type { Clock } from '../lifecycle/index.ts';
import type { Dialer } from '../net/index.ts';
import { compareClock, type ExpectedAnswer, judgeAnswer, unusable } from './answer.ts';
import { certificatesPem, installedCertificate, judgeValidity, readCertificates } from './certificate.ts';
import { makeCertificateRequest, makeDeviceKey } from './enrol.ts';
import { type Exchanged, type ExchangeLimits, exchange, exchangeLimits } from './exchange.ts';
import { lockFolder, type OnStored } from './folder.ts';
import type { Identity } from './model.ts';
import { bounded, dropRenewal, type RenewalRecord, readRenewal, writeRenewal } from './renewal-file.ts';
import { assertIdentityOf, installIdentity, loadIdentity, type NewIdentity, readCredentials } from './store.ts';
import { encodeRequest } from './wire.ts';

/** Steps of a renewal; a process that ends after any of them leaves a present identity, and the next one goes on. */
export const renewalSteps = [
  'key-draft',
  'key-placed',
  'key-kept',
  'connected',
  'sent',
  'answered',
  'verified',
  'candidate-draft',
  'candidate-placed',
  'candidate-kept',
  'identity-draft',
  'identity-placed',
  'identity-kept',
  'cleaned-up',
] as const;
export type RenewalStep = (typeof renewalSteps)[number];
type OnStep = (step: RenewalStep) => Promise<void> | void;

export interface RenewalRequest extends ExpectedAnswer {
  readonly url: string;
  readonly identityDir: string;
  /** Certificates (PEM) to trust for the endpoint; absent for Node's bundled list and the operating system's. */
  readonly trust?: string | undefined;
  readonly device: { readonly model: string | null; readonly software: string | null };
  /** A new certificate must last longer than this from now on. */
  readonly beforeMs: number;
  /** When the next request may be made after so many failed ones. */
  readonly retryAt: (failed: number) => Date;
  readonly dialer: Dialer;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly onStep?: OnStep | undefined;
  readonly limits?: ExchangeLimits | undefined;
}

/**
 * Asks the enrolment endpoint for another certificate, with the present one as TLS client certificate and without a code.
 * The new key is on disk before it is sent, and what was issued is kept beside the identity, which is not changed. A failure is
 * part of the record. Throws ENROLMENT_RUNNING, IDENTITY_BROKEN, NOT_ENROLLED, FILE_UNWRITABLE before anything was sent, and the
 * reason of the signal.
 * @source project decision, docs/enrolment.md
 */
export async function requestRenewal(options: RenewalRequest): Promise<RenewalRecord> {
  const { identityDir, serial, clock, signal, onStep = () => {} } = options;
  await using _hold = await lockFolder(identityDir);
  const present = await loadIdentity(identityDir);
  if (present === null) throw new GwError('NOT_ENROLLED', `Not enrolled: no identity in ${identityDir}.`);
  assertIdentityOf(present, serial);
  const renews = present.certificate.fingerprintSha256;
  const left = await readRenewal(identityDir);
  const before = left?.renews === renews ? left : { serial, renews, key: null, candidate: null, failed: 0 };
  const empty = { last: null, nextAt: null, ...before };
  if (empty.candidate !== null) return empty;
  const begun = { ...empty, key: empty.key ?? (await makeKey(options)) };
  // Also over a file of another identity.
  if (begun.key !== empty.key) await writeRenewal(identityDir, begun, stored(onStep, 'key'));
  try {
    const exchanged = await ask(begun.key, present, options);
    await onStep('answered');
    const identity = await judge(exchanged, begun.key.keyPem, present, options);
    await onStep('verified');
    const kept: RenewalRecord = { ...begun, candidate: keptCandidate(identity, clock), last: null, nextAt: null };
    await writeRenewal(identityDir, kept, stored(onStep, 'candidate'));
    return kept;
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    // Whatever it is, it counts: an attempt that does not would be repeated within seconds.
    const failed = failedRecord(begun, asGwError(error), options);
    // Without it the same is known until the end of this process.
    await writeRenewal(identityDir, failed).catch(() => {});
    return failed;
  }
}

/** A failed attempt of a renewal, counted. */
export function failedRecord(
  record: RenewalRecord,
  error: GwError,
  { clock, retryAt }: Pick<RenewalRequest, 'clock' | 'retryAt'>,
): RenewalRecord {
  const failed = record.failed + 1;
  // An endpoint repeats its answer for the same key.
  const isAnswerUnusable = error.code === 'CERTIFICATE_UNUSABLE' && error.details?.reason !== 'clock';
  return {
    ...record,
    key: isAnswerUnusable ? null : record.key,
    failed,
    last: {
      at: clock.wall().toISOString(),
      code: error.code,
      detail: bounded(error.message),
      remedy: bounded(error.remedy),
    },
    nextAt: retryAt(failed).toISOString(),
  };
}

/**
 * Changes the record on disk; false: it is not the one that is expected any more. Throws ENROLMENT_RUNNING, IDENTITY_BROKEN,
 * FILE_UNWRITABLE.
 */
export async function keepRenewal(identityDir: string, record: RenewalRecord): Promise<boolean> {
  await using _hold = await lockFolder(identityDir);
  const there = await readRenewal(identityDir);
  if (there?.renews !== record.renews) return false;
  await writeRenewal(identityDir, record);
  return true;
}

/**
 * Makes the candidate the identity of this device, in place of the one that it renews; false: there is no such candidate, or
 * another identity was installed since. Throws ENROLMENT_RUNNING, IDENTITY_BROKEN, FILE_UNWRITABLE.
 */
export async function installCandidate(
  identityDir: string,
  renews: string,
  onStep: OnStep = () => {},
): Promise<boolean> {
  await using _hold = await lockFolder(identityDir);
  const [present, record] = [await loadIdentity(identityDir), await readRenewal(identityDir)];
  if (present?.certificate.fingerprintSha256 !== renews || record?.renews !== renews) return false;
  const { serial, key, candidate } = record;
  if (key === null || candidate === null) return false;
  const { endpoint, region, enrolledAt, certificatePem, caPem } = candidate;
  const [chain, cas] = [readCertificates(certificatePem) ?? [], readCertificates(caPem) ?? []];
  const identity = { serial, endpoint, region, enrolledAt, keyPem: key.keyPem, chain, cas };
  await installIdentity(identityDir, identity, stored(onStep, 'identity'));
  await dropRenewal(identityDir);
  await onStep('cleaned-up');
  return true;
}

/** Removes the record with its key. Throws ENROLMENT_RUNNING, IDENTITY_BROKEN for the folder, FILE_UNWRITABLE. */
export async function forgetRenewal(identityDir: string): Promise<void> {
  await using _hold = await lockFolder(identityDir);
  await dropRenewal(identityDir);
}

async function makeKey({ serial, clock }: RenewalRequest): Promise<NonNullable<RenewalRecord['key']>> {
  const keyPem = makeDeviceKey();
  const requestPem = await makeCertificateRequest(keyPem, serial);
  return { begunAt: clock.wall().toISOString(), keyPem, requestPem };
}

async function ask(
  { requestPem }: NonNullable<RenewalRecord['key']>,
  present: Identity,
  { url, identityDir, trust, serial, device, dialer, clock, signal, limits, onStep = () => {} }: RenewalRequest,
): Promise<Exchanged> {
  const body = encodeRequest({
    ...{ serial, certificateRequest: requestPem, device },
    oneTimeCode: null,
    renewal: true,
  });
  const credentials = await readCredentials(identityDir);
  if (credentials.certificatePem !== present.certificate.pem) {
    throw new GwError('IDENTITY_BROKEN', `The identity in ${identityDir} was changed by another program.`);
  }
  return await exchange(body, null, {
    ...{ url, trust, credentials, dialer, clock, signal, limits: limits ?? exchangeLimits },
    onConnected: () => onStep('connected'),
    onSent: () => onStep('sent'),
  });
}

/** As at an enrolment; besides, the clock is compared, and the certificate must be worth the change. */
async function judge(
  exchanged: Exchanged,
  keyPem: string,
  present: Identity,
  options: RenewalRequest,
): Promise<NewIdentity> {
  const { clock, beforeMs } = options;
  const now = clock.wall();
  const { verdict, serverAt } = compareClock(now, exchanged.serverAt);
  if (verdict !== 'ok') {
    const text =
      serverAt === null
        ? 'it has no Date header to compare the clock of this gateway with'
        : `the clock of this gateway is not plausible: ${now.toISOString()}, by the endpoint it is ${serverAt}`;
    throw unusable(
      'clock',
      text,
      'Check the clock of this gateway with timedatectl; if it is right, ask the cloud operator.',
    );
  }
  const identity = await judgeAnswer(exchanged, keyPem, options);
  const certificate = installedCertificate(identity.chain);
  const end = judgeValidity({ certificate, caPem: certificatesPem(identity.cas) }, now).notAfter;
  const isLater = end > judgeValidity(present, now).notAfter;
  if (isLater && end.getTime() - now.getTime() > beforeMs) return identity;
  const why = isLater ? 'which is too soon: within enrolment.renewal.beforeDays' : 'not later than the present one';
  throw unusable(
    'too-short',
    `the new certificate, or a CA certificate above it, ends at ${end.toISOString()}, ${why}`,
    'Ask the cloud operator for certificates that last longer, or lower enrolment.renewal.beforeDays.',
  );
}

function keptCandidate({ endpoint, region, enrolledAt, chain, cas }: NewIdentity, clock: Clock) {
  return {
    ...{ keptAt: clock.wall().toISOString(), enrolledAt, endpoint, region },
    ...{ certificatePem: certificatesPem(chain), caPem: certificatesPem(cas), refusals: 0, unreachable: 0 },
  };
}

function stored(onStep: OnStep, what: 'key' | 'candidate' | 'identity'): OnStored {
  return (step) => onStep(`${what}-${step}`);
}
