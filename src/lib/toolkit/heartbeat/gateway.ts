import { z } from 'zod';
import { GwError } from '../../error/index.ts';
import { PERIOD_MS, presenceOf } from '../../fleet/index.ts';
import type { Clock } from '../../lifecycle/index.ts';
import type { OperatorAccess } from '../operator/access.ts';
import type { HeartbeatSniffEvent } from './heartbeat.result.ts';
import type { Arrival } from './timing.ts';

const count = z.int().min(0);

/** The fields of `GET /api/nachbarn` that the check uses. */
const viewSchema = z.looseObject({
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

const feedSchema = viewSchema.extend({
  status: z.enum(['listening', 'not-checked']),
  robots: z.array(
    viewSchema.shape.robots.element.extend({
      moving: z.boolean().nullable(),
      stopped: z.boolean().nullable(),
      batteryPercent: z.number().nullable(),
      pose: z.object({ xM: z.number(), yM: z.number(), yawDeg: z.number() }).nullable(),
      software: z.string().nullable(),
    }),
  ),
  lastTest: z.object({ serial: z.string(), address: z.string(), ageMs: z.number() }).nullable(),
});
type FeedView = z.infer<typeof feedSchema>;
type Robot = FeedView['robots'][number];

/** Of one robot since the first query. */
interface Row {
  heartbeats: number;
  lost: number;
  /** The first arrival of this boot; its sequence is the count of the gateway. */
  first: { readonly atMs: number; readonly sequence: number };
}

type Feed = Pick<HeartbeatSniffEvent, 'datagrams' | 'senders' | 'otherHeartbeats' | 'noise' | 'gateway'>;

/** What `gw serve` of this machine receives, as far as it reports it, since the first query. */
export interface GatewayFeed {
  /** Whether the gateway listens; its counts are meaningless otherwise. Throws as `gatewayAccess`. */
  query(): Promise<boolean>;
  view(): Feed;
}

const kinds = ['malformed', 'otherVersion', 'otherKey', 'forged', 'replayed', 'tableFull'] as const;
const MIN_PERIODS = 2;

/** Half of the period of a heartbeat, so that each one is dated. */
export const QUERY_INTERVAL_MS = PERIOD_MS / 2;

export function gatewayFeed(access: Pick<OperatorAccess, 'ask'>, clock: Pick<Clock, 'monotonicMs'>): GatewayFeed {
  const rows = new Map<string, Row>();
  const rejected = { malformed: 0, otherVersion: 0, otherKey: 0, forged: 0, replayed: 0, tableFull: 0 };
  let last: { readonly view: FeedView; readonly atMs: number } | null = null;

  function count(robot: Robot, before: Robot | undefined, atMs: number): void {
    const arrival = { atMs: atMs - robot.ageMs, sequence: robot.heartbeats + robot.lost };
    const row = rows.get(robot.serial) ?? { heartbeats: 0, lost: 0, first: arrival };
    rows.set(robot.serial, row);
    // A robot that appears during the command was received since; one of the first query, before.
    row.heartbeats += last === null ? 0 : grown(before?.heartbeats ?? 0, robot.heartbeats);
    row.lost += last === null ? 0 : grown(before?.lost ?? 0, robot.lost);
    // There is no period across a boot of the robot, nor across one of the gateway, whose counts begin again.
    const isNewBoot = before !== undefined && robot.upForMs < before.upForMs;
    if (isNewBoot || arrival.sequence < row.first.sequence) row.first = arrival;
  }

  return {
    async query() {
      const view = await access.ask('GET', '/api/nachbarn', feedSchema);
      const atMs = clock.monotonicMs();
      const before = new Map(last?.view.robots.map((robot) => [robot.serial, robot]));
      for (const robot of view.robots) count(robot, before.get(robot.serial), atMs);
      for (const kind of kinds) {
        if (last !== null) rejected[kind] += grown(last.view.rejected?.[kind] ?? 0, view.rejected?.[kind] ?? 0);
      }
      last = { view, atMs };
      return view.status === 'listening';
    },

    view() {
      const robots = last?.view.robots ?? [];
      const sinceMs = last === null ? 0 : clock.monotonicMs() - last.atMs;
      const { replayed, tableFull, ...byReason } = rejected;
      const lastTest = last?.view.lastTest ?? null;
      const received = [...rows.values()].reduce((sum, { heartbeats }) => sum + heartbeats, 0);
      return {
        datagrams: received + kinds.reduce((sum, kind) => sum + rejected[kind], 0),
        senders: robots.map((robot) => senderOf(robot, rows.get(robot.serial), last?.atMs ?? 0, sinceMs)),
        otherHeartbeats: tableFull,
        noise: Object.values(byReason).some((some) => some > 0) ? [{ address: null, ...byReason }] : [],
        gateway: { replayed, lastTest: lastTest && { ...lastTest, ageMs: Math.round(lastTest.ageMs + sinceMs) } },
      };
    },
  };
}

/**
 * Own broadcasts, with what only the gateway received beside them: a broadcast reaches both. A robot that is alive by its
 * unicast heartbeats alone is that of the gateway.
 */
export function withFeed(own: Feed, feed: Feed): Feed {
  const isHere = (serial: string) =>
    own.senders.some((sender) => sender.serial === serial && !sender.test && sender.presence === 'alive');
  const added = feed.senders.filter(({ serial, presence }) => !isHere(serial) && presence === 'alive');
  const silent = feed.senders.filter(
    (sender) =>
      sender.presence !== 'alive' && !own.senders.some(({ serial, test }) => serial === sender.serial && !test),
  );
  const replaced = new Set(added.map(({ serial }) => serial));
  const kept = own.senders.filter(({ serial, test }) => test || !replaced.has(serial));
  const senders = [...kept, ...added, ...silent].sort((a, b) => (a.serial < b.serial ? -1 : 1));
  const rest = Object.fromEntries(
    reasons.map((reason) => [reason, Math.max(0, sumOf(feed.noise, reason) - sumOf(own.noise, reason))]),
  ) as Record<(typeof reasons)[number], number>;
  const more = Object.values(rest).reduce((sum, some) => sum + some, 0);
  return {
    senders,
    datagrams: own.datagrams + more + added.reduce((sum, { heartbeats }) => sum + heartbeats, 0),
    otherHeartbeats: Math.max(own.otherHeartbeats, feed.otherHeartbeats),
    noise: more === 0 ? own.noise : [...own.noise, { address: null, ...rest }],
    gateway: feed.gateway,
  };
}

const reasons = ['malformed', 'otherVersion', 'otherKey', 'forged'] as const;

function sumOf(noise: Feed['noise'], reason: (typeof reasons)[number]): number {
  return noise.reduce((sum, row) => sum + row[reason], 0);
}

/** Counts of a gateway that was restarted begin at 0 again. */
function grown(before: number, now: number): number {
  return now >= before ? now - before : now;
}

function senderOf(robot: Robot, row: Row | undefined, atMs: number, sinceMs: number): Feed['senders'][number] {
  const { serial, address, upForMs, conflictWith, moving, stopped, batteryPercent, pose, software } = robot;
  const ageMs = robot.ageMs + sinceMs;
  const periods = row === undefined ? 0 : robot.heartbeats + robot.lost - row.first.sequence;
  const others = conflictWith === null ? [] : [conflictWith];
  return {
    ...{ serial, address, test: false, verified: true, presence: presenceOf(ageMs), ageMs: Math.round(ageMs) },
    ...{ heartbeats: row?.heartbeats ?? 0, copies: null, replayed: null, lost: row?.lost ?? 0 },
    periodMs: row !== undefined && periods >= MIN_PERIODS ? (atMs - robot.ageMs - row.first.atMs) / periods : null,
    jitterMs: null,
    ...{ alsoFrom: others, conflictWith: others, bootCounter: null, sequence: null },
    uptimeS: Math.round(upForMs / 1000),
    ...{ moving, stopped, batteryPercent, pose, software },
  };
}
