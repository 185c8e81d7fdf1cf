import { z } from 'zod';
import { GwError } from '../../error/index.ts';
import type { OperatorAccess } from '../operator/access.ts';
import type { Arrival } from './timing.ts';

const count = z.int().min(0);

/** The fields of `GET /api/nachbarn` that the check uses. */
export const viewSchema = z.looseObject({
  robots: z.array(
    z.looseObject({
      serial: z.string(),
      address: z.string(),
      presence: z.enum(['alive', 'late', 'gone']),
      ageMs: z.number(),
      upForMs: z.number(),
      heartbeats: count,
      lost: count,
      conflictWith: z.string().nullable(),
    }),
  ),
  rejected: z
    .looseObject({
      malformed: count,
      otherVersion: count,
      otherKey: count,
      forged: count,
      replayed: count,
      tableFull: count,
    })
    .nullable(),
  isTableFull: z.boolean().nullable(),
  ownSerialFrom: z.string().nullable(),
  sending: z
    .looseObject({
      serial: z.string(),
      heartbeats: count,
      lastAgeMs: z.number().nullable(),
      ways: z.array(
        z.looseObject({
          to: z.string(),
          from: z.string().nullable(),
          accepted: count,
          failure: z.string().nullable(),
        }),
      ),
    })
    .nullable(),
});
type View = z.infer<typeof viewSchema>;
export type Rejected = NonNullable<View['rejected']>;

/** Counters of the gateway of this machine between the first and the last query. */
export interface GatewayCounts {
  readonly last: View;
  /** Of every robot that it received in this time, by serial. */
  readonly arrivals: ReadonlyMap<string, readonly Arrival[]>;
  /** Its own heartbeats, by its own counter. */
  readonly sent: readonly Arrival[];
  /** Datagrams rejected in this time. */
  readonly rejected: Rejected;
  /** By destination: datagrams that the operating system accepted in this time. */
  readonly accepted: ReadonlyMap<string, number>;
}

/** Repeated queries that date each heartbeat. */
export interface GatewayWatch {
  /** Queries once. Throws as `operatorAccess` does. */
  query(): Promise<void>;
  /** The counters so far. Throws OPERATOR_NOT_REACHABLE when the gateway was restarted meanwhile. */
  counts(): GatewayCounts;
}

const nothing: Rejected = { malformed: 0, otherVersion: 0, otherKey: 0, forged: 0, replayed: 0, tableFull: 0 };

/** Follows the counters of the running gateway from the first query on. */
export function watchGateway(access: Pick<OperatorAccess, 'ask'>, nowMs: () => number): GatewayWatch {
  const views: View[] = [];
  const arrivals = new Map<string, Arrival[]>();
  const sent: Arrival[] = [];
  let isRestarted = false;

  function follow(list: Arrival[], arrival: Arrival): void {
    const before = list.at(-1);
    if (before === undefined || arrival.sequence > before.sequence) list.push(arrival);
    else if (arrival.sequence < before.sequence) isRestarted = true;
  }

  return {
    async query() {
      const view = await access.ask('GET', '/api/nachbarn', viewSchema);
      const atMs = nowMs();
      views.push(view);
      for (const { serial, ageMs, heartbeats, lost, upForMs } of view.robots) {
        const list = arrivals.get(serial) ?? [];
        arrivals.set(serial, list);
        const [before, uptimeS] = [list.at(-1), upForMs / 1000];
        // The gateway's count continues across a restart of a robot; its uptime begins again.
        follow(list, { atMs: atMs - ageMs, sequence: heartbeats + lost, uptimeS, boot: before?.boot ?? serial });
      }
      const { sending } = view;
      if (sending !== null && sending.lastAgeMs !== null) {
        follow(sent, { atMs: atMs - sending.lastAgeMs, sequence: sending.heartbeats, uptimeS: null, boot: 'own' });
      }
    },

    counts() {
      const [first, last] = [views[0], views.at(-1)];
      const isCountedBack = (kind: keyof Rejected) => (last?.rejected?.[kind] ?? 0) < (first?.rejected?.[kind] ?? 0);
      const kinds = Object.keys(nothing) as (keyof Rejected)[];
      if (first === undefined || last === undefined || isRestarted || kinds.some(isCountedBack)) {
        throw new GwError('OPERATOR_NOT_REACHABLE', 'The gateway was restarted during the check.', {
          remedy: 'Run the check again.',
        });
      }
      const [from, to] = [first.rejected ?? nothing, last.rejected ?? nothing];
      const acceptedBefore = acceptedOf(first);
      return {
        last,
        arrivals,
        sent,
        rejected: {
          malformed: to.malformed - from.malformed,
          otherVersion: to.otherVersion - from.otherVersion,
          otherKey: to.otherKey - from.otherKey,
          forged: to.forged - from.forged,
          replayed: to.replayed - from.replayed,
          tableFull: to.tableFull - from.tableFull,
        },
        accepted: new Map([...acceptedOf(last)].map(([way, now]) => [way, now - (acceptedBefore.get(way) ?? 0)])),
      };
    },
  };
}

function acceptedOf({ sending }: View): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { to, accepted } of sending?.ways ?? []) counts.set(to, (counts.get(to) ?? 0) + accepted);
  return counts;
}
