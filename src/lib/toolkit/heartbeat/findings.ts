import type { Noise } from '../../fleet/index.ts';
import { plural } from '../../text/index.ts';
import { finding } from '../finding.ts';
import type { HeartbeatFinding } from './check.result.ts';
import type { Rejected } from './gateway.ts';
import { type Arrival, judgePeriod, MAX_UPTIME_OFF_S, PERIOD_TOLERANCE, timingOf } from './timing.ts';

/** What the site file says of the fleet, and for how long was listened. */
export interface ExpectedFleet {
  /** The serial of this robot. */
  readonly own: string;
  /** Serials of the other robots of the site. */
  readonly expected: readonly string[];
  /** Whether a person wrote down that this robot is the only one: `fleet.robots` names it alone. */
  readonly isAlone: boolean;
  readonly broadcast: boolean;
  readonly unicast: readonly string[];
  readonly seconds: number;
}

/** A robot whose heartbeats are received, whoever received them. */
export interface Sender {
  readonly serial: string;
  readonly address: string;
}

export interface ReceivedFleet {
  /** Every robot that was received while it was listened; test heartbeats count for none. */
  readonly senders: readonly Sender[];
  /** When the heartbeats of each serial arrived. */
  readonly timed: ReadonlyMap<string, readonly Arrival[]>;
  /** Serials that were received by broadcast. */
  readonly byBroadcast: ReadonlySet<string>;
  /** The senders of every serial that two devices send with. */
  readonly conflicts: readonly Sender[];
  readonly noise: readonly Noise[];
  /** Senders of heartbeats that were not newer than one before. */
  readonly replayed: readonly (Sender & { readonly replayed: number })[];
  /** What the gateway of this machine refused meanwhile; null where it was not asked. */
  readonly rejected: Rejected | null;
  /** Whether the gateway of this machine refuses new serials that are not in `fleet.robots`; null: not known. */
  readonly isTableFull: boolean | null;
  /** Whether a looped-back copy of an own broadcast arrived, so that receiving works. */
  readonly isOwnCopySeen: boolean;
  /** What was listened to here; everything else went to the gateway. */
  readonly hears: 'everything' | 'broadcasts';
  /** Why the gateway of this machine was not asked, when it has the port and could not be. */
  readonly notAsked: string | null;
}

/** What is right and wrong with the heartbeats of the other robots, as far as they could be received here. */
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

function robotFindings(site: ExpectedFleet, { senders, timed, notAsked }: ReceivedFleet): HeartbeatFinding[] {
  const { expected, isAlone, own, seconds } = site;
  if (expected.length === 0) {
    const title = 'The other robots of the site are received';
    if (isAlone) return [finding('robots', title, 'not-applicable', `fleet.robots names ${own} alone`)];
    const detail = `fleet.robots names no robot; for a site with this robot alone write fleet.robots: [${own}]`;
    return [finding('robots', title, 'not-checked', detail)];
  }
  return expected.flatMap((serial) => {
    const id = `robot-${serial}`;
    const title = `Heartbeat of ${serial} received`;
    const addresses = [...new Set(senders.filter((sender) => sender.serial === serial).map(({ address }) => address))];
    if (addresses.length === 0) {
      if (notAsked !== null) return [finding(id, title, 'not-checked', notAskedText(notAsked))];
      const remedy = 'See that its gw serve runs with the same key, and what is received at all: gw heartbeat sniff.';
      return [finding(id, title, 'wrong', `not received within ${seconds} s`, remedy)];
    }
    const arrivals = timed.get(serial) ?? [];
    return [
      finding(id, title, 'ok', `from ${addresses.join(', ')}`),
      periodFinding(`period-${serial}`, `Period of ${serial}`, arrivals, seconds, 'time of arrival'),
    ];
  });
}

/** Judges a period against the specification; `measured` says what was dated. */
export function periodFinding(
  id: string,
  title: string,
  arrivals: readonly Arrival[],
  seconds: number,
  measured: string,
): HeartbeatFinding {
  const timing = timingOf(arrivals);
  const { intervals, periodMs, medianMs } = timing;
  const said =
    periodMs === null || medianMs === null
      ? `no two heartbeats within ${seconds} s`
      : `${(periodMs / 1000).toFixed(2)} s (median ${(medianMs / 1000).toFixed(2)} s) over ${plural(intervals, 'interval')} (${measured})`;
  const bound = `2 s by the specification, ${PERIOD_TOLERANCE * 100} % either way allowed here`;
  const verdict = judgePeriod(timing);
  if (verdict === 'ok') return { ...finding(id, title, 'ok', `${said}; ${bound}`), spec: 'Limits' };
  if (verdict === 'wrong') {
    const remedy =
      'Look at the load and at the clock of that gateway: a heartbeat that is late looks like a robot that is gone.';
    return { ...finding(id, title, 'wrong', `${said}; ${bound}`, remedy), spec: 'Limits' };
  }
  return {
    ...finding(id, title, 'not-checked', `${said}, which does not decide it: listen longer with --seconds`),
    spec: 'Limits',
  };
}

