import type { Noise } from '../../fleet/index.ts';
import { plural } from '../../text/index.ts';
import { finding } from '../finding.ts';
import type { Rejected } from './gateway.ts';
import type { HeartbeatFinding } from './heartbeat.result.ts';
import { type Arrival, judgePeriod, MAX_UPTIME_OFF_S, PERIOD_TOLERANCE, timingOf } from './timing.ts';

/** The expectations of the site file, and the duration of the check. */
export interface ExpectedFleet {
  /** The serial of this robot. */
  readonly own: string;
  /** Serials of the other robots of the site. */
  readonly expected: readonly string[];
  /** Whether `fleet.robots` lists this robot only. */
  readonly isAlone: boolean;
  readonly broadcast: boolean;
  readonly unicast: readonly string[];
  readonly seconds: number;
}

/** A robot whose heartbeats were received, here or by the gateway. */
export interface Sender {
  readonly serial: string;
  readonly address: string;
}

export interface ReceivedFleet {
  /** Robots received during the check, without test heartbeats. */
  readonly senders: readonly Sender[];
  /** When the heartbeats of each serial arrived. */
  readonly timed: ReadonlyMap<string, readonly Arrival[]>;
  /** Serials that were received by broadcast. */
  readonly byBroadcast: ReadonlySet<string>;
  /** The senders of serials that two devices use. */
  readonly conflicts: readonly Sender[];
  readonly noise: readonly Noise[];
  /** Senders of replayed heartbeats. */
  readonly replayed: readonly (Sender & { readonly replayed: number })[];
  /** Datagrams that the gateway of this machine rejected meanwhile; null when not queried. */
  readonly rejected: Rejected | null;
  /** Whether the table of serials of the gateway is full; null: unknown. */
  readonly isTableFull: boolean | null;
  /** Whether a looped-back copy of an own broadcast was received, which proves that receiving works. */
  readonly isOwnCopySeen: boolean;
  /** The datagrams received here; all others went to the gateway. */
  readonly receives: 'everything' | 'broadcasts';
  /** Why the query of the gateway failed; null: it did not. */
  readonly queryFailure: string | null;
}

/** Findings about the heartbeats of the other robots. */
export function fleetFindings(site: ExpectedFleet, received: ReceivedFleet): HeartbeatFinding[] {
  return [
    ...robotFindings(site, received),
    strangerFinding(site, received),
    broadcastFinding(site, received),
    ...unicastFindings(site, received),
    conflictFinding(received),
    replayFinding(received),
    uptimeFinding(site, received),
    noiseFinding(received),
  ];
}

function robotFindings(site: ExpectedFleet, { senders, timed, queryFailure }: ReceivedFleet): HeartbeatFinding[] {
  const { expected, isAlone, own, seconds } = site;
  if (expected.length === 0) {
    const title = 'Heartbeats of the other robots are received';
    if (isAlone) return [finding('robots', title, 'not-applicable', `fleet.robots lists ${own} only`)];
    const detail = `fleet.robots is empty; for a site with one robot set fleet.robots: [${own}]`;
    return [finding('robots', title, 'not-checked', detail)];
  }
  return expected.flatMap((serial) => {
    const id = `robot-${serial}`;
    const title = `Heartbeat of ${serial} received`;
    const addresses = [...new Set(senders.filter((sender) => sender.serial === serial).map(({ address }) => address))];
    if (addresses.length === 0) {
      if (queryFailure !== null) return [finding(id, title, 'not-checked', queryFailureText(queryFailure))];
      const remedy = 'Check that its gw serve runs with the same key; `gw heartbeat sniff` shows what is received.';
      return [finding(id, title, 'wrong', `not received within ${seconds} s`, remedy)];
    }
    const arrivals = timed.get(serial) ?? [];
    return [
      finding(id, title, 'ok', `from ${addresses.join(', ')}`),
      periodFinding(`period-${serial}`, `Period of ${serial}`, arrivals, seconds, 'time of arrival'),
    ];
  });
}

/** Judges a period against the specification; `measured` names the source of the times. */
export function periodFinding(
  id: string,
  title: string,
  arrivals: readonly Arrival[],
  seconds: number,
  measured: string,
): HeartbeatFinding {
  const timing = timingOf(arrivals);
  const { intervals, periodMs, medianMs } = timing;
  const result =
    periodMs === null || medianMs === null
      ? `no two heartbeats within ${seconds} s`
      : `${(periodMs / 1000).toFixed(2)} s (median ${(medianMs / 1000).toFixed(2)} s) over ${plural(intervals, 'interval')} (${measured})`;
  const bound = `2 s by the specification, tolerance ±${PERIOD_TOLERANCE * 100} %`;
  const verdict = judgePeriod(timing);
  if (verdict === 'ok') return { ...finding(id, title, 'ok', `${result}; ${bound}`), spec: 'Limits' };
  if (verdict === 'wrong') {
    const remedy = 'Check load and clock of that gateway: late heartbeats make a robot look gone.';
    return { ...finding(id, title, 'wrong', `${result}; ${bound}`, remedy), spec: 'Limits' };
  }
  return {
    ...finding(id, title, 'not-checked', `${result}; not enough to decide, listen longer with --seconds`),
    spec: 'Limits',
  };
}

