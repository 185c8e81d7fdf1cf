import chalk from 'chalk';
import { plural, pluralWord, shorten } from '../../lib/text/index.ts';
import type {
  HeartbeatCheck,
  HeartbeatKey,
  HeartbeatSend,
  HeartbeatSniffEvent,
} from '../../lib/toolkit/heartbeat/heartbeat.result.ts';
import { DO_NEXT, findingsLines, page, printable, renderTable, renderVerdict, right, spanText } from '../output.ts';

/** `gw heartbeat key new` */
export function renderHeartbeatKey({ file, key }: HeartbeatKey): string {
  return [
    `Key ${key} written to ${printable(file)}.`,
    '',
    'Only its owner can read it. `gw serve` reads it at its next start.',
    'Copy it to every robot of the site over an encrypted connection: mode 600, owned by the user of `gw serve`.',
  ].join('\n');
}

// ── gw heartbeat sniff ──────────────────────────────────────────────────────────────────────────────────────────

type Sender = HeartbeatSniffEvent['senders'][number];
type Presence = Sender['presence'];
type Noise = HeartbeatSniffEvent['noise'][number];

/** Silence after which a hint is shown; a robot sends every 2 s. */
const HINT_AFTER_MS = 6_000;
/** Bounds of the table; --json has the full values. */
const MAX_SERIAL = 24;
const MAX_SOFTWARE = 16;
const MAX_ADDRESSES = 4;

/** Without a terminal: one line per event, and the table at the end. */
export function renderHeartbeatEvent(event: HeartbeatSniffEvent): string {
  return event.event === 'ended' ? renderHeartbeatView(event) : `${event.at}  ${firstLine(event)}`;
}

/** The summary and all tables. */
export function renderHeartbeatView(view: HeartbeatSniffEvent): string {
  const { senders, noise, otherHeartbeats, forMs, datagrams, dropped } = view;
  return page(
    firstLine(view),
    !view.verifies && chalk.yellow('Not verified: listening without a key.'),
    view.receives === 'broadcasts' && [
      'Another program of this machine (gw serve?) has the port, so only broadcasts are received here. With the site file',
      'of the running gw serve this command shows what that one receives: run it again.',
    ],
    view.gateway !== null && gatewayLines(view.gateway),
    datagrams === 0 && forMs >= HINT_AFTER_MS && ['', silence(view)],
    senders.length > 0 && ['', senderTable(senders), remarks(senders)],
    otherHeartbeats > 0 && `and ${plural(otherHeartbeats, 'heartbeat')} of further senders`,
    noise.length > 0 && ['', 'Rejected datagrams:', noiseTable(noise, view.gateway !== null), causes(noise)],
    dropped !== null &&
      dropped > 0 && [
        '',
        chalk.yellow(`The kernel dropped ${plural(dropped, 'datagram')}: the receive buffer of the port was full.`),
      ],
    ['', chalk.dim(`${plural(datagrams, 'datagram')} in ${seconds(forMs)} s on UDP port 45301`)],
  );
}

function firstLine(view: HeartbeatSniffEvent): string {
  const { senders, noise, otherHeartbeats, forMs, receives, verifies } = view;
  const what = receives === 'broadcasts' ? 'broadcast' : 'datagram';
  const by = receives === 'gateway' ? ' by gw serve' : '';
  if (view.datagrams === 0) {
    return forMs < HINT_AFTER_MS
      ? `No ${what} received${by} yet.`
      : chalk.yellow(`No ${what} received${by} for ${seconds(forMs)} s.`);
  }
  const robots = senders.filter(({ test }) => !test);
  const bySerial = [...Map.groupBy(robots, ({ serial }) => serial).values()];
  const parts = [
    robots.length === 0
      ? `No robot received${by}`
      : `${otherHeartbeats > 0 ? 'At least ' : ''}${plural(bySerial.length, 'robot')} received${by}` +
        `${verifies ? '' : ', not verified'}: ${presences(bySerial)}`,
  ];
  const conflicts = bySerial.filter((group) => group.some(isInConflict)).length;
  if (conflicts > 0) parts.push(chalk.red(`${plural(conflicts, 'serial')} in conflict`));
  const tests = senders.length - robots.length;
  if (tests > 0) parts.push(plural(tests, 'test', 'tests'));
  if (noise.length > 0 && noise.every(({ address }) => address === null)) parts.push(chalk.red('datagrams rejected'));
  else if (noise.length > 0) {
    const more = noise.some(({ address }) => address === null) ? 'more than ' : '';
    const addresses = noise.filter(({ address }) => address !== null).length;
    parts.push(chalk.red(`${more}${plural(addresses, 'address', 'addresses')} with rejected datagrams`));
  }
  return `${parts.join('; ')}.`;
}

