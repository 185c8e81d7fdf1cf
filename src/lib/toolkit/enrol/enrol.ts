import { createChassisClient } from '../../chassis/index.ts';
import { type EnrolmentStep, enrol } from '../../enrolment/index.ts';
import { readSiteCa } from '../../net/path/index.ts';
import { chassisAccess } from '../chassis/access.ts';
import type { CheckContext, Toolkit } from '../toolkit.ts';
import type { Enrol } from './enrol.result.ts';
import { enrolmentOf, readEnrolStatus } from './status.ts';

export interface EnrolDeviceOptions {
  /** Replaces the identity that is there. */
  readonly renew: boolean;
  /** Asked last, once everything that can be known without a code was found in order. */
  readonly readCode: () => Promise<string>;
}

const progressTexts: Partial<Readonly<Record<EnrolmentStep, string>>> = {
  'key-made': 'key generated on this device',
  'key-kept': 'key stored; connecting to the enrolment endpoint',
  connected: 'enrolment endpoint verified; sending the certificate request',
  sent: 'waiting for the certificate',
  verified: 'certificate verified; installing it',
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
  const trust = (await readSiteCa(caFile, 'enrolment.caFile'))?.pem;
  onProgress('reading the serial number of the chassis');
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
      const text = progressTexts[step];
      if (text !== undefined) onProgress(text);
    },
  });
  return { url, resumed, replaced, clock: compared, verifiedBy, status: await readEnrolStatus(toolkit) };
}

async function readChassis(toolkit: Toolkit, signal: AbortSignal) {
  await using client = createChassisClient(await chassisAccess(toolkit));
  return await client.identity(signal);
}