function strangerFinding({ expected, isAlone, own }: ExpectedFleet, received: ReceivedFleet): HeartbeatFinding {
  const { senders, queryFailure, isOwnCopySeen, rejected, isTableFull } = received;
  const title = 'Every sender with the key of the site is in fleet.robots';
  const strangers = [...new Set(senders.map(({ serial }) => serial))].filter(
    (serial) => serial !== own && !expected.includes(serial),
  );
  // Rejected serials are not listed, so the list is incomplete.
  if (isTableFull === true) {
    const count = rejected?.tableFull ?? 0;
    const detail = `the table of serials of the gateway is full; ${count} heartbeats of new serials rejected meanwhile`;
    const remedy =
      "A device with the site key sent with many serials: change the site key and empty the table (docs/heartbeat.md, 'When the table is full'). Robots of fleet.robots keep their places.";
    return finding('strangers', title, 'wrong', detail, remedy);
  }
  if (strangers.length > 0 && (expected.length > 0 || isAlone)) {
    const detail = `not in fleet.robots, but signed with the site key: ${strangers.join(', ')}`;
    const remedy = 'Add them to fleet.robots of every site file, or change the site key.';
    return finding('strangers', title, 'wrong', detail, remedy);
  }
  if (expected.length === 0 && !isAlone) {
    const detail =
      strangers.length === 0 ? 'fleet.robots is empty' : `received: ${strangers.join(', ')}; fleet.robots is empty`;
    return finding('strangers', title, 'not-checked', detail);
  }
  if (queryFailure !== null) return finding('strangers', title, 'not-checked', queryFailureText(queryFailure));
  if (senders.length === 0 && !isReceivingProven(isOwnCopySeen, rejected)) {
    return finding('strangers', title, 'not-checked', 'no heartbeat received');
  }
  return finding('strangers', title, 'ok', 'no other serial received');
}

/** Missing heartbeats prove something only if an own copy was received, or the gateway was queried. */
function isReceivingProven(isOwnCopySeen: boolean, rejected: Rejected | null): boolean {
  return isOwnCopySeen || rejected !== null;
}

function broadcastFinding(site: ExpectedFleet, { byBroadcast, senders }: ReceivedFleet): HeartbeatFinding {
  const title = 'Broadcasts of other robots are received';
  if (!site.broadcast) return finding('broadcast', title, 'not-applicable', 'fleet.broadcast is off');
  if (site.isAlone) return finding('broadcast', title, 'not-applicable', 'fleet.robots lists this robot only');
  const others = [...byBroadcast].filter((serial) => serial !== site.own);
  if (others.length > 0) return finding('broadcast', title, 'ok', `received by broadcast: ${others.sort().join(', ')}`);
  if (senders.every(({ serial }) => serial === site.own)) {
    return finding('broadcast', title, 'not-checked', 'no other robot received');
  }
  return finding(
    'broadcast',
    title,
    'wrong',
    'other robots are received, but none by broadcast',
    'Broadcasts end at the robot segment: list the other gateways in fleet.unicast, and set fleet.broadcast to false.',
  );
}

function unicastFindings(
  { unicast, seconds }: ExpectedFleet,
  { senders, queryFailure }: ReceivedFleet,
): HeartbeatFinding[] {
  return unicast.map((address) => {
    const id = `unicast-${address}`;
    const title = `Heartbeats from ${address} are received`;
    const serials = [...new Set(senders.filter((sender) => sender.address === address).map(({ serial }) => serial))];
    if (serials.length > 0) return finding(id, title, 'ok', `sent by ${serials.join(', ')}`);
    if (queryFailure !== null) return finding(id, title, 'not-checked', queryFailureText(queryFailure));
    return finding(
      id,
      title,
      'wrong',
      `none within ${seconds} s`,
      'Check that a gateway of the site has this address, that its fleet.unicast lists this gateway, and that UDP 45301 is routed between the segments.',
    );
  });
}

function conflictFinding({
  conflicts,
  senders,
  queryFailure,
  isOwnCopySeen,
  rejected,
}: ReceivedFleet): HeartbeatFinding {
  const title = 'No serial is used by two devices';
  if (conflicts.length > 0) {
    const detail = [...new Set(conflicts.map(({ serial, address }) => `${serial} from ${address}`))].join(', ');
    const remedy = 'Check for a copied site file: two robots use one serial, or heartbeats are replayed.';
    return finding('conflicts', title, 'wrong', detail, remedy);
  }
  if (queryFailure !== null) return finding('conflicts', title, 'not-checked', queryFailureText(queryFailure));
  if (senders.length === 0 && !isReceivingProven(isOwnCopySeen, rejected)) {
    return finding('conflicts', title, 'not-checked', 'no heartbeat received');
  }
  return finding('conflicts', title, 'ok', 'each serial from one device only');
}

