import { hash } from 'node:crypto';
import type { SessionRecord } from '../../model.ts';
import { recordSchema } from '../../records/schema.ts';
import type { Findings, Place } from '../findings.ts';
import type { CloudFacts } from '../model.ts';
import { isSameHash, type LocalIndex } from './local-index.ts';

/** Compares the copy of the cloud with the local records. */
export interface CloudCopy {
  /** One line, without its line end. */
  take(line: Buffer, at: Place): void;
  finish(): Omit<CloudFacts, 'path'>;
}

export interface CloudOptions {
  readonly findings: Findings;
  readonly local: LocalIndex;
  readonly serial: string | null;
  /** `prev` of the first local record; null: no record. */
  readonly firstPrev: string | null;
}

export function createCloudCopy({ findings, local, serial, firstPrev }: CloudOptions): CloudCopy {
  let [records, copies, others, older, newest] = [0, 0, 0, 0, 0];
  /** Numbers beyond the local ones that were named, so that a copy is named once. */
  const beyond = new Set<number>();

  function compare(record: SessionRecord, at: Place): void {
    const { seq } = record;
    const session = record.kind === 'refused' ? null : record.session;
    records += 1;
    newest = Math.max(newest, seq);
    const own = hashOf(record);
    if (firstPrev !== null && seq < local.first()) {
      older += 1;
      // The last record before the local ones is known by its hash.
      if (seq === local.first() - 1 && own !== firstPrev) findings.add('cloud-differs', at, { seq, session });
      return;
    }
    const indexed = local.hashOf(seq);
    if (indexed === null) {
      if (beyond.has(seq)) return;
      if (beyond.size < 10_000) beyond.add(seq);
      findings.add('missing-locally', at, { seq, session });
      return;
    }
    const isSame = isSameHash(indexed, own) && own === record.hash;
    const isFirst = local.mark(seq);
    if (!isSame) findings.add('cloud-differs', at, { seq, session });
    else if (!isFirst) copies += 1;
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
      let newer = 0;
      let gap: { from: number; to: number } | null = null;
      const nameGap = () => {
        if (gap !== null) findings.add('missing-in-cloud', null, { seq: gap.from, values: { ...gap } });
        gap = null;
      };
      if (local.first() > 0) {
        for (let seq = local.first(); seq <= local.last(); seq += 1) {
          const isMissing = local.hashOf(seq) !== null && !local.isMarked(seq);
          if (isMissing && seq > newest) newer += 1;
          else if (isMissing) gap = gap === null ? { from: seq, to: seq } : { from: gap.from, to: seq };
          else nameGap();
        }
        nameGap();
      }
      return { records, copies, others, older, newer };
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

/** By the content, in the order of gw, since a store of the cloud may order keys otherwise. */
function hashOf(record: SessionRecord): string {
  const { hash: _hash, prev, ...fields } = record;
  return hash('sha256', JSON.stringify({ ...ordered(fields), prev }).slice(0, -1), 'hex');
}

type Fields = Omit<SessionRecord, 'hash' | 'prev'> & Readonly<Record<string, unknown>>;

const orders = {
  start: ['session', 'region', 'services', 'tokenHash', 'maxS', 'replaces'],
  end: ['session', 'reason', 'detail', 'durationS', 'connections', 'bytesIn', 'bytesOut', 'channelId'],
  refused: ['reason', 'detail', 'clientMode', 'region', 'services', 'tokenHash'],
} as const satisfies Readonly<Record<SessionRecord['kind'], readonly string[]>>;

function ordered(fields: Fields): Record<string, unknown> {
  const keys = ['format', 'seq', 'at', 'serial', 'kind', ...orders[fields.kind]];
  return Object.fromEntries(keys.map((key) => [key, fields[key]]));
}
