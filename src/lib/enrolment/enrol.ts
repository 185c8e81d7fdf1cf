import { createPrivateKey, createPublicKey, generateKeyPairSync } from 'node:crypto';
import { GwError } from '../error/index.ts';
import type { Clock } from '../lifecycle/index.ts';
import type { Dialer } from '../net/index.ts';
import type { VerifiedBy } from '../net/probe/index.ts';
import { type ClockComparison, compareClock, type ExpectedAnswer, judgeAnswer } from './answer.ts';
import { type ExchangeLimits, exchange, exchangeLimits } from './exchange.ts';
import { lockFolder, type OnStored, pendingPath } from './folder.ts';
import type { Identity } from './model.ts';
import { dropRenewal } from './renewal-file.ts';
import {
  dropPending,
  installIdentity,
  isInstalled,
  keepPending,
  loadIdentity,
  type Pending,
  readPending,
} from './store.ts';
import { codeProblem, encodeRequest, MAX_SERIAL } from './wire.ts';

/** Completed steps; a run interrupted after any of them is resumed by the next one. */
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

export interface EnrolOptions extends ExpectedAnswer {
  /** `enrolment.url` of the site file. */
  readonly url: string;
  readonly identityDir: string;
  /** Certificates (PEM) to trust for the endpoint; absent for Node's bundled list and the operating system's. */
  readonly trust?: string | undefined;
  readonly device: { readonly model: string | null; readonly software: string | null };
  /** Replaces an existing identity. */
  readonly renew: boolean;
  /** Called after all other checks, so that no code is typed in vain. */
  readonly readCode: () => Promise<string>;
  readonly dialer: Dialer;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly onStep?: ((step: EnrolmentStep) => Promise<void> | void) | undefined;
  readonly limits?: ExchangeLimits | undefined;
}

export interface Enrolled {
  readonly identity: Identity;
  /** Whether this run used the key of an interrupted one. */
  readonly resumed: boolean;
  /** Whether it replaced another identity. */
  readonly replaced: boolean;
  readonly clock: ClockComparison;
  /** What the certificate of the endpoint was verified with; null where this run did not connect. */
  readonly verifiedBy: VerifiedBy | null;
}

/**
 * Enrols this device. The key is on disk before it is used, the identity is installed atomically, and an interrupted run is
 * resumed by the next one with the same key. Throws ALREADY_ENROLLED, IDENTITY_BROKEN, ENROLMENT_RUNNING,
 * CERTIFICATE_UNUSABLE, FILE_UNWRITABLE, USAGE for an invalid code, and what `exchange` throws.
 * @source specification, 'Enrolment', 'Addressing rules' 1; everything else is a project decision
 */
export async function enrol(options: EnrolOptions): Promise<Enrolled> {
  const { identityDir, serial, renew, clock, signal, onStep = () => {} } = options;
  if (serial.length > MAX_SERIAL) {
    throw new GwError('CERTIFICATE_UNUSABLE', `Serial number too long for a certificate: ${serial}.`, {
      remedy: `A common name holds ${MAX_SERIAL} characters; this serial number has ${serial.length}.`,
    });
  }
  await using _hold = await lockFolder(identityDir);
  await onStep('folder-ready');

  const present = await presentIdentity(identityDir, renew);
  let begun = await readPending(identityDir);
  if (begun !== undefined && present !== null && (await isInstalled(identityDir, begun))) {
    // The previous run was interrupted before its last step, the cleanup.
    await dropPending(identityDir);
    await onStep('cleaned-up');
    const { renewal } = begun;
    begun = undefined;
    // A new run is needed if a renewal is requested now, or the gateway moved to another chassis.
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
    throw new GwError('USAGE', `Invalid one-time code: ${problem}.`, {
      remedy: 'Enter the code as received, without spaces.',
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

  const identity = await judgeAnswer(exchanged, pending.keyPem, options);
  await onStep('verified');
  await installIdentity(identityDir, identity, stored(onStep, 'identity'));
  await dropPending(identityDir);
  // What a person has done goes before what the gateway had begun; left by a cut, it counts for nothing.
  await dropRenewal(identityDir);
  await onStep('cleaned-up');
  const installed = await loadIdentity(identityDir);
  if (installed === null) throw new GwError('INTERNAL', 'The identity disappeared after installation.');
  return { identity: installed, resumed: begun !== undefined, replaced: present !== null, clock: compared, verifiedBy };
}

/** With `renew` a broken identity counts as none, since it is replaced. */
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

function alreadyEnrolled(present: Identity, serial: string, begun: Pending | undefined): GwError {
  if (present.serial !== serial) {
    return new GwError('ALREADY_ENROLLED', `This gateway is enrolled as ${present.serial}; its chassis is ${serial}.`, {
      remedy: 'If the gateway now belongs to this chassis: gw enrol --renew, with a new one-time code.',
    });
  }
  return new GwError('ALREADY_ENROLLED', `Already enrolled since ${present.enrolledAt}.`, {
    remedy: begun === undefined ? undefined : `Resume the renewal begun at ${begun.begunAt}: gw enrol --renew`,
  });
}

function foreignPending(identityDir: string, begun: Pending, serial: string): GwError {
  return new GwError(
    'IDENTITY_BROKEN',
    `Unfinished enrolment of ${begun.serial} in ${identityDir}, begun at ${begun.begunAt}; this chassis is ${serial}. Nothing was sent.`,
    {
      remedy: `If this gateway now belongs to ${serial}: remove ${pendingPath(identityDir)}, then run this again with a one-time code for ${serial}. If not, connect it to ${begun.serial} and run \`gw enrol\` to resume.`,
    },
  );
}

/** A new device key: EC P-256, PKCS#8 in PEM. Only its public key ever leaves this machine. */
export function makeDeviceKey(): string {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
}

/** A certificate request (PKCS#10, PEM) for the key: the subject is the serial number alone, signed with SHA-256. */
export async function makeCertificateRequest(keyPem: string, serial: string): Promise<string> {
  // Imported here only, because the library is large.
  await import('reflect-metadata');
  const { Pkcs10CertificateRequestGenerator } = await import('@peculiar/x509');
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256' } as const;
  const privateKey = createPrivateKey(keyPem);
  const pkcs8 = privateKey.export({ type: 'pkcs8', format: 'der' });
  const spki = createPublicKey(privateKey).export({ type: 'spki', format: 'der' });
  const request = await Pkcs10CertificateRequestGenerator.create({
    name: [{ CN: [serial] }],
    signingAlgorithm: { name: 'ECDSA', hash: 'SHA-256' },
    keys: {
      privateKey: await crypto.subtle.importKey('pkcs8', pkcs8, algorithm, true, ['sign']),
      publicKey: await crypto.subtle.importKey('spki', spki, algorithm, true, ['verify']),
    },
  });
  return `${request.toString('pem').trim()}\n`;
}