/** A robot has the best presence of its senders. */
function presences(bySerial: readonly (readonly Sender[])[]): string {
  const nearest = bySerial.map((group) => order.find((presence) => group.some((row) => row.presence === presence)));
  return order
    .map((presence) => [presence, nearest.filter((other) => other === presence).length] as const)
    .flatMap(([presence, count]) => (count === 0 ? [] : [colourOf[presence](`${count} ${presence}`)]))
    .join(', ');
}

const order: readonly Presence[] = ['alive', 'late', 'gone'];

const colourOf = { alive: chalk.green, late: chalk.yellow, gone: chalk.red } as const;

function isInConflict({ conflictWith }: Sender): boolean {
  return conflictWith.length > 0;
}

function gatewayLines({ replayed, lastTest }: NonNullable<HeartbeatSniffEvent['gateway']>): string[] {
  const lines = [
    'gw serve of this machine has the port: what was not broadcast is shown as gw serve received it, from now on.',
  ];
  if (replayed > 0) lines.push(chalk.yellow(`It rejected ${plural(replayed, 'replayed heartbeat')}.`));
  if (lastTest !== null) {
    const { serial, address, ageMs } = lastTest;
    lines.push(`Last test: ${printable(serial)} from ${printable(address)}, ${spanText(ageMs)} ago.`);
  }
  return lines;
}

function silence({ receives }: HeartbeatSniffEvent): string[] {
  return [
    'Robots send every 2 s. Check on a robot that `gw serve` runs and its site file has `fleet:`. Check here that this',
    'machine is on the network of the robots and its firewall allows UDP port 45301.',
    ...(receives === 'broadcasts'
      ? []
      : ['If the network filters broadcasts, add the address of this machine to fleet.unicast of the robots.']),
  ];
}

function senderTable(senders: readonly Sender[]): string {
  return renderTable(
    [
      '',
      'serial',
      'address',
      right('recv'),
      right('lost'),
      right('replayed'),
      right('period'),
      right('jitter'),
      'state',
    ],
    senders.map((sender) => [
      presenceWord(sender),
      shortSerial(sender),
      printable(sender.address),
      String(sender.heartbeats),
      String(sender.lost),
      sender.replayed === null ? '-' : String(sender.replayed),
      sender.periodMs === null ? '-' : `${(sender.periodMs / 1000).toFixed(3)} s`,
      sender.jitterMs === null ? '-' : `${Math.round(sender.jitterMs)} ms`,
      stateText(sender),
    ]),
  );
}

function presenceWord(sender: Sender): string {
  const { test, presence, ageMs } = sender;
  if (test) return `test ${spanText(ageMs)}`;
  const since = presence === 'alive' ? '' : ` ${spanText(ageMs)}`;
  return isInConflict(sender) ? chalk.red(`conflict${since}`) : colourOf[presence](`${presence}${since}`);
}

/** Both ends of a long serial are shown. */
function shortSerial({ serial }: Sender): string {
  const text = printable(serial);
  return text.length <= MAX_SERIAL ? text : `${text.slice(0, MAX_SERIAL / 2 - 1)}…${text.slice(-MAX_SERIAL / 2)}`;
}

/** Without the pose, which says nothing without its map. */
function stateText({ test, batteryPercent, moving, stopped, software, uptimeS }: Sender): string {
  if (test) return '';
  const parts = [
    ...(stopped === true ? [chalk.red('stopped')] : []),
    ...(moving === true ? ['moving'] : []),
    ...(moving === false && stopped !== true ? ['idle'] : []),
    ...(batteryPercent === null ? [] : [`${batteryPercent} %`]),
    ...(software === null ? [] : [shorten(printable(software), MAX_SOFTWARE)]),
    `up ${spanText(uptimeS * 1000)}`,
  ];
  return parts.join(', ');
}

