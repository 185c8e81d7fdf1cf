import type { Rejections, SniffView } from '../../fleet/index.ts';
import { plural } from '../../text/index.ts';
import type { Line } from '../finding.result.ts';
import { finding } from '../finding.ts';
import type { GatewayCounts } from './gateway.ts';
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

/** What was received and sent during the check, without test heartbeats. */
export interface Observed {
  /** The datagrams received here; all others went to the gateway. */
  readonly receives: 'everything' | 'broadcasts';
  readonly senders: readonly Sender[];
  /** When the heartbeats of each serial arrived; null: the own ones, by the counter of the gateway. */
  readonly timed: ReadonlyMap<string | null, readonly Arrival[]>;
  /** Serials that were received by broadcast. */
  readonly byBroadcast: ReadonlySet<string>;
  /** The senders of serials that two devices use. */
  readonly conflicts: readonly Sender[];
  readonly noise: SniffView['noise'];
  /** Senders of replayed heartbeats. */
  readonly replayed: readonly (Sender & { readonly replayed: number })[];
  /** Addresses of the outgoing interfaces of a broadcast. */
  readonly sources: readonly string[];
  /**
   * Looped-back copies of own broadcasts, by the address of the interface. The kernel makes a copy when it passes the
   * datagram to that interface, which proves no more than that, and that receiving works.
   */
  readonly copies: ReadonlyMap<string | null, readonly Arrival[]>;
  /** Counters of the running gateway; null: it does not run, or its query failed. */
  readonly gateway: GatewayCounts | null;
  /** Why the query of the gateway failed; null: it did not. */
  readonly queryFailure: string | null;
}

export type Judgement = readonly [verdict: Line['verdict'], detail: string, remedy?: string];

/** Findings about the heartbeats of the other robots. */
export function fleetFindings(site: ExpectedFleet, seen: Observed): Line[] {
  return [
    ...robotFindings(site, seen),
    judged(
      'strangers',
      'Every sender with the key of the site is in fleet.robots',
      judgeStrangers(site, seen),
      'Add them to fleet.robots of every site file, or change the site key.',
    ),
    judged(
      'broadcast',
      'Broadcasts of other robots are received',
      judgeBroadcast(site, seen),
      'Broadcasts end at the robot segment: list the other gateways in fleet.unicast, and set fleet.broadcast to false.',
    ),
    ...site.unicast.map((address) =>
      judged(
        `unicast-${address}`,
        `Heartbeats from ${address} are received`,
        judgeUnicast(address, site, seen),
        'Check that a gateway of the site has this address, that its fleet.unicast lists this gateway, and that UDP 45301 is routed between the segments.',
      ),
    ),
    judged(
      'conflicts',
      'No serial is used by two devices',
      judgeConflicts(seen),
      'Check for a copied site file: two robots use one serial, or heartbeats are replayed.',
    ),
    judged(
      'replays',
      'No heartbeat is replayed',
      judgeReplays(seen),
      'Replayed heartbeats, or a robot that lost its stateDir. Up to 16 s after a restart of this gateway this is normal: run the check again.',
    ),
    judged(
      'uptime',
      'The uptime of every other sender matches the arrival times',
      judgeUptime(site, seen),
      'Its clock was set, or it was restarted meanwhile: run the check again, then read its log.',
    ),
    judged(
      'noise',
      'Every datagram on the port is a valid heartbeat',
      judgeNoise(seen),
      'Check for a robot with another key or of another site: `gw site check` shows the key name.',
    ),
  ];
}

/** Only a wrong line has a remedy: that of its judgement, otherwise this one. */
export function judged(id: string, title: string, [verdict, detail, own]: Judgement, remedy: string): Line {
  return finding(id, title, verdict, detail, verdict === 'wrong' ? (own ?? remedy) : null);
}

