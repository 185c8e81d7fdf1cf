import { type Credentials, loadIdentity, readCredentials } from '../../../enrolment/index.ts';
import { GwError } from '../../../error/index.ts';
import type { Site } from '../../../site/index.ts';
import type { NetworkLine } from '../check.result.ts';

/** What this device can show to the broker. */
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

/** Whether the handshake with the broker can be tried at all. No line where the site file names no cloud. */
export function identityLine({ cloud }: Pick<Site, 'cloud'>, identity: KnownIdentity, now: Date): NetworkLine[] {
  if (cloud === undefined) return [];
  const line = (said: Pick<NetworkLine, 'verdict' | 'detail' | 'remedy'>): NetworkLine => ({
    id: 'identity',
    title: 'This device has its certificate',
    section: 'outward',
    seenFrom: 'gateway',
    need: 'needed',
    tried: null,
    spec: 'Enrolment',
    ask: null,
    ...said,
  });
  switch (identity.kind) {
    case 'none':
      return [
        line({ verdict: 'not-checked', detail: 'it is not enrolled', remedy: 'Enrol it before delivery: gw enrol.' }),
      ];
    case 'broken':
      return [line({ verdict: 'wrong', detail: identity.error.message, remedy: identity.error.remedy })];
    case 'enrolled': {
      const { endpoint, subject, notAfter } = identity;
      if (endpoint !== cloud.mqtt.host) {
        return [
          line({
            verdict: 'wrong',
            detail: `it was enrolled for the broker ${endpoint}, and cloud.mqtt.host of the site file is ${cloud.mqtt.host}`,
            remedy: 'Correct cloud.mqtt.host, or enrol the device again where it belongs.',
          }),
        ];
      }
      if (Date.parse(notAfter) <= now.getTime()) {
        return [
          line({
            verdict: 'wrong',
            detail: `by the clock of this gateway it ended ${notAfter} (${subject})`,
            remedy:
              'Look at the line of the clock first; if the clock is right, enrol the device again: gw enrol --renew.',
          }),
        ];
      }
      return [line({ verdict: 'ok', detail: `${subject}, until ${notAfter}`, remedy: null })];
    }
  }
}
