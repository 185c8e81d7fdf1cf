import type { Findings } from './findings.ts';
import type { AuditCheck, AuditFacts, CheckDetail, CheckId, FindingCode } from './model.ts';

/** Findings that belong to a check. */
const codesOf: Readonly<Record<CheckId, readonly FindingCode[]>> = {
  chain: [
    'changed-line',
    'unreadable-line',
    'invalid-record',
    'foreign-field',
    'missing-records',
    'repeated-line',
    'out-of-order',
    'forked',
    'chain-broken',
    'other-serial',
  ],
  beginning: [],
  end: ['missing-end', 'end-differs', 'head-behind', 'head-invalid'],
  pairs: ['start-without-end', 'end-without-start', 'second-end', 'session-repeated', 'replaced-unknown'],
  durations: ['beyond-own-clock'],
  configured: ['beyond-configured'],
  scope: ['other-region', 'services-count', 'service-not-in-list'],
  overlap: ['overlap'],
  'tokens-records': ['token-in-records', 'token-like-in-records'],
  'tokens-logs': ['token-in-log', 'token-like-in-log'],
  cloud: ['missing-in-cloud', 'missing-locally', 'cloud-differs', 'cloud-invalid'],
};

/** With one of these a record was not judged. */
const UNJUDGED: readonly FindingCode[] = [
  'changed-line',
  'unreadable-line',
  'invalid-record',
  'foreign-field',
  'missing-records',
  'missing-end',
];

/** Without these a verdict is not reached; the others are named in it. */
const REQUIRED: ReadonlySet<CheckId> = new Set(['chain', 'end', 'pairs']);
/** What was asked for, and could not be done. */
const ASKED_FOR: ReadonlySet<CheckDetail> = new Set(['cloud-behind', 'unsearched-logs']);

export interface CheckFacts {
  readonly records: number;
  readonly firstSeq: number | null;
  readonly lastSeq: number | null;
  readonly hasHead: boolean;
  /** First record that rotation has left, by head.json; null: not known. */
  readonly headFirstSeq: number | null;
  readonly isTorn: boolean;
  readonly isHeadOneBehind: boolean;
  /** Whether every byte of the records was searched for tokens. */
  readonly isSearched: boolean;
  readonly hasLimits: boolean;
  readonly running: AuditFacts['running'];
  readonly unknownDurations: number;
  readonly logs: { readonly files: number; readonly isWhole: boolean } | null;
  readonly cloud: { readonly records: number; readonly newer: number } | null;
}

/** One row for each check. */
export function checksOf(facts: CheckFacts, findings: Findings): AuditCheck[] {
  const { records, firstSeq, lastSeq, headFirstSeq, running, unknownDurations, logs, cloud } = facts;

  function row(
    id: CheckId,
    open: CheckDetail | null,
    values: Readonly<Record<string, string | number>> = {},
  ): AuditCheck {
    const count = findings.count(...codesOf[id]);
    if (count > 0) return { id, verdict: 'wrong', detail: 'findings', values: { ...values, count } };
    if (open !== null) return { id, verdict: 'not-checked', detail: open, values };
    return { id, verdict: 'ok', detail: 'done', values };
  }

  const none: CheckDetail | null = records === 0 ? 'no-records' : null;
  // What is said of all sessions is not known when records were not judged.
  const unjudged = none ?? (findings.count(...UNJUDGED) > 0 ? 'unjudged' : null);
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
    row('pairs', unjudged ?? (running === null ? null : 'running'), {
      session: running?.session ?? '',
      at: running?.at ?? '',
      untilAt: running?.untilAt ?? '',
    }),
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
