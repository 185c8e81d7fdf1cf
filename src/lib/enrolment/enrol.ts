import { createPublicKey } from 'node:crypto';
import { GwError } from '../error/index.ts';
import type { Clock } from '../lifecycle/index.ts';
import type { Dialer } from '../net/index.ts';
import type { VerifiedBy } from '../net/probe/index.ts';
import { type CertificateProblem, CLOCK_TOLERANCE_MS, judgeCertificate, readCertificates } from './certificate.ts';
import { type Exchanged, type ExchangeLimits, exchange, exchangeLimits } from './exchange.ts';
import { holdFolder, type OnStored, pendingPath } from './folder.ts';
import type { Identity } from './model.ts';
import { allowsSignatures, makeCertificateRequest, makeDeviceKey } from './request.ts';
import {
  dropPending,
  installIdentity,
  isInstalled,
  keepPending,
  loadIdentity,
  type NewIdentity,
  type Pending,
  readPending,
} from './store.ts';
import { codeProblem, encodeRequest, MOST_SERIAL } from './wire.ts';

/** What has just been done; a run that ends after any of them is resumed by the next. */
export const enrolmentSteps = [
  'folder-ready',
  'key-made',
  'key-draft',
  'key-placed',
  'key-kept',
  'connected',
  'sent',
  'answered',
  'verified',
  'identity-draft',
  'identity-placed',
  'identity-kept',
  'cleaned-up',
] as const;
export type EnrolmentStep = (typeof enrolmentSteps)[number];

export interface EnrolOptions {
  /** `enrolment.url` of the site file. */
  readonly url: string;
  readonly identityDir: string;
  /** Certificates (PEM) to trust for the endpoint; absent for Node's bundled list and the operating system's. */
  readonly trust?: string | undefined;
  /** As the chassis itself told it. */
  readonly serial: string;
  readonly device: { readonly model: string | null; readonly software: string | null };
  /** `cloud.region` of the site file; absent where it says nothing of a cloud. */
  readonly expectedRegion?: string | undefined;
  /** Replaces the identity that is there. */
  readonly renew: boolean;
  /** Asked once everything else is known to be in order, so that nobody types a code in vain. */
  readonly readCode: () => Promise<string>;
  readonly dialer: Dialer;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly onStep?: ((step: EnrolmentStep) => Promise<void> | void) | undefined;
  readonly limits?: ExchangeLimits | undefined;
}

export interface Enrolled {
  readonly identity: Identity;
  /** Whether this run went on with the key of one that was cut. */
  readonly resumed: boolean;
  /** Whether it took the place of another one. */
  readonly replaced: boolean;
  readonly clock: ClockComparison;
  /** What the certificate of the endpoint was verified with; null where this run did not connect. */
  readonly verifiedBy: VerifiedBy | null;
}

/** The clock of this device against the `Date` of the answer, which came over the verified connection. */
interface ClockComparison {
  readonly verdict: 'ok' | 'wrong' | 'not-checked';
  /** UTC ISO. */
  readonly deviceAt: string;
  readonly serverAt: string | null;
  /** By how much the device is ahead (negative: behind), in milliseconds. */
  readonly aheadMs: number | null;
}

/**
 * Gets this device its identity. The key is on disk before anybody hears of it, the identity is put in its place whole,
 * and a run that was cut at any moment is resumed by the next one with the same key. Throws ALREADY_ENROLLED,
 * IDENTITY_BROKEN, ENROLMENT_RUNNING, CERTIFICATE_UNUSABLE, FILE_UNWRITABLE, USAGE for a code that is none, and what
 * `exchange` throws.
 * @source specification, 'Enrolment', 'Addressing rules' 1; everything else is a decision of ours
 */
