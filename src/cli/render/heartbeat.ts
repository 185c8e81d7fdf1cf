import chalk from 'chalk';
import { plural, pluralWord, shorten } from '../../lib/text/index.ts';
import type { HeartbeatKey } from '../../lib/toolkit/heartbeat/key.result.ts';
import type { HeartbeatSniffEvent } from '../../lib/toolkit/heartbeat/sniff.result.ts';
import { printable, renderTable } from '../output.ts';

/** `gw heartbeat key new` */
export function renderHeartbeatKey({ file, key }: HeartbeatKey): string {
  return [
    `Key ${key} is made, in ${printable(file)}.`,
    '',
    'Only its owner can read it. Bring the same file to every robot of the site, over a connection that nobody else',
    'reads; there too it has mode 600 and belongs to the user that runs `gw serve`, which takes it at its next start.',
  ].join('\n');
}

// ── gw heartbeat sniff ──────────────────────────────────────────────────────────────────────────────────────────

type Speaker = HeartbeatSniffEvent['speakers'][number];
type Presence = Speaker['presence'];
type Noise = HeartbeatSniffEvent['noise'][number];

/** So long silence is no reason for advice: a robot that is there beats every 2 s. */
const PATIENCE_MS = 6_000;
/** What does not fit is told whole with --json. */
const MOST_SERIAL = 24;
const MOST_SOFTWARE = 16;
const MOST_ADDRESSES = 4;

/** Where there is no terminal to redraw: one line now and then, and everything at the end. */
export function renderHeartbeatEvent(event: HeartbeatSniffEvent): string {
  return event.event === 'ended' ? renderHeartbeatView(event) : `${event.at}  ${firstLine(event)}`;
}

/** Everything that was heard. */
export function renderHeartbeatView(view: HeartbeatSniffEvent): string {
  const { speakers, noise, moreBeats, forMs, datagrams, dropped } = view;
  const lines = [firstLine(view)];
  if (!view.verifies) lines.push(chalk.yellow('Without a key nothing is verified: this is what somebody says.'));
  if (view.hears === 'broadcasts') {
    lines.push(
      'Another program of this machine (gw serve?) has the port: only broadcasts are heard here, and what is sent to',
      'this address alone stands in its GET /api/nachbarn.',
    );
  }
  if (datagrams === 0 && forMs >= PATIENCE_MS) lines.push('', ...silence(view));
  if (speakers.length > 0) lines.push('', speakerTable(speakers), ...remarks(speakers));
  if (moreBeats > 0) lines.push(`and ${plural(moreBeats, 'beat')} of more speakers than are kept apart`);
  if (noise.length > 0) lines.push('', 'Spoke wrongly:', noiseTable(noise), ...causes(noise));
  if (dropped !== null && dropped > 0) {
    lines.push(
      '',
      chalk.yellow(
        `The kernel threw ${plural(dropped, 'datagram')} away: more came than this machine took off the port.`,
      ),
    );
  }
  lines.push('', chalk.dim(`${plural(datagrams, 'datagram')} in ${seconds(forMs)} s on UDP port 45301`));
  return lines.join('\n');
}

function firstLine(view: HeartbeatSniffEvent): string {
  const { speakers, noise, moreBeats, forMs, hears, verifies } = view;
  const what = hears === 'broadcasts' ? 'broadcast' : 'datagram';
  if (view.datagrams === 0) {
    return forMs < PATIENCE_MS ? `No ${what} heard yet.` : chalk.yellow(`No ${what} heard for ${seconds(forMs)} s.`);
  }
  const robots = speakers.filter(({ test }) => !test);
  const bySerial = [...Map.groupBy(robots, ({ serial }) => serial).values()];
  const parts = [
    robots.length === 0
      ? 'No robot heard'
      : `${moreBeats > 0 ? 'At least ' : ''}${plural(bySerial.length, 'robot')} heard` +
        `${verifies ? '' : ', not verified'}: ${presences(bySerial)}`,
  ];
  const conflicts = bySerial.filter((voices) => voices.some(isInConflict)).length;
  if (conflicts > 0) parts.push(chalk.red(`${plural(conflicts, 'serial')} in conflict`));
  const tests = speakers.length - robots.length;
  if (tests > 0) parts.push(plural(tests, 'test', 'tests'));
  if (noise.length > 0) {
    const more = noise.some(({ address }) => address === null) ? 'more than ' : '';
    const addresses = noise.filter(({ address }) => address !== null).length;
    parts.push(chalk.red(`${more}${plural(addresses, 'address speaks', 'addresses speak')} wrongly`));
  }
  return `${parts.join('; ')}.`;
}

/** A robot is as near as the nearest of its voices. */
function presences(bySerial: readonly (readonly Speaker[])[]): string {
  const nearest = bySerial.map((voices) =>
    order.find((presence) => voices.some((voice) => voice.presence === presence)),
  );
  const counted = order.flatMap((presence) => {
    const count = nearest.filter((other) => other === presence).length;
    return count === 0 ? [] : [colourOf(presence)(`${count} ${presence}`)];
  });
  return counted.join(', ');
}

const order: readonly Presence[] = ['alive', 'late', 'gone'];

function colourOf(presence: Presence): (text: string) => string {
  if (presence === 'alive') return chalk.green;
  return presence === 'late' ? chalk.yellow : chalk.red;
}

function isInConflict({ conflictWith }: Speaker): boolean {
  return conflictWith.length > 0;
}

