import { z } from 'zod';
import { PERIOD_MS, presenceOf } from '../../fleet/index.ts';
import type { Clock } from '../../lifecycle/index.ts';
import type { OperatorAccess } from '../operator/access.ts';
import type { HeartbeatSniffEvent } from './heartbeat.result.ts';
import type { Arrival } from './timing.ts';

const count = z.int().min(0);
const sender = { serial: z.string(), address: z.string() };
const reasons = ['malformed', 'otherVersion', 'otherKey', 'forged'] as const;
const kinds = [...reasons, 'replayed', 'tableFull'] as const;
type Rejected = Record<(typeof kinds)[number], number>;

/** The fields of `GET /api/nachbarn` that the commands use. */
const viewSchema = z.looseObject({
  status: z.enum(['listening', 'not-checked']),
  robots: z.array(
    z.looseObject({
      ...sender,
      presence: z.enum(['alive', 'late', 'gone']),
      ageMs: z.number(),
      upForMs: z.number(),
      heartbeats: count,
      lost: count,
      conflictWith: z.string().nullable(),
      moving: z.boolean().nullable(),
      stopped: z.boolean().nullable(),
      batteryPercent: z.number().nullable(),
      pose: z.object({ xM: z.number(), yM: z.number(), yawDeg: z.number() }).nullable(),
      map: z.string().nullable().default(null),
      software: z.string().nullable(),
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
  lastTest: z.object({ ...sender, ageMs: z.number() }).nullable(),
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
type Robot = View['robots'][number];

/** Of one robot since the first query. */
interface Row {
  heartbeats: number;
  lost: number;
  /** The first arrival of this boot; its sequence is the count of the gateway. */
  first: Arrival;
}

type Feed = Pick<HeartbeatSniffEvent, 'datagrams' | 'senders' | 'otherHeartbeats' | 'noise' | 'gateway'>;

/** What `gw serve` of this machine receives and sends, as far as it reports it, since the first query. */
export interface GatewayFeed {
  /** Whether the gateway listens; its counts are meaningless otherwise. Throws as `gatewayAccess`. */
  query(): Promise<boolean>;
  view(): Feed;
  /** null: not queried, or restarted meanwhile, which makes its counters meaningless. */
  counts(): GatewayCounts | null;
}

/** Counters of the gateway between the first and the last query. */
export interface GatewayCounts {
  readonly last: View;
  /** Datagrams rejected in this time. */
  readonly rejected: Rejected;
  /** By destination: datagrams that the operating system accepted in this time. */
  readonly accepted: ReadonlyMap<string, number>;
}

const MIN_PERIODS = 2;

/** Half of the period of a heartbeat, so that each one is dated. */
export const QUERY_INTERVAL_MS = PERIOD_MS / 2;

/**
 * Follows the counters of the running gateway. `onArrival` dates each heartbeat that it received, and those that it sent
 * (serial null), by its own counter.
 */
export function gatewayFeed(
  access: Pick<OperatorAccess, 'ask'>,
  clock: Pick<Clock, 'monotonicMs'>,
  onArrival: (serial: string | null, arrival: Arrival) => void = () => {},
): GatewayFeed {
  const rows = new Map<string, Row>();
  const rejected = { malformed: 0, otherVersion: 0, otherKey: 0, forged: 0, replayed: 0, tableFull: 0 };
  const accepted = new Map<string, number>();
  let isRestarted = false;
  let last: { readonly view: View; readonly atMs: number } | null = null;

  /** Nothing from before the first query; the counts of a gateway that was restarted begin at 0 again. */
  function grown(before: number, now: number): number {
    if (last === null) return 0;
    if (now >= before) return now - before;
    isRestarted = true;
    return now;
  }

  function countRobot(robot: Robot, before: Robot | undefined, atMs: number): void {
    const { serial, ageMs, heartbeats, lost, upForMs } = robot;
    // The gateway's count continues across a restart of a robot; its uptime begins again.
    const arrival = { atMs: atMs - ageMs, sequence: heartbeats + lost, uptimeS: upForMs / 1000, boot: serial };
    const row = rows.get(serial) ?? { heartbeats: 0, lost: 0, first: arrival };
    rows.set(serial, row);
    // A robot that appears during the command was received since; one of the first query, before.
    row.heartbeats += grown(before?.heartbeats ?? 0, heartbeats);
    row.lost += grown(before?.lost ?? 0, lost);
    // There is no period across a boot of the robot, nor across one of the gateway, whose counts begin again.
    const isNewBoot = before !== undefined && upForMs < before.upForMs;
    if (isNewBoot || arrival.sequence < row.first.sequence) row.first = arrival;
    if (before === undefined || arrival.sequence > before.heartbeats + before.lost) onArrival(serial, arrival);
  }

  function countSent(sending: View['sending'], before: View['sending'], atMs: number): void {
    if (sending === null || sending.lastAgeMs === null) return;
    const { heartbeats, lastAgeMs, ways } = sending;
    if (before === null || grown(before.heartbeats, heartbeats) > 0) {
      onArrival(null, { atMs: atMs - lastAgeMs, sequence: heartbeats, uptimeS: null, boot: 'own' });
    }
    for (const way of before === null ? [] : ways) {
      const { accepted: earlier = 0 } = before?.ways.find(({ to, from }) => to === way.to && from === way.from) ?? {};
      accepted.set(way.to, (accepted.get(way.to) ?? 0) + Math.max(0, way.accepted - earlier));
    }
  }

  return {
    async query() {
      const view = await access.ask('GET', '/api/nachbarn', viewSchema);
      const atMs = clock.monotonicMs();
      const before = new Map(last?.view.robots.map((robot) => [robot.serial, robot]));
      for (const robot of view.robots) countRobot(robot, before.get(robot.serial), atMs);
      for (const kind of kinds) rejected[kind] += grown(last?.view.rejected?.[kind] ?? 0, view.rejected?.[kind] ?? 0);
      countSent(view.sending, last?.view.sending ?? null, atMs);
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

    counts: () => (last === null || isRestarted ? null : { last: last.view, rejected, accepted }),
  };
}

/**
 * Own broadcasts, with what only the gateway received beside them: a broadcast reaches both. A robot that is alive by its
 * unicast heartbeats alone is that of the gateway.
 */
export function withFeed(own: Feed, feed: Feed): Feed {
  const here = Map.groupBy(
    own.senders.filter(({ test }) => !test),
    ({ serial }) => serial,
  );
  const isAliveHere = (serial: string) => here.get(serial)?.some(({ presence }) => presence === 'alive') === true;
  const added = feed.senders.filter(({ serial, presence }) =>
    presence === 'alive' ? !isAliveHere(serial) : !here.has(serial),
  );
  const replaced = new Set(added.map(({ serial }) => serial));
  const kept = own.senders.filter(({ serial, test }) => test || !replaced.has(serial));
  const sumOf = (noise: Feed['noise'], reason: (typeof reasons)[number]) =>
    noise.reduce((sum, row) => sum + row[reason], 0);
  const rest = { malformed: 0, otherVersion: 0, otherKey: 0, forged: 0 };
  for (const reason of reasons) rest[reason] = Math.max(0, sumOf(feed.noise, reason) - sumOf(own.noise, reason));
  const more = Object.values(rest).reduce((sum, some) => sum + some, 0);
  const alive = added.filter(({ presence }) => presence === 'alive');
  return {
    senders: [...kept, ...added].sort((a, b) => (a.serial < b.serial ? -1 : 1)),
    datagrams: own.datagrams + more + alive.reduce((sum, { heartbeats }) => sum + heartbeats, 0),
    otherHeartbeats: Math.max(own.otherHeartbeats, feed.otherHeartbeats),
    noise: more === 0 ? own.noise : [...own.noise, { address: null, ...rest }],
    gateway: feed.gateway,
  };
}

function senderOf(robot: Robot, row: Row | undefined, atMs: number, sinceMs: number): Feed['senders'][number] {
  const { serial, address, upForMs, conflictWith, moving, stopped, batteryPercent, pose, map, software } = robot;
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
    ...{ moving, stopped, batteryPercent, pose, map, software },
  };
}
