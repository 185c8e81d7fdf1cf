import type { ChassisLink } from '../chassis/index.ts';
import type { CloudView } from '../cloud/index.ts';
import type { Dialer } from '../net/index.ts';
import { openClaim, type Site } from '../site/index.ts';
import type { RenewalOptions } from './certificate-renewal.ts';

const finalPhases: ReadonlySet<string> = new Set(['confirmed', 'rolled-back', 'rejected']);

/** What the renewal of the device certificate takes from the site file. */
export function renewalOf(
  site: Site,
  { link, dialer }: { readonly link: Pick<ChassisLink, 'snapshot'>; readonly dialer: Dialer },
): Pick<RenewalOptions, 'beforeDays' | 'identityDir' | 'claim' | 'request'> {
  const { enrolment, chassis, cloud } = site;
  return {
    beforeDays: enrolment?.renewal?.beforeDays ?? null,
    identityDir: enrolment?.identityDir ?? null,
    claim: () => openClaim(site),
    async request() {
      const { readSiteCa } = await import('../net/path/index.ts');
      const { identity } = link.snapshot();
      return {
        url: enrolment?.url ?? '',
        trust: (await readSiteCa(enrolment?.caFile, 'enrolment.caFile'))?.pem,
        serial: chassis.serial,
        device: { model: identity?.model ?? null, software: identity?.software ?? null },
        expectedRegion: cloud?.region,
        dialer,
      };
    },
  };
}

/**
 * Why no certificate is changed now, a clause; null: it may be. A release needs its link from the first byte to its
 * confirmation, and beside another chassis the identity is that of a robot that is not here.
 */
export function renewalHold(
  chassis: ReturnType<ChassisLink['state']>,
  release: Pick<NonNullable<CloudView['release']>, 'run'> | null,
): string | null {
  if (chassis.kind === 'not-connected' && chassis.failure === 'wrong-device') {
    return `another chassis answers, ${chassis.foundSerial ?? 'of an unknown serial number'}`;
  }
  const run = release?.run ?? null;
  return run === null || finalPhases.has(run.phase) ? null : `release ${run.toVersion} is in progress (${run.phase})`;
}