function robotFindings({ expected, isAlone, own, seconds }: ExpectedFleet, seen: Observed): Line[] {
  if (expected.length === 0) {
    const title = 'Heartbeats of the other robots are received';
    if (isAlone) return [finding('robots', title, 'not-applicable', `fleet.robots lists ${own} only`)];
    const detail = `fleet.robots is empty; for a site with one robot set fleet.robots: [${own}]`;
    return [finding('robots', title, 'not-checked', detail)];
  }
  return expected.flatMap((serial) => {
    const addresses = unique(seen.senders.filter((sender) => sender.serial === serial).map(({ address }) => address));
    const judgement: Judgement =
      addresses.length > 0
        ? ['ok', `from ${addresses.join(', ')}`]
        : unqueried(seen, ['wrong', `not received within ${seconds} s`]);
    const remedy = 'Check that its gw serve runs with the same key; `gw heartbeat sniff` shows what is received.';
    const robot = judged(`robot-${serial}`, `Heartbeat of ${serial} received`, judgement, remedy);
    if (addresses.length === 0) return [robot];
    const arrivals = seen.timed.get(serial) ?? [];
    return [robot, periodFinding(`period-${serial}`, `Period of ${serial}`, arrivals, seconds, 'time of arrival')];
  });
}

/** Judges a period against the specification; `measured` names the source of the times. */
export function periodFinding(
  id: string,
  title: string,
  arrivals: readonly Arrival[],
  seconds: number,
  measured: string,
): Line {
  const timing = timingOf(arrivals);
  const { intervals, periodMs, medianMs } = timing;
  const verdict = judgePeriod(timing);
  const result =
    periodMs === null || medianMs === null
      ? `no two heartbeats within ${seconds} s`
      : `${(periodMs / 1000).toFixed(2)} s (median ${(medianMs / 1000).toFixed(2)} s) over ${plural(intervals, 'interval')} (${measured})`;
  const bound =
    verdict === 'not-checked'
      ? 'not enough to decide, listen longer with --for'
      : `2 s by the specification, tolerance ±${PERIOD_TOLERANCE * 100} %`;
  const remedy = 'Check load and clock of that gateway: late heartbeats make a robot look gone.';
  return { ...judged(id, title, [verdict, `${result}; ${bound}`], remedy), spec: 'Limits' };
}

function judgeStrangers({ expected, isAlone, own }: ExpectedFleet, seen: Observed): Judgement {
  const strangers = unique(seen.senders.map(({ serial }) => serial)).filter(
    (serial) => serial !== own && !expected.includes(serial),
  );
  // Rejected serials are not listed, so the list is incomplete.
  if (seen.gateway?.last.isTableFull === true) {
    const { tableFull } = seen.gateway.rejected;
    return [
      'wrong',
      `the table of serials of the gateway is full; ${tableFull} heartbeats of new serials rejected meanwhile`,
      "A device with the site key sent with many serials: change the site key and empty the table (docs/heartbeat.md, 'When the table is full'). Robots of fleet.robots keep their places.",
    ];
  }
  if (expected.length === 0 && !isAlone) {
    const received = strangers.length === 0 ? '' : `received: ${strangers.join(', ')}; `;
    return ['not-checked', `${received}fleet.robots is empty`];
  }
  if (strangers.length > 0) {
    return ['wrong', `not in fleet.robots, but signed with the site key: ${strangers.join(', ')}`];
  }
  return unproven(seen, ['ok', 'no other serial received']);
}

function judgeBroadcast(site: ExpectedFleet, { byBroadcast, senders }: Observed): Judgement {
  if (!site.broadcast) return ['not-applicable', 'fleet.broadcast is off'];
  if (site.isAlone) return ['not-applicable', 'fleet.robots lists this robot only'];
  const others = [...byBroadcast].filter((serial) => serial !== site.own);
  if (others.length > 0) return ['ok', `received by broadcast: ${others.sort().join(', ')}`];
  return senders.every(({ serial }) => serial === site.own)
    ? ['not-checked', 'no other robot received']
    : ['wrong', 'other robots are received, but none by broadcast'];
}

