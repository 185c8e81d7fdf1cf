import { createChassisClient } from '../../chassis/index.ts';
import { type EnrolmentStep, enrol, readCertificates } from '../../enrolment/index.ts';
import { GwError } from '../../error/index.ts';
import { chassisAccess } from '../chassis/access.ts';
import { readCaFile } from '../network/ca-file.ts';
import type { CheckContext, Toolkit } from '../toolkit.ts';
import type { Enrol } from './enrol.result.ts';
import { enrolmentOf, readEnrolStatus } from './status.ts';

export interface EnrolDeviceOptions {
  /** Replaces the identity that is there. */
  readonly renew: boolean;
  /** Asked last, once everything that can be known without a code was found in order. */
  readonly readCode: () => Promise<string>;
}

const told: Partial<Readonly<Record<EnrolmentStep, string>>> = {
  'key-made': 'a key is made on this device',
  'key-kept': 'the key is kept; asking the enrolment endpoint',
  connected: 'the enrolment endpoint is the right one; sending the certificate request',
  sent: 'waiting for the certificate',
  verified: 'the certificate belongs to key and serial number; installing it',
};

/**
 * Enrols this device, once: the serial number from the chassis itself, a key made here, a certificate for both. Throws
 * SITE_FILE_INVALID, SECRET_UNREADABLE, what reading the chassis throws (CHASSIS_WRONG_DEVICE when the site file names
 * another one), and what `enrol` throws.
 */
export async function enrolDevice(
  toolkit: Toolkit,
  { renew, readCode }: EnrolDeviceOptions,
  { signal, onProgress }: CheckContext,
): Promise<Enrol> {
  const { site, dialer, clock } = toolkit;
  const { url, caFile, identityDir } = enrolmentOf(site);
  const trust = caFile === undefined ? undefined : await readTrust(caFile);
  onProgress('asking the chassis for its serial number');
  const chassis = await readChassis(toolkit, signal);
  const {
    resumed,
    replaced,
    clock: compared,
    verifiedBy,
  } = await enrol({
    url,
    identityDir,
    trust,
    serial: chassis.serial,
    device: { model: chassis.model, software: chassis.software },
    expectedRegion: site.cloud?.region,
    renew,
    readCode,
    dialer,
    clock,
    signal,
    onStep(step) {
      const text = told[step];
      if (text !== undefined) onProgress(text);
    },
  });
  return { url, resumed, replaced, clock: compared, verifiedBy, status: await readEnrolStatus(toolkit) };
}

async function readChassis(toolkit: Toolkit, signal: AbortSignal) {
  await using client = createChassisClient(await chassisAccess(toolkit));
  return await client.identity(signal);
}

async function readTrust(caFile: string): Promise<string> {
  const refuse = (why: string, cause?: unknown) =>
    new GwError('SITE_FILE_INVALID', `enrolment.caFile names ${caFile}, and ${why}.`, {
      remedy: 'Name a file with the certificates (PEM) that the enrolment endpoint is to be trusted by.',
      cause,
    });
  const text = await readCaFile(caFile, (why, cause) => refuse(`it ${why}`, cause));
  if (readCertificates(text) === undefined) throw refuse('it holds no certificates, more than 8, or something else');
  return text;
}
