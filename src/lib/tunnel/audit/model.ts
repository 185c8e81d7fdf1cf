import type { Readable } from 'node:stream';
import type { RefusalReason } from '../model.ts';

/** Findings that break the chain. */
export const chainCodes = [
  'changed-line',
  'unreadable-line',
  'invalid-record',
  'foreign-field',
  'missing-records',
  'repeated-line',
  'out-of-order',
  'forked',
  'chain-broken',
  'missing-end',
  'end-differs',
] as const;

/** What is wrong, by kind. Texts in both languages are those of the report module. */
export const findingCodes = [
  ...chainCodes,
  // The end of the chain, and whose it is
  'head-behind',
  'head-invalid',
  'other-serial',
  // The sessions
  'start-without-end',
  'end-without-start',
  'second-end',
  'session-repeated',
  'replaced-unknown',
  'overlap',
  'beyond-own-clock',
  'beyond-configured',
  'other-region',
  'services-count',
  'service-not-in-list',
  // Tokens
  'token-in-records',
  'token-like-in-records',
  'token-in-log',
  'token-like-in-log',
  // The copy of the cloud
  'missing-in-cloud',
  'missing-locally',
  'cloud-differs',
  'cloud-invalid',
] as const;
export type FindingCode = (typeof findingCodes)[number];

export interface AuditFinding {
  readonly code: FindingCode;
  readonly file: string | null;
  /** From 1. */
  readonly line: number | null;
  readonly seq: number | null;
  readonly session: string | null;
  /** What its sentence names; never a token. */
  readonly values: Readonly<Record<string, string | number>>;
}

/** What was judged. */
export const checkIds = [
  'chain',
  'beginning',
  'end',
  'pairs',
  'durations',
  'configured',
  'scope',
  'overlap',
  'tokens-records',
  'tokens-logs',
  'cloud',
] as const;
export type CheckId = (typeof checkIds)[number];

export interface AuditCheck {
  readonly id: CheckId;
  readonly verdict: 'ok' | 'wrong' | 'not-checked';
  /** Which text of the verdict applies. */
  readonly detail: CheckDetail;
  readonly values: Readonly<Record<string, string | number>>;
}

export const checkDetails = [
  'done',
  'findings',
  'no-records',
  /** Records before the first present one were removed by rotation. */
  'rotated',
  /** Lines could not be read or records are missing, so that not every session was judged. */
  'unjudged',
  /** Sessions without a duration. */
  'unknown-durations',
  /** Without head.json, or of a single file. */
  'no-head',
  'no-first',
  /** One record follows the one that head.json names: gw is writing, ended between the two, or did not write it. */
  'head-one-behind',
  /** A last line without a line end: it is being written, or gw was ended in the middle of it. */
  'torn',
  /** The last session may run, by its start and its own clock. */
  'running',
  /** Without a site file. */
  'no-limits',
  'no-logs',
  /** Log files were given, and not all of them could be searched. */
  'unsearched-logs',
  'no-cloud',
  /** Records newer than the copy of the cloud. */
  'cloud-behind',
] as const;
export type CheckDetail = (typeof checkDetails)[number];

export interface AuditLimits {
  readonly serial: string;
  readonly maxMinutes: number;
  readonly services: readonly string[];
  readonly region: string;
}

export interface AuditOptions {
  /** The folder of the records, or one file of them; with `input` its name. */
  readonly records: string;
  /** Read instead. */
  readonly input?: Readable | undefined;
  /** JSON lines: records, or messages of the outbox that have one as `record`. */
  readonly cloud?: string | undefined;
  readonly logs?: readonly string[] | undefined;
  /** Of the site file; null: no site file. */
  readonly limits: AuditLimits | null;
  readonly now: Date;
  readonly signal?: AbortSignal | undefined;
}

export interface AuditFacts {
  /** 'not-decided': no finding, but a check that the verdict needs was not made. */
  readonly verdict: 'ok' | 'findings' | 'not-decided';
  readonly serial: string | null;
  readonly files: readonly { readonly path: string; readonly bytes: number }[];
  readonly records: number;
  readonly firstSeq: number | null;
  readonly lastSeq: number | null;
  readonly firstAt: string | null;
  readonly lastAt: string | null;
  readonly sessions: number;
  readonly refused: readonly { readonly reason: RefusalReason; readonly count: number }[];
  /** More than 20 on one day (UTC); null: no such day. */
  readonly unusualRefusals: { readonly day: string; readonly count: number } | null;
  readonly uncleanShutdowns: number;
  /** Ends without a duration, those after an unclean shutdown included. */
  readonly unknownDurations: number;
  /** Records with an earlier time than the one before. */
  readonly clockSteps: number;
  readonly firstClockStep: { readonly file: string; readonly line: number } | null;
  /** Files with parts of torn lines beside the records. */
  readonly tornParts: number;
  /** The last session, when it may run. */
  readonly running: { readonly session: string; readonly at: string; readonly untilAt: string } | null;
  readonly cloud: CloudFacts | null;
  readonly checks: readonly AuditCheck[];
  /** The first broken line of the chain; null: none. */
  readonly firstBroken: {
    readonly file: string | null;
    readonly line: number | null;
    readonly seq: number | null;
  } | null;
  readonly counts: readonly { readonly code: FindingCode; readonly count: number }[];
  /** In the order in which they were found, at most MAX_LISTED. */
  readonly findings: readonly AuditFinding[];
  readonly notListed: number;
}

export interface CloudFacts {
  readonly path: string;
  /** Records of this robot. */
  readonly records: number;
  /** Further copies with the same content. */
  readonly copies: number;
  /** Lines of other robots, and messages that are no session records. */
  readonly others: number;
  /** Older than the first local record. */
  readonly older: number;
  /** Local records that are newer than the copy, not compared. */
  readonly newer: number;
}

/** Of the list; the counts are complete. */
export const MAX_LISTED = 1_000;