export async function enrol(options: EnrolOptions): Promise<Enrolled> {
  const { identityDir, serial, renew, clock, signal, onStep = () => {} } = options;
  if (serial.length > MOST_SERIAL) {
    throw new GwError('CERTIFICATE_UNUSABLE', `No certificate can name the serial number ${serial}.`, {
      remedy: `A common name holds ${MOST_SERIAL} characters; this serial number has ${serial.length}.`,
    });
  }
  await using _hold = await holdFolder(identityDir);
  await onStep('folder-ready');

  const present = await presentIdentity(identityDir, renew);
  let begun = await readPending(identityDir);
  if (begun !== undefined && present !== null && (await isInstalled(identityDir, begun))) {
    // The run before was cut between its last two steps: nothing of it is left to ask for.
    await dropPending(identityDir);
    await onStep('cleaned-up');
    const { renewal } = begun;
    begun = undefined;
    // Unless more is wanted now than it was to do, or the gateway has moved to another chassis since.
    if (present.serial === serial && (!renew || renewal)) {
      return {
        identity: present,
        resumed: true,
        replaced: renewal,
        clock: compareClock(clock.wall(), null),
        verifiedBy: null,
      };
    }
  }
  if (present !== null && !renew) throw alreadyEnrolled(present, serial, begun);
  if (begun !== undefined && begun.serial !== serial) throw foreignPending(identityDir, begun, serial);

  const oneTimeCode = await options.readCode();
  const problem = codeProblem(oneTimeCode);
  if (problem !== undefined) {
    throw new GwError('USAGE', `This is no one-time code: ${problem}.`, {
      remedy: 'Take the code as it was given, without blanks around it.',
    });
  }
  signal.throwIfAborted();

  const pending = begun ?? (await makePending(options));
  const { trust, url, dialer, device, limits = exchangeLimits } = options;
  const body = encodeRequest({ serial, certificateRequest: pending.requestPem, oneTimeCode, renewal: renew, device });
  let verifiedBy: VerifiedBy | null = null;
  const exchanged = await exchange(body, oneTimeCode, {
    url,
    trust,
    dialer,
    clock,
    signal,
    limits,
    onConnected: (by) => {
      verifiedBy = by;
      return onStep('connected');
    },
    onSent: () => onStep('sent'),
  });
  const compared = compareClock(clock.wall(), exchanged.serverAt);
  await onStep('answered');

  const identity = await judgeAnswer(exchanged, pending, options);
  await onStep('verified');
  await installIdentity(identityDir, identity, stored(onStep, 'identity'));
  await dropPending(identityDir);
  await onStep('cleaned-up');
  const installed = await loadIdentity(identityDir);
  if (installed === null) throw new GwError('INTERNAL', 'The identity is gone right after it was installed.');
  return { identity: installed, resumed: begun !== undefined, replaced: present !== null, clock: compared, verifiedBy };
}

/** With `renew` a broken identity is as good as none: it is about to be replaced. */
async function presentIdentity(identityDir: string, renew: boolean): Promise<Identity | null> {
  try {
    return await loadIdentity(identityDir);
  } catch (error) {
    if (renew && error instanceof GwError && error.code === 'IDENTITY_BROKEN') return null;
    throw error;
  }
}

async function makePending(options: EnrolOptions): Promise<Pending> {
  const { identityDir, serial, renew: renewal, clock, onStep = () => {} } = options;
  const keyPem = makeDeviceKey();
  const requestPem = await makeCertificateRequest(keyPem, serial);
  await onStep('key-made');
  const pending = { serial, begunAt: clock.wall().toISOString(), renewal, keyPem, requestPem };
  await keepPending(identityDir, pending, stored(onStep, 'key'));
  return pending;
}

function stored(onStep: NonNullable<EnrolOptions['onStep']>, what: 'key' | 'identity'): OnStored {
  return (step) => onStep(`${what}-${step}`);
}

