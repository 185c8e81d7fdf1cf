import { type Credentials, loadIdentity, readCredentials } from '../../../enrolment/index.ts';
import { GwError } from '../../../error/index.ts';
import { type Site, sameHost } from '../../../site/index.ts';
import type { NetworkLine } from '../network.result.ts';
import { networkLine, type Outcome } from './plans.ts';

/** The enrolled identity of this device. */
export type KnownIdentity =
  | {
      readonly kind: 'enrolled';
      readonly credentials: Credentials;
      readonly subject: string;
      readonly notAfter: string;
      readonly endpoint: string;
    }
  | { readonly kind: 'none' }
  | { readonly kind: 'broken'; readonly error: GwError };

export async function readKnownIdentity({ enrolment }: Site): Promise<KnownIdentity> {
  if (enrolment === undefined) return { kind: 'none' };
  try {
    const identity = await loadIdentity(enrolment.identityDir);
    if (identity === null) return { kind: 'none' };
    const { subject, notAfter } = identity.certificate;
    const credentials = await readCredentials(enrolment.identityDir);
    return { kind: 'enrolled', credentials, subject, notAfter, endpoint: identity.endpoint };
  } catch (error) {
    if (error instanceof GwError) return { kind: 'broken', error };
    throw error;
  }
}

/** Whether this device has a usable certificate. No line when the site file has no `cloud`. */
export function identityLine({ cloud }: Pick<Site, 'cloud'>, identity: KnownIdentity, now: Date): NetworkLine[] {
  if (cloud === undefined) return [];
  const outcome = judgeIdentity(cloud, identity, now);
  return [networkLine('outward', 'identity', 'This device has its certificate', { spec: 'Enrolment', ...outcome })];
}

function judgeIdentity({ mqtt }: NonNullable<Site['cloud']>, identity: KnownIdentity, now: Date): Outcome {
  if (identity.kind === 'none') {
    return { verdict: 'not-checked', detail: 'not enrolled', remedy: 'Enrol it before delivery: gw enrol' };
  }
  if (identity.kind === 'broken') {
    return { verdict: 'wrong', detail: identity.error.message, remedy: identity.error.remedy };
  }
  const { endpoint, subject, notAfter } = identity;
  if (mqtt.host !== undefined && !sameHost(endpoint, mqtt.host)) {
    return {
      verdict: 'wrong',
      detail: `enrolled for the broker ${endpoint}, but cloud.mqtt.host of the site file is ${mqtt.host}`,
      remedy: 'Correct cloud.mqtt.host, or enrol the device again: gw enrol --renew',
    };
  }
  if (Date.parse(notAfter) > now.getTime()) return { verdict: 'ok', detail: `${subject}, until ${notAfter}` };
  return {
    verdict: 'wrong',
    detail: `expired ${notAfter} by the clock of this gateway (${subject})`,
    remedy:
      'Check the clock of the gateway first (`timedatectl`); if it is right, enrol the device again: gw enrol --renew',
  };
}
