import { createPublicKey } from 'node:crypto';
import { GwError } from '../error/index.ts';
import type { Clock } from '../lifecycle/index.ts';
import {
  CA_TEXT,
  type CertificateProblem,
  CLOCK_TOLERANCE_MS,
  judgeCertificate,
  readCertificates,
} from './certificate.ts';
import type { Exchanged } from './exchange.ts';
import type { NewIdentity } from './store.ts';

/** What an answer is compared with. */
export interface ExpectedAnswer {
  /** As reported by the chassis. */
  readonly serial: string;
  /** `cloud.region` of the site file; absent without `cloud`. */
  readonly expectedRegion?: string | undefined;
  readonly clock: Pick<Clock, 'wall'>;
}

/** Verifies the answer completely. Throws CERTIFICATE_UNUSABLE. */
export async function judgeAnswer(
  { answer, serverAt }: Exchanged,
  keyPem: string,
  { serial, expectedRegion, clock }: ExpectedAnswer,
): Promise<NewIdentity> {
  const chain = readCertificates(answer.certificate);
  if (chain === undefined) throw unusable('unreadable', '`certificate` is not PEM');
  const cas = readCertificates(answer.ca);
  if (cas === undefined) throw unusable('unreadable', '`ca` is not PEM');
  const own = clock.wall();
  const at = serverAt ?? own;
  const publicKey = createPublicKey(keyPem);
  const problems = judgeCertificate(chain, { publicKey, serial, cas, at });
  const [problem] = problems;
  if (problem !== undefined) throw unfit(problems, problem, own, serverAt);
  const extensions = await extensionsOf(String(chain[0]));
  if (extensions === null) throw unusable('unreadable', 'certificate rejected: malformed extensions');
  if (extensions.isCa) throw unusable('is-ca', `certificate rejected: ${CA_TEXT}`);
  if (!extensions.allowsSignatures) {
    throw unusable('not-for-clients', 'certificate rejected: key usage does not include digitalSignature');
  }
  if (expectedRegion !== undefined && answer.region !== expectedRegion) {
    throw unusable(
      'wrong-region',
      `region mismatch: ${answer.region}, expected ${expectedRegion} by the site file`,
      'Check cloud.region in the site file; if it is right, contact the cloud operator.',
    );
  }
  const { endpoint, region } = answer;
  return { serial, endpoint, region, enrolledAt: at.toISOString(), keyPem, chain, cas };
}

function unfit(
  problems: readonly CertificateProblem[],
  { reason, text }: CertificateProblem,
  own: Date,
  serverAt: Date | null,
): GwError {
  if (reason !== 'expired' && reason !== 'not-yet-valid') {
    const reasons = problems.map((problem) => problem.reason);
    return unusable(reason, `certificate rejected: ${text}`, undefined, { reasons });
  }
  const by =
    serverAt === null
      ? `by the clock of this device, ${own.toISOString()} (no Date header in the answer)`
      : `by the clock of the endpoint, ${serverAt.toISOString()}`;
  const remedy =
    serverAt === null
      ? 'Check the clock of this device with timedatectl. If it is right, contact the cloud operator.'
      : 'Contact the cloud operator: the endpoint issues certificates that are not valid now.';
  return unusable(reason, `the certificate is not valid ${by}: ${text}`, remedy);
}

export function unusable(reason: string, text: string, remedy?: string, more: object = {}): GwError {
  return new GwError('CERTIFICATE_UNUSABLE', `Enrolment answer rejected: ${text}.`, {
    remedy,
    details: { reason, ...more },
  });
}

/** The clock of this device against the `Date` of the answer, which came over the verified connection. */
export interface ClockComparison {
  readonly verdict: 'ok' | 'wrong' | 'not-checked';
  /** UTC ISO. */
  readonly deviceAt: string;
  readonly serverAt: string | null;
  /** By how much the device is ahead (negative: behind), in milliseconds. */
  readonly aheadMs: number | null;
}

export function compareClock(own: Date, server: Date | null): ClockComparison {
  const aheadMs = server === null ? null : own.getTime() - server.getTime();
  return {
    verdict: aheadMs === null ? 'not-checked' : Math.abs(aheadMs) <= CLOCK_TOLERANCE_MS ? 'ok' : 'wrong',
    deviceAt: own.toISOString(),
    serverAt: server?.toISOString() ?? null,
    aheadMs,
  };
}

/**
 * What Node does not show of the extensions: whether the key usage allows digitalSignature, which TLS client
 * authentication requires, and whether the basic constraints say CA, which Node denies without keyCertSign. null:
 * malformed.
 */
export async function extensionsOf(
  certificatePem: string,
): Promise<{ isCa: boolean; allowsSignatures: boolean } | null> {
  await import('reflect-metadata');
  const { BasicConstraintsExtension, KeyUsageFlags, KeyUsagesExtension, X509Certificate } = await import(
    '@peculiar/x509'
  );
  try {
    const certificate = new X509Certificate(certificatePem);
    const usages = certificate.getExtension(KeyUsagesExtension);
    return {
      isCa: certificate.getExtension(BasicConstraintsExtension)?.ca === true,
      allowsSignatures: usages === null || (usages.usages & KeyUsageFlags.digitalSignature) !== 0,
    };
  } catch {
    return null;
  }
}
