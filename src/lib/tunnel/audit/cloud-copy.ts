import { hash } from 'node:crypto';
import { recordSchema, type SessionRecord } from '../records/schema.ts';
import type { AuditFacts } from './audit.result.ts';
import type { Findings, Place } from './findings.ts';

/** The local records by number, to compare them with the copy of the cloud. */
export type LocalRecords = Map<number, { readonly hash: string; isInCloud: boolean }>;

/** Compares the copy of the cloud with the local records. */
export interface CloudCopy {
  /** One line, without its line end. */
  take(line: Buffer, at: Place): void;
  finish(): Omit<NonNullable<AuditFacts['cloud']>, 'path'>;
}

export interface CloudOptions {
  readonly findings: Findings;
  readonly local: LocalRecords;
  readonly serial: string | null;
  /** The first local record of the chain; null: no record. */
  readonly first: { readonly seq: number; readonly prev: string } | null;
}

export function createCloudCopy({ findings, local, serial, first }: CloudOptions): CloudCopy {
  let [records, copies, others, older, newest] = [0, 0, 0, 0, 0];
  const seqs = [...local.keys()].toSorted((a, b) => a - b);
  /** Numbers beyond the local ones that were named, so that a copy is named once. */
  const beyond = new Set<number>();

  function compare(record: SessionRecord, at: Place): void {
    const { seq } = record;
    const session = record.kind === 'refused' ? null : record.session;
    records += 1;
    newest = Math.max(newest, seq);
    const own = hashOf(record);
    if (seq < (seqs[0] ?? 0)) {
      older += 1;
      // The last record before the local ones is known by its hash.
      if (seq + 1 === first?.seq && own !== first.prev) findings.add('cloud-differs', at, { seq, session });
      return;
    }
    const same = local.get(seq);
    if (same === undefined) {
      if (beyond.has(seq)) return;
      if (beyond.size < 10_000) beyond.add(seq);
      findings.add('missing-locally', at, { seq, session });
      return;
    }
    if (same.hash !== own || own !== record.hash) findings.add('cloud-differs', at, { seq, session });
    else if (same.isInCloud) copies += 1;
    same.isInCloud = true;
  }

  return {
    take(line, at) {
      const value = recordOf(line);
      if (value === 'other') {
        others += 1;
        return;
      }
      const parsed = value === 'invalid' ? null : recordSchema.safeParse(value);
      if (parsed === null || !parsed.success) findings.add('cloud-invalid', at);
      else if (serial !== null && parsed.data.serial !== serial) others += 1;
      else compare(parsed.data, at);
    },

    finish() {
      const missing = seqs.filter((seq) => local.get(seq)?.isInCloud === false);
      const gaps: { from: number; to: number }[] = [];
      for (const seq of missing.filter((each) => each <= newest)) {
        const gap = gaps.at(-1);
        if (gap !== undefined && seq === gap.to + 1) gap.to = seq;
        else gaps.push({ from: seq, to: seq });
      }
      for (const gap of gaps) findings.add('missing-in-cloud', null, { seq: gap.from, values: gap });
      return { records, copies, others, older, newer: missing.filter((seq) => seq > newest).length };
    },
  };
}

/** The record of a line: itself, or that of a message of the outbox. 'other': a message without one. */
function recordOf(line: Buffer): unknown {
  let value: unknown;
  try {
    value = JSON.parse(line.toString());
  } catch {
    return 'invalid';
  }
  if (typeof value !== 'object' || value === null) return 'invalid';
  if ('record' in value) return value.record;
  if ('kind' in value && 'prev' in value) return value;
  return 'kind' in value ? 'other' : 'invalid';
}

/** By the content, in the order of the schema, since a store of the cloud may order keys otherwise. */
function hashOf({ hash: _hash, ...covered }: SessionRecord): string {
  return hash('sha256', JSON.stringify(covered).slice(0, -1), 'hex');
}