function strangerFinding({ expected, isAlone, own }: ExpectedFleet, received: ReceivedFleet): HeartbeatFinding {
  const { senders, notAsked, isOwnCopySeen, rejected, isTableFull } = received;
  const title = 'Every sender with the key of the site is in fleet.robots';
  const strangers = [...new Set(senders.map(({ serial }) => serial))].filter(
    (serial) => serial !== own && !expected.includes(serial),
  );
  // Refused ones are in no list: without them it would look as if nobody else had the key.
  if (isTableFull === true) {
    const refused = rejected?.noRoom ?? 0;
    const detail = `the table of serials of the gateway is full; ${refused} heartbeats of further serials were refused meanwhile`;
    const remedy =
      "A device with the key of the site sent under many serials: give the site another key and empty the table (docs/heartbeat.md, 'When the table is full'). Robots of fleet.robots keep their places.";
    return finding('strangers', title, 'wrong', detail, remedy);
  }
  if (strangers.length > 0 && (expected.length > 0 || isAlone)) {
    const [has, is] = strangers.length === 1 ? ['has', 'is'] : ['have', 'are'];
    const detail = `${strangers.join(', ')} ${has} the key and ${is} not in fleet.robots`;
    const remedy = 'Add them to fleet.robots of every site file, or give the site another key.';
    return finding('strangers', title, 'wrong', detail, remedy);
  }
  if (expected.length === 0 && !isAlone) {
    const detail =
      strangers.length === 0
        ? 'fleet.robots names no robot'
        : `received: ${strangers.join(', ')}; fleet.robots names no robot`;
    return finding('strangers', title, 'not-checked', detail);
  }
  if (notAsked !== null) return finding('strangers', title, 'not-checked', notAskedText(notAsked));
  if (senders.length === 0 && !isReceivingProven(isOwnCopySeen, rejected)) {
    return finding('strangers', title, 'not-checked', 'no heartbeat was received at all');
  }
  return finding('strangers', title, 'ok', 'no other serial was received with it');
}

/** Silence means something where an own copy arrived, or where the gateway listens and was asked. */
function isReceivingProven(isOwnCopySeen: boolean, rejected: Rejected | null): boolean {
  return isOwnCopySeen || rejected !== null;
}

function broadcastFinding(site: ExpectedFleet, { byBroadcast, senders }: ReceivedFleet): HeartbeatFinding {
  const title = 'Broadcasts of other robots arrive';
  if (!site.broadcast) return finding('broadcast', title, 'not-applicable', 'fleet.broadcast is off');
  if (site.isAlone) return finding('broadcast', title, 'not-applicable', 'fleet.robots names this robot alone');
  const others = [...byBroadcast].filter((serial) => serial !== site.own);
  if (others.length > 0) return finding('broadcast', title, 'ok', `received by broadcast: ${others.sort().join(', ')}`);
  if (senders.every(({ serial }) => serial === site.own)) {
    return finding('broadcast', title, 'not-checked', 'no other robot was received at all');
  }
  return finding(
    'broadcast',
    title,
    'wrong',
    'other robots are received, and none of them by broadcast',
    'Broadcasts end at the robot segment: name the other gateways in fleet.unicast, and set fleet.broadcast to false.',
  );
}

function unicastFindings(
  { unicast, seconds }: ExpectedFleet,
  { senders, notAsked }: ReceivedFleet,
): HeartbeatFinding[] {
  return unicast.map((address) => {
    const id = `unicast-${address}`;
    const title = `Heartbeats from ${address} are received`;
    const serials = [...new Set(senders.filter((sender) => sender.address === address).map(({ serial }) => serial))];
    if (serials.length > 0) return finding(id, title, 'ok', `sent by ${serials.join(', ')}`);
    if (notAsked !== null) return finding(id, title, 'not-checked', notAskedText(notAsked));
    return finding(
      id,
      title,
      'wrong',
      `none within ${seconds} s`,
      'See that a gateway of the site has this address, that this one stands in its fleet.unicast, and that the route between the segments lets UDP 45301 through.',
    );
  });
}

function conflictFinding({ conflicts, senders, notAsked, isOwnCopySeen, rejected }: ReceivedFleet): HeartbeatFinding {
  const title = 'No serial is used by two devices';
  if (conflicts.length > 0) {
    const said = [...new Set(conflicts.map(({ serial, address }) => `${serial} from ${address}`))].join(', ');
    const remedy = 'Two robots are set up with one serial (a copied site file?), or a recording is replayed.';
    return finding('conflicts', title, 'wrong', said, remedy);
  }
  if (notAsked !== null) return finding('conflicts', title, 'not-checked', notAskedText(notAsked));
  if (senders.length === 0 && !isReceivingProven(isOwnCopySeen, rejected)) {
    return finding('conflicts', title, 'not-checked', 'no heartbeat was received at all');
  }
  return finding('conflicts', title, 'ok', 'every serial was received from one device');
}

