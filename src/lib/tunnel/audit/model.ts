import type { Readable } from 'node:stream';

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