/** What is to be installed, once everything about it was found right. Throws CERTIFICATE_UNUSABLE. */
async function judgeAnswer(
  { answer, serverAt }: Exchanged,
  pending: Pending,
  options: EnrolOptions,
): Promise<NewIdentity> {
  const { serial, expectedRegion, clock } = options;
  const chain = readCertificates(answer.certificate);
  if (chain === undefined) throw unusable('unreadable', 'its `certificate` holds no certificates in PEM');
  const authorities = readCertificates(answer.ca);
  if (authorities === undefined) throw unusable('unreadable', 'its `ca` holds no certificates in PEM');
  const own = clock.wall();
  const at = serverAt ?? own;
  const publicKey = createPublicKey(pending.keyPem);
  const problems = judgeCertificate(chain, { publicKey, serial, authorities, at });
  const [problem] = problems;
  if (problem !== undefined) throw unfit(problems, problem, own, serverAt);
  if (!(await allowsSignatures(String(chain[0])))) {
    throw unusable('not-for-clients', "the certificate cannot be this device's: its key may not sign, as TLS needs it");
  }
  if (expectedRegion !== undefined && answer.region !== expectedRegion) {
    throw unusable(
      'wrong-region',
      `it is for the region ${answer.region}, and the site file says ${expectedRegion}`,
      'Check cloud.region in the site file; if it is right, tell the operator of the cloud.',
    );
  }
  const { endpoint, region } = answer;
  return { serial, endpoint, region, enrolledAt: at.toISOString(), keyPem: pending.keyPem, chain, authorities };
}

function unfit(
  problems: readonly CertificateProblem[],
  { reason, text }: CertificateProblem,
  own: Date,
  serverAt: Date | null,
): GwError {
  if (reason !== 'expired' && reason !== 'not-yet-valid') {
    const reasons = problems.map((problem) => problem.reason);
    return unusable(reason, `the certificate cannot be this device's: ${text}`, undefined, { reasons });
  }
  const by =
    serverAt === null
      ? `by the clock of this device, which says ${own.toISOString()} (the answer tells no time)`
      : `by the clock of the endpoint, which says ${serverAt.toISOString()}`;
  const remedy =
    serverAt === null
      ? 'First look at the clock of this device (timedatectl). If it is right, tell the operator of the cloud.'
      : 'Tell the operator of the cloud: its endpoint gives out certificates that are out of their time.';
  return unusable(reason, `the certificate is not valid ${by}: ${text}`, remedy);
}

function unusable(reason: string, text: string, remedy?: string, more: object = {}): GwError {
  return new GwError('CERTIFICATE_UNUSABLE', `The answer of the enrolment endpoint is not used: ${text}.`, {
    remedy,
    details: { reason, ...more },
  });
}

function alreadyEnrolled(present: Identity, serial: string, begun: Pending | undefined): GwError {
  if (present.serial !== serial) {
    return new GwError(
      'ALREADY_ENROLLED',
      `This gateway has the identity of ${present.serial}, and its chassis is ${serial}.`,
      { remedy: 'If the gateway now belongs to this chassis: gw enrol --renew, with a new one-time code.' },
    );
  }
  return new GwError('ALREADY_ENROLLED', `This device is enrolled already, since ${present.enrolledAt}.`, {
    remedy:
      begun === undefined
        ? undefined
        : `A renewal was begun at ${begun.begunAt} and not finished: gw enrol --renew goes on with it.`,
  });
}

function foreignPending(identityDir: string, begun: Pending, serial: string): GwError {
  return new GwError(
    'IDENTITY_BROKEN',
    `In ${identityDir} an enrolment of ${begun.serial} was begun at ${begun.begunAt} and not finished, and this chassis is ${serial}. Nothing was sent.`,
    {
      remedy: `If this gateway now belongs to ${serial}: remove ${pendingPath(identityDir)}, then run this again with a one-time code for ${serial}. If not, connect it to ${begun.serial}: there it goes on.`,
    },
  );
}

function compareClock(own: Date, server: Date | null): ClockComparison {
  const aheadMs = server === null ? null : own.getTime() - server.getTime();
  return {
    verdict: aheadMs === null ? 'not-checked' : Math.abs(aheadMs) <= CLOCK_TOLERANCE_MS ? 'ok' : 'wrong',
    deviceAt: own.toISOString(),
    serverAt: server?.toISOString() ?? null,
    aheadMs,
  };
}
