import { isUtf8 } from 'node:buffer';
import type { RefusalReason } from '../../model.ts';
import { recordSchema } from '../../records/schema.ts';

/** The fields of a record that the audit judges. */
export interface RecordFields {
  readonly seq: number;
  readonly at: string;
  readonly serial: string;
  readonly body:
    | {
        readonly kind: 'start';
        readonly session: string;
        readonly region: string;
        readonly services: readonly string[];
        readonly tokenHash: string;
        readonly maxS: number;
        readonly replaces: string | null;
      }
    | {
        readonly kind: 'end';
        readonly session: string;
        readonly reason: string;
        readonly durationS: number | null;
        readonly channelId: string | null;
      }
    | { readonly kind: 'refused'; readonly reason: RefusalReason; readonly tokenHash: string };
  /** Texts that came from outside or were composed: searched for tokens. */
  readonly texts: readonly string[];
}

export type FieldsRead =
  | { readonly ok: true; readonly fields: RecordFields }
  | { readonly ok: false; readonly code: 'foreign-field' | 'invalid-record'; readonly what: string };

/** Reads one line without its line end, and says what is wrong with it. */
export function readFields(line: Buffer): FieldsRead {
  if (!isUtf8(line)) return { ok: false, code: 'invalid-record', what: 'UTF-8' };
  const text = line.toString();
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { ok: false, code: 'invalid-record', what: 'JSON' };
  }
  const parsed = recordSchema.safeParse(value);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    if (issue?.code === 'unrecognized_keys') {
      return { ok: false, code: 'foreign-field', what: issue.keys.map((key) => key.slice(0, 40)).join(', ') };
    }
    return { ok: false, code: 'invalid-record', what: issue?.path.join('.').slice(0, 60) || 'format' };
  }
  // Repeated keys, another order or blanks: not the bytes that gw writes.
  if (JSON.stringify(value) !== text) return { ok: false, code: 'invalid-record', what: 'canonical bytes' };
  const { data } = parsed;
  const head = { seq: data.seq, at: data.at, serial: data.serial };
  switch (data.kind) {
    case 'start':
      return { ok: true, fields: { ...head, body: data, texts: [data.region, ...data.services] } };
    case 'end':
      return { ok: true, fields: { ...head, body: data, texts: [data.detail] } };
    case 'refused': {
      const texts = [data.detail, data.clientMode, data.region, ...data.services];
      return { ok: true, fields: { ...head, body: data, texts } };
    }
  }
}