function replayFinding({ replayed, rejected, senders, notAsked }: ReceivedFleet): HeartbeatFinding {
  const title = 'No heartbeat is replayed';
  const seen = replayed.map((sender) => `${sender.replayed} of ${sender.serial} from ${sender.address}`);
  const counted = rejected?.replayed ?? 0;
  if (seen.length > 0 || counted > 0) {
    const said = seen.length > 0 ? seen.join(', ') : `the gateway refused ${counted} as replayed`;
    const remedy =
      'A recording, or a robot whose stateDir was lost. Within 16 s of a restart of this gateway it ends by itself: check again.';
    return finding('replays', title, 'wrong', said, remedy);
  }
  if (notAsked !== null) return finding('replays', title, 'not-checked', notAskedText(notAsked));
  if (rejected === null && senders.length === 0) {
    return finding('replays', title, 'not-checked', 'no heartbeat was received at all');
  }
  if (rejected === null) {
    return finding('replays', title, 'not-checked', 'the replay guard belongs to gw serve, which does not run here');
  }
  return finding('replays', title, 'ok', 'the replay guard of the gateway refused none meanwhile');
}

function uptimeFinding(
  { own, expected }: ExpectedFleet,
  { senders, timed, notAsked }: ReceivedFleet,
): HeartbeatFinding {
  const title = 'The clock of every other sender runs evenly (uptime against arrival)';
  const serials = [...new Set(senders.map(({ serial }) => serial))].filter((serial) => serial !== own).sort();
  const offs = serials.map((serial) => ({ serial, offS: timingOf(timed.get(serial) ?? []).uptimeOffS }));
  const wrong = offs.filter(({ offS }) => offS !== null && offS > MAX_UPTIME_OFF_S);
  if (wrong.length > 0) {
    const said = wrong.map(({ serial, offS }) => `${serial} by ${Math.round(offS ?? 0)} s`).join(', ');
    const remedy =
      'It counts by a clock that is set, or it was restarted meanwhile: check again, then look at its log.';
    return finding('uptime', title, 'wrong', `the uptime jumps: ${said}`, remedy);
  }
  if (notAsked !== null) return finding('uptime', title, 'not-checked', notAskedText(notAsked));
  if (serials.length === 0) {
    const verdict = expected.length === 0 ? 'not-applicable' : 'not-checked';
    return finding('uptime', title, verdict, 'no other robot was received');
  }
  const unknown = offs.filter(({ offS }) => offS === null).map(({ serial }) => serial);
  if (unknown.length > 0) {
    return finding('uptime', title, 'not-checked', `only one heartbeat of ${unknown.join(', ')} was dated`);
  }
  return finding('uptime', title, 'ok', `within ${MAX_UPTIME_OFF_S} s for ${serials.length} of ${serials.length}`);
}

function noiseFinding(received: ReceivedFleet): HeartbeatFinding {
  const { noise, senders, hears, rejected, isOwnCopySeen, notAsked } = received;
  const title = 'Every datagram on the port is a valid heartbeat';
  const seen = noise.map(({ address, ...counts }) => `${address ?? 'more addresses'} (${countsText(counts)})`);
  const counted = rejected === null ? '' : countsText(rejected);
  if (seen.length > 0 || counted !== '') {
    const said = seen.length > 0 ? seen.join(', ') : `the gateway refused ${counted}`;
    const remedy = 'A robot with another key, or of another site: compare the keys with `gw site check` on both.';
    return finding('noise', title, 'wrong', said, remedy);
  }
  if (hears === 'broadcasts' && rejected === null) {
    return finding('noise', title, 'not-checked', notAskedText(notAsked ?? 'no answer'));
  }
  if (senders.length === 0 && !isReceivingProven(isOwnCopySeen, rejected)) {
    return finding('noise', title, 'not-checked', 'no datagram was received at all');
  }
  return finding('noise', title, 'ok', 'none was refused meanwhile');
}

type Refused = Pick<Rejected, 'otherKey' | 'forged' | 'otherVersion' | 'malformed'>;

function countsText({ otherKey, forged, otherVersion, malformed }: Refused): string {
  const kinds = [
    [otherKey, 'other key'],
    [forged, 'forged'],
    [otherVersion, 'other version'],
    [malformed, 'malformed'],
  ] as const;
  const there = kinds.filter(([count]) => count > 0);
  return there.map(([count, word]) => `${count} ${word}`).join(', ');
}

export function notAskedText(why: string): string {
  return `what is sent to this machine alone goes to the program that has UDP 45301, and its gateway did not answer: ${why}`;
}
