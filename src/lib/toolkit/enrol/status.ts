import {
  CLOCK_TOLERANCE_MS,
  endOfIdentity,
  type Identity,
  identityFolderProblem,
  isInstalled,
  judgeValidity,
  loadIdentity,
  type Pending,
  pendingPath,
  readCertificates,
  readPending,
} from '../../enrolment/index.ts';
import { GwError } from '../../error/index.ts';
import { type Site, sameHost } from '../../site/index.ts';
import { nameLine } from '../../x509/index.ts';
import type { Finding, Line } from '../finding.result.ts';
import { type FindingStart, notApplicable, notChecked, ok, wrong } from '../finding.ts';
import { regionLines } from '../network/check/region.ts';
import type { Toolkit } from '../toolkit.ts';
import { conclude, type Deciding } from '../verdict.ts';
import type { EnrolStatus } from './enrol.result.ts';
import { readRenewalStatus } from './renewal-status.ts';

const DAY_MS = 86_400_000;

type Enrolment = NonNullable<Site['enrolment']>;

/**
 * The identity of this device, compared with the site file and the clock. Makes no connection. A missing or broken identity
 * is a result, not an error. Throws SITE_FILE_INVALID without `enrolment` in the site file.
 */
export async function readEnrolStatus({ site, clock }: Pick<Toolkit, 'site' | 'clock'>): Promise<EnrolStatus> {
  const { identityDir } = enrolmentOf(site);
  const now = clock.wall();
  const [identity, begun, folder] = await Promise.all([
    attempt(() => loadIdentity(identityDir)),
    attempt(async () => (await readPending(identityDir)) ?? null),
    identityFolderProblem(identityDir),
  ]);
  const isLeft = identity.value !== null && begun.value !== null && (await isInstalled(identityDir, begun.value));
  const findings: Line[] = [identityFinding(identity)];
  const forOwner = { id: 'folder', title: 'The identity is readable by its owner only', spec: null };
  if (folder !== null) findings.push(wrong(forOwner, `${identityDir}: ${folder.text}`, folder.remedy));
  else if (identity.value) findings.push(ok(forOwner, identityDir));
  if (identity.value) findings.push(...identityFindings(identity.value, site, now));
  if (begun.error !== null) findings.push(wrong(unfinished, begun.error.message, begun.error.remedy));
  if (begun.value !== null) {
    findings.push(isLeft ? leftFinding(identityDir) : begunFinding(begun.value, identity.value, site));
  }
  const { renewal, findings: ofRenewal } = await readRenewalStatus(site, identity.value);
  findings.push(...ofRenewal);
  return {
    state: stateOf(identity, begun, site.chassis.serial),
    verdict: conclude(findings.map(deciding)),
    serial: site.chassis.serial,
    identityDir,
    identity: identity.value === null ? null : view(identity.value, now),
    begunAt: isLeft ? null : (begun.value?.begunAt ?? null),
    renewal,
    findings,
  };
}

function stateOf(identity: Attempt<Identity>, begun: Attempt<Pending>, serial: string): EnrolStatus['state'] {
  if (identity.error !== null || begun.error !== null) return 'broken';
  if (identity.value !== null) return identity.value.serial === serial ? 'enrolled' : 'of-another-robot';
  return begun.value === null ? 'not-enrolled' : 'begun';
}

/** The section of the site file. Throws SITE_FILE_INVALID with what to add when there is none. */
export function enrolmentOf({ path, enrolment }: Site): Enrolment {
  if (enrolment !== undefined) return enrolment;
  throw new GwError('SITE_FILE_INVALID', `No \`enrolment:\` section in ${path}.`, {
    remedy: 'Add `enrolment:` with `url: https://…`; see docs/site-file.md.',
  });
}

type Attempt<T> = { readonly value: T | null; readonly error: GwError | null };

async function attempt<T>(work: () => Promise<T | null>): Promise<Attempt<T>> {
  try {
    return { value: await work(), error: null };
  } catch (error) {
    if (error instanceof GwError && error.code === 'IDENTITY_BROKEN') return { value: null, error };
    throw error;
  }
}

function view(identity: Identity, now: Date): NonNullable<EnrolStatus['identity']> {
  const { serial, endpoint, region, enrolledAt, certificate, caPem } = identity;
  const { pem: _, ...shown } = certificate;
  const caSubjects = (readCertificates(caPem) ?? []).map(({ subject }) => nameLine(subject));
  const daysLeft = isClockWrong(identity, now) ? null : daysUntil(judgeValidity(identity, now).notAfter, now);
  return { serial, endpoint, region, enrolledAt, certificate: shown, caSubjects, daysLeft };
}

function identityFinding({ value, error }: Attempt<Identity>): Finding {
  const start = { id: 'identity', title: 'This device is enrolled', spec: 'Enrolment' };
  if (error !== null) return wrong(start, error.message, error.remedy);
  if (value === null) return wrong(start, 'not enrolled', 'Run `gw enrol` on this gateway.');
  return ok(start, `since ${value.enrolledAt}; key, certificate and CA match`);
}