function replayFinding({ replayed, rejected, senders, queryFailure }: ReceivedFleet): HeartbeatFinding {
  const title = 'No heartbeat is replayed';
  const seen = replayed.map((sender) => `${sender.replayed} of ${sender.serial} from ${sender.address}`);
  const counted = rejected?.replayed ?? 0;
  if (seen.length > 0 || counted > 0) {
    const detail = seen.length > 0 ? seen.join(', ') : `${counted} rejected as replayed by the gateway`;
    const remedy =
      'Replayed heartbeats, or a robot that lost its stateDir. Up to 16 s after a restart of this gateway this is normal: run the check again.';
    return finding('replays', title, 'wrong', detail, remedy);
  }
  if (queryFailure !== null) return finding('replays', title, 'not-checked', queryFailureText(queryFailure));
  if (rejected === null && senders.length === 0) {
    return finding('replays', title, 'not-checked', 'no heartbeat received');
  }
  if (rejected === null) {
    return finding('replays', title, 'not-checked', 'gw serve, which has the replay guard, does not run here');
  }
  return finding('replays', title, 'ok', 'none rejected by the replay guard of the gateway');
}

function uptimeFinding(
  { own, expected }: ExpectedFleet,
  { senders, timed, queryFailure }: ReceivedFleet,
): HeartbeatFinding {
  const title = 'The uptime of every other sender matches the arrival times';
  const serials = [...new Set(senders.map(({ serial }) => serial))].filter((serial) => serial !== own).sort();
  const offs = serials.map((serial) => ({ serial, offS: timingOf(timed.get(serial) ?? []).uptimeOffS }));
  const wrong = offs.filter(({ offS }) => offS !== null && offS > MAX_UPTIME_OFF_S);
  if (wrong.length > 0) {
    const detail = wrong.map(({ serial, offS }) => `${serial} by ${Math.round(offS ?? 0)} s`).join(', ');
    const remedy = 'Its clock was set, or it was restarted meanwhile: run the check again, then read its log.';
    return finding('uptime', title, 'wrong', `uptime differs: ${detail}`, remedy);
  }
  if (queryFailure !== null) return finding('uptime', title, 'not-checked', queryFailureText(queryFailure));
  if (serials.length === 0) {
    const verdict = expected.length === 0 ? 'not-applicable' : 'not-checked';
    return finding('uptime', title, verdict, 'no other robot received');
  }
  const unknown = offs.filter(({ offS }) => offS === null).map(({ serial }) => serial);
  if (unknown.length > 0) {
    return finding('uptime', title, 'not-checked', `only one heartbeat received from ${unknown.join(', ')}`);
  }
  return finding('uptime', title, 'ok', `within ${MAX_UPTIME_OFF_S} s for ${serials.length} of ${serials.length}`);
}

function noiseFinding(received: ReceivedFleet): HeartbeatFinding {
  const { noise, senders, receives, rejected, isOwnCopySeen, queryFailure } = received;
  const title = 'Every datagram on the port is a valid heartbeat';
  const seen = noise.map(({ address, ...counts }) => `${address ?? 'more addresses'} (${countsText(counts)})`);
  const counted = rejected === null ? '' : countsText(rejected);
  if (seen.length > 0 || counted !== '') {
    const detail = seen.length > 0 ? seen.join(', ') : `rejected by the gateway: ${counted}`;
    const remedy = 'Check for a robot with another key or of another site: `gw site check` shows the key name.';
    return finding('noise', title, 'wrong', detail, remedy);
  }
  if (receives === 'broadcasts' && rejected === null) {
    return finding('noise', title, 'not-checked', queryFailureText(queryFailure ?? 'no answer'));
  }
  if (senders.length === 0 && !isReceivingProven(isOwnCopySeen, rejected)) {
    return finding('noise', title, 'not-checked', 'no datagram received');
  }
  return finding('noise', title, 'ok', 'none rejected');
}

type RejectedCounts = Pick<Rejected, 'otherKey' | 'forged' | 'otherVersion' | 'malformed'>;

function countsText({ otherKey, forged, otherVersion, malformed }: RejectedCounts): string {
  const kinds = [
    [otherKey, 'other key'],
    [forged, 'forged'],
    [otherVersion, 'other version'],
    [malformed, 'malformed'],
  ] as const;
  const there = kinds.filter(([count]) => count > 0);
  return there.map(([count, word]) => `${count} ${word}`).join(', ');
}

export function queryFailureText(why: string): string {
  return `unicast datagrams go to the program on UDP 45301, and the query of its gateway failed: ${why}`;
}