function silence({ hears }: HeartbeatSniffEvent): string[] {
  return [
    'A robot beats every 2 s. Look on a robot: does `gw serve` run, and has its site file `fleet:`? And here: is this',
    'machine on the network of the robots, and does its firewall let UDP port 45301 in?',
    ...(hears === 'broadcasts'
      ? []
      : ['Where the network passes no broadcasts, the address of this machine has to stand in their fleet.unicast.']),
  ];
}

function speakerTable(speakers: readonly Speaker[]): string {
  return renderTable(
    [
      { title: '' },
      { title: 'serial' },
      { title: 'address' },
      { title: 'beats', align: 'right' },
      { title: 'lost', align: 'right' },
      { title: 'replayed', align: 'right' },
      { title: 'period', align: 'right' },
      { title: 'jitter', align: 'right' },
      { title: 'says' },
    ],
    speakers.map((speaker) => [
      presenceWord(speaker),
      shortSerial(speaker),
      printable(speaker.address),
      String(speaker.beats),
      String(speaker.lost),
      String(speaker.replayed),
      speaker.periodMs === null ? '-' : `${(speaker.periodMs / 1000).toFixed(3)} s`,
      speaker.jitterMs === null ? '-' : `${Math.round(speaker.jitterMs)} ms`,
      sayings(speaker),
    ]),
  );
}

function presenceWord(speaker: Speaker): string {
  const { test, presence, ageMs } = speaker;
  if (test) return `test ${duration(ageMs)}`;
  const since = presence === 'alive' ? '' : ` ${duration(ageMs)}`;
  return isInConflict(speaker) ? chalk.red(`conflict${since}`) : colourOf(presence)(`${presence}${since}`);
}

/** Both ends of a serial tell robots apart. */
function shortSerial({ serial }: Speaker): string {
  const text = printable(serial);
  return text.length <= MOST_SERIAL ? text : `${text.slice(0, MOST_SERIAL / 2 - 1)}…${text.slice(-MOST_SERIAL / 2)}`;
}

/** Without the pose: on which map it lies is not said, so two cannot be compared. */
function sayings({ test, batteryPercent, moving, stopped, software, uptimeS }: Speaker): string {
  if (test) return '';
  const parts = [
    ...(stopped === true ? [chalk.red('stopped')] : []),
    ...(moving === true ? ['moves'] : []),
    ...(moving === false && stopped !== true ? ['stands'] : []),
    ...(batteryPercent === null ? [] : [`${batteryPercent} %`]),
    ...(software === null ? [] : [shortSoftware(software)]),
    `up ${duration(uptimeS * 1000)}`,
  ];
  return parts.join(', ');
}

function shortSoftware(software: string): string {
  return shorten(printable(software), MOST_SOFTWARE);
}

/** What a number or a word of the table means, where one asks for it. */
function remarks(speakers: readonly Speaker[]): string[] {
  const robots = speakers.filter(({ test }) => !test);
  const lines = [...Map.groupBy(robots, ({ serial }) => serial)].flatMap(([, voices]) => {
    const [first] = voices;
    if (first === undefined || voices.length === 1) return [];
    const addresses = voices.slice(0, MOST_ADDRESSES).map(({ address }) => printable(address));
    const more = voices.length > MOST_ADDRESSES ? ` and ${voices.length - MOST_ADDRESSES} more` : '';
    const where = `${shortSerial(first)} speaks from ${addresses.join(', ')}${more}:`;
    return voices.some(isInConflict)
      ? [
          chalk.red(where),
          chalk.red('  two devices with one serial (a copied site file?), or somebody plays a recording.'),
        ]
      : [where, '  one device with two addresses or a new one, or a recording.'];
  });
  if (robots.length < speakers.length) {
    lines.push('test: sent by a person to see whether a path works; it is no robot.');
  }
  const copies = speakers.reduce((sum, speaker) => sum + speaker.copies, 0);
  if (copies > 0) {
    lines.push(
      `${plural(copies, 'beat')} came once more within ${pluralWord(copies, 'its', 'their')} period, as by broadcast and unicast both.`,
    );
  }
  if (speakers.some(({ replayed }) => replayed > 0)) {
    lines.push('replayed: not newer than a beat before. A recording, or a robot that lost its stateDir.');
  }
  return lines.length === 0 ? [] : ['', ...lines];
}

type Fault = Exclude<keyof Noise, 'address'>;

const faults: readonly { readonly fault: Fault; readonly title: string; readonly cause: string }[] = [
  { fault: 'otherKey', title: 'other key', cause: 'a robot with an old key, or another site on the same network' },
  { fault: 'forged', title: 'forged', cause: 'names the key and is not signed with it: damaged, or somebody tries' },
  { fault: 'otherVersion', title: 'other version', cause: 'a robot with newer or older gw' },
  { fault: 'malformed', title: 'malformed', cause: 'another program on the port, or a gateway of another make' },
];

function noiseTable(noise: readonly Noise[]): string {
  return renderTable(
    [{ title: 'address' }, ...faults.map(({ title }) => ({ title, align: 'right' as const }))],
    noise.map((row) => [
      row.address === null ? 'more addresses' : printable(row.address),
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

/** In the largest unit of which there is at least two. */
function duration(ms: number): string {
  const [unit, unitMs] = units.find(([, each]) => ms >= 2 * each) ?? ['s', 1000];
  return `${Math.floor(ms / unitMs)} ${unit}`;
}

const units: readonly (readonly [string, number])[] = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
];