/** Explanations of values in the table. */
function remarks(senders: readonly Sender[]): string[] {
  const robots = senders.filter(({ test }) => !test);
  const lines = [...Map.groupBy(robots, ({ serial }) => serial)].flatMap(([, group]) => {
    const [first] = group;
    if (first === undefined || group.length === 1) return [];
    const addresses = group.slice(0, MAX_ADDRESSES).map(({ address }) => printable(address));
    const more = group.length > MAX_ADDRESSES ? ` and ${group.length - MAX_ADDRESSES} more` : '';
    const where = `${shortSerial(first)} sends from ${addresses.join(', ')}${more}:`;
    return group.some(isInConflict)
      ? [chalk.red(where), chalk.red('  two devices with one serial (a copied site file?), or a replay.')]
      : [where, '  one device with two addresses or a new one, or a replay.'];
  });
  if (robots.length < senders.length) {
    lines.push('test: sent by `gw heartbeat send`, not a robot.');
  }
  const copies = senders.reduce((sum, sender) => sum + (sender.copies ?? 0), 0);
  if (copies > 0) {
    lines.push(
      `${plural(copies, 'heartbeat')} received twice within ${pluralWord(copies, 'its', 'their')} period, such as by broadcast and unicast.`,
    );
  }
  if (senders.some(({ replayed }) => (replayed ?? 0) > 0)) {
    lines.push('replayed: not newer than an earlier heartbeat. A recording, or a robot that lost its stateDir.');
  }
  return lines.length === 0 ? [] : ['', ...lines];
}

type Fault = Exclude<keyof Noise, 'address'>;

const faults: readonly { readonly fault: Fault; readonly title: string; readonly cause: string }[] = [
  { fault: 'otherKey', title: 'other key', cause: 'a robot with an old key, or another site on the same network' },
  { fault: 'forged', title: 'forged', cause: 'the signature does not match the key: corrupt, or an attack' },
  { fault: 'otherVersion', title: 'other version', cause: 'a robot with another version of gw' },
  { fault: 'malformed', title: 'malformed', cause: 'another program on the port, or a gateway of another vendor' },
];

function noiseTable(noise: readonly Noise[], ofGateway: boolean): string {
  return renderTable(
    ['address', ...faults.map(({ title }) => right(title))],
    noise.map((row) => [
      row.address === null ? (ofGateway ? 'other addresses' : 'more addresses') : printable(row.address),
      ...faults.map(({ fault }) => String(row[fault])),
    ]),
  );
}

function causes(noise: readonly Noise[]): string[] {
  return faults
    .filter(({ fault }) => noise.some((row) => row[fault] > 0))
    .map(({ title, cause }) => `${title}: ${cause}`);
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(1);
}

/** `gw heartbeat check` */
export function renderHeartbeatCheck({
  verdict,
  received,
  expected,
  findings,
  counts,
  tookMs,
}: HeartbeatCheck): string {
  const of = expected.length === 0 ? '' : ` of ${expected.length}`;
  const robots = `${received.length}${of} other ${received.length === 1 && of === '' ? 'robot' : 'robots'} received`;
  return page(
    [`${headline(verdict, counts)}: ${robots}.`, '', findingsLines(findings, DO_NEXT), ''],
    // The own lines do not prove arrival.
    expected.length === 0 &&
      'Arrival of own heartbeats can be checked only at the other robots: run this check on each of them.',
    chalk.dim(`listened for ${(tookMs / 1000).toFixed(1)} s`),
  );
}

function headline(verdict: HeartbeatCheck['verdict'], { ok, wrong, notChecked }: HeartbeatCheck['counts']): string {
  const all = ok + wrong + notChecked;
  switch (verdict) {
    case 'ok':
      return chalk.green(`Heartbeat ok, ${ok} of ${all} checks`);
    case 'wrong':
      return chalk.red.bold(`FAILED: ${wrong} of ${all} heartbeat checks`);
    case 'not-checked':
      return chalk.yellow(`Not decided: ${notChecked} of ${all} heartbeat checks were not checked`);
  }
}

/** `gw heartbeat send` */
export function renderHeartbeatSend({ serial, times, ways }: HeartbeatSend): string {
  const failed = ways.filter(({ failure }) => failure !== null).length;
  const heartbeats = times === 1 ? '1 test heartbeat' : `${times} test heartbeats`;
  const first =
    failed === 0
      ? `${heartbeats} sent as ${serial}.`
      : chalk.red.bold(`FAILED: ${failed} of ${ways.length} destinations.`);
  const lines = ways.map(
    ({ to, from, sent, failure }) =>
      `${renderVerdict(failure === null ? 'ok' : 'wrong')} ${to}${from === null ? '' : ` from ${from}`}: ${sent} sent${failure === null ? '' : `, ${printable(failure)}`}`,
  );
  return [
    first,
    '',
    ...lines,
    '',
    'Sent does not mean received: check lastTest in GET /api/nachbarn of the robot, or run `gw heartbeat sniff` there.',
  ].join('\n');
}
