import { candidateOf, type Identity, type RenewalRecord, readRenewal, renewalPath } from '../../enrolment/index.ts';
import { GwError } from '../../error/index.ts';
import type { Site } from '../../site/index.ts';
import type { Line } from '../finding.result.ts';
import { notApplicable, notChecked, wrong } from '../finding.ts';
import type { EnrolStatus } from './enrol.result.ts';

const start = { id: 'renewal', title: 'Renewal of its certificate without a visit', spec: null };
const BY_ITSELF = '`gw serve` goes on by itself; to renew at once, run `gw enrol --renew` with a new one-time code.';

/** What `gw serve` has begun beside this identity. Never a green line: only a proof at the broker ends it. */
export async function readRenewalStatus(
  { enrolment }: Pick<Site, 'enrolment'>,
  identity: Identity | null,
): Promise<{ readonly renewal: NonNullable<EnrolStatus['renewal']> | null; readonly findings: readonly Line[] }> {
  const { identityDir = '', renewal: configured } = enrolment ?? {};
  let record: RenewalRecord | null;
  try {
    record = await readRenewal(identityDir);
  } catch (error) {
    if (!(error instanceof GwError) || error.code !== 'IDENTITY_BROKEN') throw error;
    return { renewal: null, findings: [wrong(start, error.message, error.remedy)] };
  }
  if (record === null) {
    if (configured === undefined) return { renewal: null, findings: [] };
    const detail = `nothing under way; requested by gw serve from ${configured.beforeDays} days before the end`;
    return { renewal: null, findings: [notApplicable(start, detail)] };
  }
  const isOfThis = record.renews === identity?.certificate.fingerprintSha256 && configured !== undefined;
  if (!isOfThis) {
    const detail = `${renewalPath(identityDir)} holds a key that belongs to no renewal of this identity`;
    return { renewal: null, findings: [wrong(start, detail, 'Remove that file; `gw serve` does so when it runs.')] };
  }
  return { renewal: view(record), findings: [finding(record)] };
}

function view(record: RenewalRecord): NonNullable<EnrolStatus['renewal']> {
  const { key, failed, last, nextAt, candidate } = record;
  const issued = candidateOf(record);
  return {
    state: issued !== null ? 'not-proved' : last !== null ? 'failing' : 'begun',
    begunAt: key?.begunAt ?? null,
    candidate:
      issued === null || candidate === null
        ? null
        : {
            ...{ fingerprintSha256: issued.fingerprintSha256, notAfter: issued.notAfter, keptAt: candidate.keptAt },
            failedProofs: candidate.refusals + candidate.unreachable,
          },
    ...{ failed, last: last === null ? null : { at: last.at, detail: last.detail }, nextAt },
  };
}

function finding(record: RenewalRecord): Line {
  const { candidate, last, nextAt } = record;
  const issued = candidateOf(record);
  const failure = last === null ? '' : `; failed at ${last.at}: ${last.detail.replace(/\.$/, '')}`;
  if (issued !== null && candidate !== null) {
    const detail = `a new certificate until ${issued.notAfter} is kept since ${candidate.keptAt} and not proved at the broker yet, the one before is in use${failure}`;
    return wrong(start, detail, last?.remedy ?? BY_ITSELF);
  }
  if (last === null) return notChecked(start, 'begun, and no answer is kept yet', BY_ITSELF);
  const next = nextAt === null ? '' : `; next attempt not before ${nextAt}`;
  return wrong(start, `${failure.slice(2)}${next}`, last.remedy ?? BY_ITSELF);
}
