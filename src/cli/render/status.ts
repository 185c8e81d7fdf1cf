import chalk from 'chalk';
import { plural } from '../../lib/text/index.ts';
import type { Status, StatusPart } from '../../lib/toolkit/gateway/status.result.ts';
import { ageText, doNextLine, page, printable, spanText } from '../output.ts';

const TITLE_CHARS = 10;

/** `gw status` */
export function renderStatus(status: Status): string {
  const { verdict, notes, remedies, parts } = status;
  const shown: readonly Row[] = [robotRow(status), chassisRow(status), ...ownRows(status)];
  const others = [...parts]
    .filter(({ id, level }) => !covered.has(id) && level !== 'off')
    .sort((a, b) => order.indexOf(a.id) - order.indexOf(b.id))
    .map((part) => partRow(part, status));
  return page(
    tones[verdict](printable(firstLine(status))),
    notes.map((note) => `  ${printable(note)}`),
    remedies.map((remedy) => doNextLine(remedy)),
    '',
    [...shown, ...others, ...pastRows(status), ...offRows(status)].map(
      ([title, text, tone = plain]) => `${chalk.dim(title.padEnd(TITLE_CHARS))}  ${tone(printable(text))}`,
    ),
  );
}

/** Parts whose details have an age. */
const aged: ReadonlySet<StatusPart['id']> = new Set(['clock', 'devices']);

/** What changes when something happens, without the ages that always change. */
export function changeKey(status: Status): string {
  const { code, headline, notes, stop, gate, chassis, parts, incidents, record, run, source, verdict } = status;
  const levels = parts.map(({ id, level, details }) => [id, level, aged.has(id) ? null : details]);
  const kept = [incidents.status, incidents.newest?.id, record.path];
  return JSON.stringify([verdict, source, code, headline, notes, stop, gate, chassis.tried, levels, kept, run]);
}

type Tone = (text: string) => string;
type Row = readonly [title: string, text: string, tone?: Tone];

const plain: Tone = (text) => text;
const tones: Readonly<Record<Status['verdict'], Tone>> = {
  ok: chalk.green,
  wrong: chalk.red.bold,
  'not-checked': chalk.yellow,
};

/** The three questions in one line: connected, may it drive, is it stopped. */
function firstLine({ headline, site, source, chassis, mayDrive, stop, verdict }: Status): string {
  const drive = { yes: 'may drive', no: 'must not drive', 'not-checked': 'driving not checked' }[mayDrive];
  const stopped = stop === null ? 'stop not checked' : stop.latched ? 'STOP is set' : 'not stopped';
  const link = source === 'chassis' ? `chassis ${chassis.state}` : chassis.state.replace(/ since .*/, '');
  const open = verdict === 'not-checked' && source === 'gateway' ? '; not everything is checked' : '';
  return `${headline}: ${site.serial} (${site.name}): ${link}, ${drive}, ${stopped}${open}`;
}

function robotRow({ robot, site }: Status): Row {
  if (robot === null) return ['robot', 'not read: the chassis has not answered', chalk.yellow];
  const { serial, model, software, from, ageMs } = robot;
  const other = serial === site.serial ? '' : `; the site file names ${site.serial}`;
  const age = {
    'asked-now': 'asked now',
    connection: `from the chassis, ${spanText(ageMs ?? 0)} ago`,
    remembered: 'REMEMBERED from before',
  }[from];
  const text = `${serial ?? 'serial unknown'}, model ${model ?? 'unknown'}, software ${software ?? 'unknown'}; ${age}${other}`;
  return ['robot', text, from === 'remembered' || other !== '' ? chalk.yellow : plain];
}

function chassisRow({ chassis, source, way, ssh }: Status): Row {
  const { state, tried, forMs, detail } = chassis;
  const since = forMs === null || state.includes(' since ') ? '' : ` for ${spanText(forMs)}`;
  const by = way === 'direct' ? '' : `; ${way}${ssh === null ? '' : `, round trip ${ssh.medianMs} ms`}`;
  const why = detail === null || state === 'connected' ? '' : `: ${detail}`;
  const asked = source === 'chassis' ? ' (asked now, without the gateway)' : '';
  return ['chassis', `${state}${since}, ${tried}${by}${why}${asked}`, state === 'connected' ? plain : chalk.yellow];
}

function ownRows({ gate, stop, battery, run, source }: Status): readonly Row[] {
  if (source === 'chassis')
    return [['gateway', 'no answer: gate, stop, cloud and neighbours are not checked', chalk.yellow]];
  const lacks = gate === null || gate.lacks.length === 0 ? '' : `; not verified here: ${gate.lacks.join(', ')}`;
  const reasons = gate === null || gate.isOpen ? '' : `: ${gate.reasons.join(' ').replace(/\.$/, '')}`;
  return [
    ['gate', gate?.isOpen ? 'open' : `locked${reasons}${lacks}`, gate?.isOpen ? plain : chalk.yellow],
    ...(stop === null ? [] : [stopRow(stop)]),
    ...(run === null ? [] : [['drive', run] as const]),
    ...(battery === null ? [] : [batteryRow(battery)]),
  ];
}