function judgeUnicast(address: string, { seconds }: ExpectedFleet, seen: Observed): Judgement {
  const serials = unique(seen.senders.filter((sender) => sender.address === address).map(({ serial }) => serial));
  if (serials.length > 0) return ['ok', `sent by ${serials.join(', ')}`];
  return unqueried(seen, ['wrong', `none within ${seconds} s`]);
}

function judgeConflicts(seen: Observed): Judgement {
  const conflicts = unique(seen.conflicts.map(({ serial, address }) => `${serial} from ${address}`));
  if (conflicts.length > 0) return ['wrong', conflicts.join(', ')];
  return unproven(seen, ['ok', 'each serial from one device only']);
}

function judgeReplays(seen: Observed): Judgement {
  const replayed = seen.replayed.map((sender) => `${sender.replayed} of ${sender.serial} from ${sender.address}`);
  if (replayed.length > 0) return ['wrong', replayed.join(', ')];
  const counted = seen.gateway?.rejected.replayed ?? 0;
  if (counted > 0) return ['wrong', `${counted} rejected as replayed by the gateway`];
  if (seen.gateway !== null) return unqueried(seen, ['ok', 'none rejected by the replay guard of the gateway']);
  return unproven(seen, ['not-checked', 'gw serve, which has the replay guard, does not run here']);
}

function judgeUptime({ own, expected }: ExpectedFleet, seen: Observed): Judgement {
  const serials = unique(seen.senders.map(({ serial }) => serial).filter((serial) => serial !== own)).sort();
  const offs = serials.map((serial) => ({ serial, offS: timingOf(seen.timed.get(serial) ?? []).uptimeOffS }));
  const wrong = offs.flatMap(({ serial, offS }) =>
    offS !== null && offS > MAX_UPTIME_OFF_S ? [`${serial} by ${Math.round(offS)} s`] : [],
  );
  if (wrong.length > 0) return ['wrong', `uptime differs: ${wrong.join(', ')}`];
  const verdict = expected.length === 0 ? 'not-applicable' : 'not-checked';
  if (serials.length === 0) return unqueried(seen, [verdict, 'no other robot received']);
  const unknown = offs.filter(({ offS }) => offS === null).map(({ serial }) => serial);
  return unqueried(
    seen,
    unknown.length > 0
      ? ['not-checked', `only one heartbeat received from ${unknown.join(', ')}`]
      : ['ok', `within ${MAX_UPTIME_OFF_S} s for ${serials.length} of ${serials.length}`],
  );
}

function judgeNoise(seen: Observed): Judgement {
  const noise = seen.noise.map(({ address, ...counts }) => `${address ?? 'more addresses'} (${countsText(counts)})`);
  if (noise.length > 0) return ['wrong', noise.join(', ')];
  const counted = seen.gateway === null ? '' : countsText(seen.gateway.rejected);
  if (counted !== '') return ['wrong', `rejected by the gateway: ${counted}`];
  return unproven(seen, ['ok', 'none rejected'], 'no datagram received');
}

/** Without the answer of the gateway, what was not received here proves nothing. */
export function unqueried({ queryFailure }: Observed, otherwise: Judgement): Judgement {
  if (queryFailure === null) return otherwise;
  const why = `unicast datagrams go to the program on UDP 45301, and the query of its gateway failed: ${queryFailure}`;
  return ['not-checked', why];
}

/** Missing heartbeats prove something only if an own copy was received, or the gateway was queried. */
function unproven(seen: Observed, otherwise: Judgement, nothing = 'no heartbeat received'): Judgement {
  const isProven = seen.senders.length > 0 || seen.copies.size > 0 || seen.gateway !== null;
  return unqueried(seen, isProven ? otherwise : ['not-checked', nothing]);
}

function countsText({ otherKey, forged, otherVersion, malformed }: Rejections): string {
  const kinds = { 'other key': otherKey, forged, 'other version': otherVersion, malformed };
  return Object.entries(kinds)
    .filter(([, count]) => count > 0)
    .map(([word, count]) => `${count} ${word}`)
    .join(', ');
}

function unique(texts: readonly string[]): string[] {
  return [...new Set(texts)];
}
