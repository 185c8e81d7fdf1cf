import { createHash } from 'node:crypto';
import { FIRST_PREV } from '../../../src/lib/tunnel/records/line.ts';
import type { EndReason, RecordBody, SessionRecord } from '../../../src/lib/tunnel/records/schema.ts';

export const idOf = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`;
export const tokenHashOf = (token: string) => createHash('sha256').update(token).digest('hex').slice(0, 32);

type Start = Extract<RecordBody, { kind: 'start' }>;
type End = Extract<RecordBody, { kind: 'end' }>;
type Refused = Extract<RecordBody, { kind: 'refused' }>;

export const startOf = (n: number, more: Partial<Start> = {}): RecordBody => ({
  kind: 'start',
  session: idOf(n),
  region: 'eu-central-1',
  services: ['web'],
  tokenHash: tokenHashOf(`token ${n}`),
  maxS: 3600,
  replaces: null,
  ...more,
});

export const endOf = (n: number, reason: EndReason = 'closed-by-cloud', more: Partial<End> = {}): RecordBody => ({
  kind: 'end',
  session: idOf(n),
  reason,
  detail: 'The cloud closed the tunnel.',
  durationS: 60,
  connections: 3,
  bytesIn: 1200,
  bytesOut: 90_000,
  channelId: null,
  ...more,
});

export const refusedOf = (n: number, more: Partial<Refused> = {}): RecordBody => ({
  kind: 'refused',
  reason: 'other-region',
  detail: 'The region is us-east-1 and not eu-central-1.',
  clientMode: 'destination',
  region: 'us-east-1',
  services: ['web'],
  tokenHash: tokenHashOf(`refused ${n}`),
  ...more,
});

/** Lines written from the description of the format alone, as a second opinion. */
export function linesOf(
  bodies: readonly RecordBody[],
  { seq = 1, prev = FIRST_PREV, serial = 'SN-1', at = '2026-01-02T03:04:05.000Z', stepS = 30 } = {},
): string[] {
  let last = prev;
  return bodies.map((body, index) => {
    const time = new Date(Date.parse(at) + index * stepS * 1000).toISOString();
    const head = { format: 'gw/support-session/1', seq: seq + index, at: time, serial, ...body, prev: last };
    const covered = JSON.stringify(head).replace(/\}$/, '');
    last = createHash('sha256').update(covered).digest('hex');
    return `${covered},"hash":"${last}"}\n`;
  });
}

export const recordOf = (line: string) => JSON.parse(line) as SessionRecord;
