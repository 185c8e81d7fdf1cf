import type { AuditCheck, AuditFacts, CheckDetail, CheckId, FindingCode } from './audit.result.ts';
import type { Findings } from './findings.ts';

/** With one of these a record was not judged. */
const UNJUDGED: ReadonlySet<FindingCode> = new Set([
  'changed-line',
  'unreadable-line',
  'invalid-record',
  'foreign-field',
  'missing-records',
  'missing-end',
]);

/** Without these a verdict is not reached; the others are named in it. */
const REQUIRED: ReadonlySet<CheckId> = new Set(['chain', 'end', 'pairs']);
/** What was asked for, and could not be done. */
const ASKED_FOR: ReadonlySet<CheckDetail> = new Set(['cloud-behind', 'unsearched-logs']);

export interface CheckFacts
  extends Pick<AuditFacts, 'records' | 'firstSeq' | 'lastSeq' | 'running' | 'unknownDurations' | 'cloud'> {
  readonly hasHead: boolean;
  /** First record that rotation has left, by head.json; null: not known. */
  readonly headFirstSeq: number | null;
  readonly isTorn: boolean;
  readonly isHeadOneBehind: boolean;
  /** Whether every byte of the records was searched for tokens. */
  readonly isSearched: boolean;
  readonly hasLimits: boolean;
  readonly logs: { readonly files: number; readonly isWhole: boolean } | null;
}

/** One row for each check. */
export function checksOf(facts: CheckFacts, findings: Findings): AuditCheck[] {
  const { records, firstSeq, lastSeq, headFirstSeq, running, unknownDurations, logs, cloud } = facts;

  function row(id: CheckId, open: CheckDetail | null, values: AuditCheck['values'] = {}): AuditCheck {
    const count = findings.countOf(id);
    if (count > 0) return { id, verdict: 'wrong', detail: 'findings', values: { ...values, count } };
    if (open !== null) return { id, verdict: 'not-checked', detail: open, values };
    return { id, verdict: 'ok', detail: 'done', values };
  }

  const none: CheckDetail | null = records === 0 ? 'no-records' : null;
  // What is said of all sessions is not known when records were not judged.
  const unjudged = none ?? (findings.counts().some(({ code }) => UNJUDGED.has(code)) ? 'unjudged' : null);
  const unlimited = unjudged ?? (facts.hasLimits ? null : 'no-limits');
  const beginning = (): CheckDetail | null => {
    if (firstSeq === 1) return null;
    if (headFirstSeq === null || firstSeq === null) return 'no-first';
    return headFirstSeq >= firstSeq ? 'rotated' : 'unjudged';
  };
  const endDetail = (): CheckDetail | null => {
    if (!facts.hasHead) return 'no-head';
    if (facts.isTorn) return 'torn';
    return facts.isHeadOneBehind ? 'head-one-behind' : none;
  };
  const logsDetail = (): CheckDetail | null => {
    if (logs === null) return 'no-logs';
    // A record that was not judged may have the hash of another token.
    return logs.isWhole ? unjudged : 'unsearched-logs';
  };
  const cloudDetail = (): CheckDetail | null => {
    if (cloud === null) return 'no-cloud';
    return cloud.newer > 0 ? 'cloud-behind' : null;
  };
  return [
    row('chain', none, { records }),
    row('beginning', none ?? beginning(), { first: firstSeq ?? 0 }),
    row('end', endDetail(), { last: lastSeq ?? 0 }),
    row('pairs', unjudged ?? (running === null ? null : 'running'), running ?? { session: '', at: '', untilAt: '' }),
    row('durations', unjudged ?? (unknownDurations > 0 ? 'unknown-durations' : null), { unknown: unknownDurations }),
    row('configured', unlimited),
    row('scope', unlimited),
    row('overlap', unjudged),
    row('tokens-records', none ?? (facts.isSearched ? null : 'unjudged')),
    row('tokens-logs', logsDetail(), { files: logs?.files ?? 0 }),
    row('cloud', none ?? cloudDetail(), { records: cloud?.records ?? 0, newer: cloud?.newer ?? 0 }),
  ];
}

/** 'ok' stands for the records in themselves, and for everything that was given to compare them with or to search. */
export function verdictOf(checks: readonly AuditCheck[], findings: Findings): AuditFacts['verdict'] {
  if (findings.counts().length > 0) return 'findings';
  const isOpen = ({ id, verdict, detail }: AuditCheck) =>
    verdict === 'not-checked' && (REQUIRED.has(id) || ASKED_FOR.has(detail));
  return checks.some(isOpen) ? 'not-decided' : 'ok';
}