function agoText(ageMs: number | null, at: string | null): string {
  return ageMs === null ? `at ${at ?? 'an unknown time'}` : `${spanText(ageMs)} ago`;
}

function stopRow({ latched, by, reason, since, ageMs, saved }: NonNullable<Status['stop']>): Row {
  if (!latched)
    return [
      'stop',
      saved === true ? 'not set' : 'not set; its state is not saved',
      saved === true ? plain : chalk.yellow,
    ];
  const kept = { true: '', pending: ', being saved', false: ', NOT SAVED' }[`${saved}`];
  const why = reason === null ? '' : `: ${reason}`;
  return ['stop', `set ${agoText(ageMs, since)} by ${by ?? 'unknown'}${kept}${why}`, chalk.yellow];
}

function batteryRow({ percent, status, ageMs, doubt }: NonNullable<Status['battery']>): Row {
  if (percent === null) return ['battery', doubt ?? 'not received', chalk.yellow];
  const age = ageMs === null ? '' : `, ${ageText(ageMs)} ago`;
  const not = doubt === null ? '' : `; not a current value: ${doubt}`;
  return [
    'battery',
    `${Math.round(percent)} %, ${status ?? 'status unknown'}${age}${not}`,
    doubt === null ? plain : chalk.yellow,
  ];
}

/** Shown as rows of their own. */
const covered: ReadonlySet<StatusPart['id']> = new Set(['chassis', 'gate']);
const order: readonly StatusPart['id'][] = [
  ...([
    'stop-path',
    'cloud',
    'outbox',
    'support',
    'release',
    'tablet',
    'heartbeat',
    'devices',
    'disk',
    'gateway',
    'clock',
  ] as const),
];
const names: Readonly<Partial<Record<StatusPart['id'], string>>> = {
  'stop-path': 'stop path',
  support: 'tunnel',
  heartbeat: 'neighbours',
};

function partRow({ id, level, state, details }: StatusPart, { gateway }: Status): Row {
  const why = details.length === 0 ? '' : `: ${details.join('; ')}`;
  const own = id === 'gateway' ? `, gw ${gateway?.version ?? 'unknown'}, up for ${gateway?.upFor ?? 'unknown'}` : '';
  const said = id === 'heartbeat' ? state.replace(/(\d+)$/, '$1 received') : state;
  const tone = level === 'good' ? plain : level === 'bad' ? chalk.red : chalk.yellow;
  return [names[id] ?? id, `${said}${own}${why}`, tone];
}

/** In one line, since they say nothing of this robot. */
function offRows({ parts }: Status): readonly Row[] {
  const off = parts.filter(({ level }) => level === 'off').map(({ id }) => names[id] ?? id);
  return off.length === 0 ? [] : [['not set up', off.join(', '), chalk.dim]];
}

function pastRows({ record, incidents, gateway }: Status): readonly Row[] {
  return [recordRow(record), incidentRow(incidents), ...clockRow(gateway)];
}

function recordRow({ status, endedAt, ageMs, signature, detail, path }: Status['record']): Row {
  if (status !== 'found') return ['record', detail, status === 'none' ? chalk.dim : chalk.yellow];
  const signed = { verified: 'verified', 'not-verified': 'NOT verified', 'not-signed': 'NOT signed', wrong: 'ALTERED' };
  const age = ageMs === null ? '' : ageMs < 0 ? 'dated in the future' : `${spanText(ageMs)} old`;
  const text = `${age} (${endedAt}), ${signed[signature ?? 'not-verified']}, ${detail}, ${path}`;
  return ['record', text, signature === 'verified' && (ageMs ?? -1) >= 0 ? plain : chalk.yellow];
}

function incidentRow({ status, count, since, newest, detail }: Status['incidents']): Row {
  const all = count === null ? 'not checked' : plural(count, 'incident');
  const from = since === null ? (count === null ? '' : ' kept') : ' since that record';
  const last = newest === null ? '' : `; newest ${newest.id}, ${agoText(newest.ageMs, newest.at)}: ${newest.summary}`;
  const lost = detail === null ? '' : `; ${detail}`;
  return ['incidents', `${all}${from}${last}${lost}`, status === 'listed' && count === 0 ? plain : chalk.yellow];
}

/** Beyond this two clocks are different. Project decision. */
const CLOCK_DIFFERENCE_MS = 5_000;

function clockRow(gateway: Status['gateway']): readonly Row[] {
  const ms = gateway?.clockAheadMs ?? 0;
  if (Math.abs(ms) < CLOCK_DIFFERENCE_MS) return [];
  return [
    [
      'clocks',
      `that of the gateway is ${spanText(Math.abs(ms))} ${ms > 0 ? 'ahead of' : 'behind'} this machine`,
      chalk.yellow,
    ],
  ];
}
