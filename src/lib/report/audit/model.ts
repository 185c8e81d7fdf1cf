import type { AuditTexts } from '../texts/audit.ts';

/** The result of an audit of the support sessions, as its report needs it. */
export interface AuditReport {
  readonly verdict: 'ok' | 'findings' | 'not-decided';
  readonly serial: string | null;
  readonly records: number;
  readonly sessions: number;
  readonly firstSeq: number | null;
  readonly lastSeq: number | null;
  readonly firstAt: string | null;
  readonly lastAt: string | null;
  readonly files: readonly { readonly path: string }[];
  readonly logs: readonly string[];
  readonly refused: readonly { readonly reason: string; readonly count: number }[];
  readonly unusualRefusals: { readonly day: string; readonly count: number } | null;
  readonly uncleanShutdowns: number;
  readonly unknownDurations: number;
  readonly clockSteps: number;
  readonly firstClockStep: { readonly file: string; readonly line: number } | null;
  readonly tornParts: number;
  readonly running: { readonly session: string; readonly untilAt: string } | null;
  /** null: not compared. */
  readonly cloud: {
    readonly path: string;
    readonly records: number;
    readonly copies: number;
    readonly others: number;
    readonly older: number;
  } | null;
  readonly checks: readonly {
    readonly id: keyof AuditTexts['check'];
    readonly verdict: 'ok' | 'wrong' | 'not-checked';
    readonly detail: keyof AuditTexts['detail'];
    readonly values: Readonly<Record<string, string | number>>;
  }[];
  readonly firstBroken: { readonly file: string | null; readonly line: number | null } | null;
  readonly counts: readonly { readonly count: number }[];
  readonly findings: readonly {
    readonly code: keyof AuditTexts['findings'];
    readonly file: string | null;
    readonly line: number | null;
    readonly seq: number | null;
    readonly session: string | null;
    readonly values: Readonly<Record<string, string | number>>;
  }[];
  readonly notListed: number;
}