function identityFindings(identity: Identity, { chassis, cloud }: Site, now: Date): Line[] {
  const again = 'Check the site file; if it is right, run `gw enrol --renew` with a new one-time code.';
  const same = (start: FindingStart, found: string, expected: string | undefined, key: string): Line => {
    if (expected === undefined) return notApplicable(start, `${found}; no ${key} in the site file to compare with`);
    return found.toLowerCase() === expected.toLowerCase()
      ? ok(start, found)
      : wrong(start, `the identity has ${found}, ${key} of the site file is ${expected}`, again);
  };
  return [
    // Capitals count in a serial number.
    identity.serial === chassis.serial
      ? ok(serialStart, identity.serial)
      : wrong(
          serialStart,
          `the identity is for ${identity.serial}, chassis.serial of the site file is ${chassis.serial}`,
          again,
        ),
    clockFinding(identity, now),
    validityFinding(identity, now),
    same(
      { id: 'region', title: 'Cloud region of the enrolment', spec: 'Network segments' },
      identity.region,
      cloud?.region,
      'cloud.region',
    ),
    ...brokerRegion(identity),
    brokerFinding(identity, cloud?.mqtt.host, again),
  ];
}

const serialStart = { id: 'serial', title: 'The identity belongs to this robot', spec: 'Addressing rules, 1' };

function brokerFinding({ endpoint }: Identity, siteHost: string | undefined, again: string): Line {
  const start = { id: 'endpoint', title: 'Its MQTT broker', spec: 'Cloud and other network paths' };
  if (siteHost === undefined) {
    return notApplicable(start, `${endpoint} is used; no cloud.mqtt.host in the site file to compare with`);
  }
  return sameHost(endpoint, siteHost)
    ? ok(start, endpoint)
    : wrong(start, `the identity has ${endpoint}, cloud.mqtt.host of the site file is ${siteHost}`, again);
}

/** A host name without a region does not decide, as in `gw network check`: only the cloud operator can confirm it. */
function deciding({ id, verdict }: Line): Deciding {
  return { verdict, need: id === 'broker-region' && verdict === 'not-checked' ? 'optional' : 'needed' };
}

/** The region in the host name of the broker, beside the region that the endpoint reported. */
function brokerRegion({ region, endpoint }: Identity): Finding[] {
  return regionLines({ cloud: { region, mqtt: { host: endpoint } } }).map(
    ({ title, spec, verdict, detail, remedy }) => {
      return { id: 'broker-region', title, spec, verdict, detail, remedy };
    },
  );
}

/** Whether a later clock is right only a comparison shows, which this line does not claim. */
function clockFinding(identity: Identity, now: Date): Finding {
  const start = { id: 'clock', title: 'The clock of this device is not before the enrolment', spec: null };
  const says = now.toISOString();
  return isClockWrong(identity, now)
    ? wrong(
        start,
        `${says}; enrolled at ${identity.enrolledAt}`,
        'Set it with timedatectl: with a wrong clock certificates cannot be verified.',
      )
    : ok(start, `${says}; \`gw network check\` compares it with the cloud`);
}

function isClockWrong({ enrolledAt }: Identity, now: Date): boolean {
  return now.getTime() + CLOCK_TOLERANCE_MS < new Date(enrolledAt).getTime();
}

function validityFinding(identity: Identity, now: Date): Finding {
  const start = { id: 'validity', title: 'Its certificate is valid', spec: 'Authentication' };
  const { notBefore, notAfter } = identity.certificate;
  const period = `${notBefore} to ${notAfter}`;
  if (isClockWrong(identity, now)) return notChecked(start, `${period}; the clock of this device is wrong`);
  const renew = 'Run `gw enrol --renew` with a new one-time code.';
  const by = `by the clock of this device (${now.toISOString()})`;
  const { problems, notAfter: firstEnd, endsFirst } = judgeValidity(identity, now);
  const [problem] = problems;
  if (problem !== undefined) {
    const remedy = problem.reason === 'expired' ? renew : 'Check the clock of this device with timedatectl.';
    return wrong(start, `${problem.text}, ${by}`, remedy);
  }
  const { status, detail, remedy } = endOfIdentity(identity, now);
  if (status !== 'ok') return wrong(start, detail, remedy ?? renew);
  const days = daysUntil(firstEnd, now);
  const end = endsFirst === null ? '' : `, until its CA (${endsFirst}) expires at ${firstEnd.toISOString()}`;
  return ok(start, `${period}, ${days} days left ${by}${end}`);
}

function daysUntil(end: Date, now: Date): number {
  return Math.floor((end.getTime() - now.getTime()) / DAY_MS);
}

const unfinished: FindingStart = { id: 'begun', title: 'No unfinished enrolment', spec: null };

/** The run was interrupted before the cleanup, which the next run does. */
function leftFinding(identityDir: string): Finding {
  return wrong(
    unfinished,
    `enrolled, but the cleanup was interrupted: ${pendingPath(identityDir)} still holds a copy of the key`,
    'Run `gw enrol` again with the chassis connected: it removes that file without asking for a code.',
  );
}

function begunFinding({ serial, begunAt }: Pending, identity: Identity | null, site: Site): Finding {
  const { chassis, path } = site;
  const kept = identity === null ? 'its key is stored' : 'the identity before it is still in use';
  const what = identity === null ? 'an enrolment' : 'a renewal';
  if (serial !== chassis.serial) {
    return wrong(
      unfinished,
      `${what} of ${serial} was started at ${begunAt}, chassis.serial of the site file is ${chassis.serial}; ${kept}`,
      `Check chassis.serial in ${path}. If this gateway now belongs to ${chassis.serial}, remove ${pendingPath(enrolmentOf(site).identityDir)}, then enrol with a one-time code for ${chassis.serial}.`,
    );
  }
  const flag = identity === null ? '' : ' --renew';
  return wrong(
    unfinished,
    `${what} was started at ${begunAt} and not finished; ${kept}`,
    `Run \`gw enrol${flag}\` again: it resumes with the stored key.`,
  );
}
