import type { SessionRecord } from '../../records/schema.ts';
import type { SessionEntry } from '../../view.ts';

type EndRecord = Extract<SessionRecord, { readonly kind: 'end' }>;

/** Sessions and refusals from records, newest first as the records are. An end without its start is left out. */
export function entriesOf(records: readonly SessionRecord[], limit: number): SessionEntry[] {
  const ends = new Map(records.flatMap((record) => (record.kind === 'end' ? [[record.session, record] as const] : [])));
  return records.flatMap((record) => entryOf(record, ends)).slice(0, limit);
}

/**
 * Records to read for so many entries: each has at most two records, and one older session may have ended among them.
 */
export function recordsFor(entries: number): number {
  return 2 * entries + 1;
}

function entryOf(record: SessionRecord, ends: ReadonlyMap<string, EndRecord>): SessionEntry[] {
  if (record.kind === 'end') return [];
  const { at, region, services } = record;
  if (record.kind === 'refused') {
    return [{ kind: 'refused', at, reason: record.reason, detail: record.detail, region, services }];
  }
  const { session, maxS } = record;
  const end = ends.get(session);
  return [{ kind: 'session', session, at, region, services, maxS, end: end === undefined ? null : pickEnd(end) }];
}

function pickEnd({ at, reason, detail, durationS, connections }: EndRecord) {
  return { at, reason, detail, durationS, connections };
}
