import chalk from 'chalk';
import { type Basis, type Mark, markText } from '../../lib/evidence/index.ts';
import type { ChassisProbe, RobotCondition } from '../../lib/toolkit/chassis/chassis.result.ts';
import type { ChassisView, ChassisWatchEvent } from '../../lib/toolkit/chassis/watch.result.ts';
import type { Finding } from '../../lib/toolkit/index.ts';
import { ageText, findingLines, groupsWorstFirst, page, printable, renderTable, right } from '../output.ts';
import { placeText, triedText } from './chassis-address.ts';

const conditionColumns = ['reported by the robot', 'value', 'mark', right('age'), 'source'];

/** One condition with its reported value, mark and source. */
export function conditionRow({ title, reported, missing }: RobotCondition): string[] {
  if (reported === null) return [title, missing === 'rejected' ? 'rejected' : 'not received', '--', '--', '--'];
  const { value, source, ageMs } = reported;
  return [title, printable(valueText(value)).slice(0, 60), markText(reported), ageText(ageMs), printable(source)];
}

function valueText(value: NonNullable<RobotCondition['reported']>['value']): string {
  if (typeof value === 'boolean') return value ? 'pressed' : 'not pressed';
  if (typeof value === 'number') return `${value.toFixed(0)} percent`;
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) {
    return value.length === 0 ? 'none' : value.map(({ code, level }) => `${code} ${level}`).join(', ');
  }
  const { state, reliable, quality } = value;
  return `${state}, ${reliable ? 'reliable' : 'NOT reliable'}${quality === undefined ? '' : `, quality ${quality ?? 'unreadable'}`}`;
}

/** `battery CRITICAL: 6 %, below 10 %` */
function conditionText({ title, detail }: RobotCondition): string {
  return `${title.toLowerCase()} ${printable(detail)}`;
}

/** Faults reported by the robot, in one line; null without any. */
function conditionHeadline(conditions: readonly RobotCondition[]): string | null {
  const wrong = conditions.filter(({ verdict }) => verdict === 'wrong');
  if (wrong.length === 0) return null;
  return chalk.red.bold(`The robot reports: ${wrong.map(conditionText).join('; ')}`);
}

/** A value with its evidence. */
interface Shown {
  readonly value: unknown;
  readonly mark: Mark;
  readonly basis: Basis;
  readonly source: string;
  readonly unit?: string | undefined;
}

// ── gw chassis probe ────────────────────────────────────────────────────────────────────────────────────────────

/** `gw chassis probe` */
export function renderChassisProbe(data: ChassisProbe): string {
  const { findings, topics, complaints, condition, poseUnit, relied } = data;
  const reported = new Set<string>(condition.map(({ id }) => id));
  const groups = [
    { title: 'Checked by gw', lines: findings.filter(({ id }) => !reported.has(id)) },
    { title: 'The robot reports', lines: findings.filter(({ id }) => reported.has(id)) },
  ];
  const doubt = poseUnit.misfit === true ? 'THE HEADING FITS NO COURSE' : 'THE POSE MAY BE IN RADIANS';
  return page(
    poseUnit.verdict === 'radians'
      ? chalk.red.bold('THE POSE IS IN RADIANS. Do not drive this robot with gw.')
      : poseUnit.doubt !== null && chalk.red.bold(`${doubt}. Do not drive this robot with gw before that is decided.`),
    [probeHeadline(data), groupsWorstFirst(groups, findingLines).flatMap((block) => ['', block])],
    ['', renderTable(conditionColumns, condition.map(conditionRow)), '', renderTable(valueColumns, probeRows(data))],
    relied !== null && ['', renderTable(reliedColumns, relied.map(reliedRow))],
    ['', renderTable(topicColumns, topics.map(topicRow)), ''],
    chalk.dim(
      `received for ${(data.listenedMs / 1000).toFixed(1)} s; rate and age are ${markText(data.latency.median)}; age is since arrival: enabling a topic may repeat an old message, which is not counted in the rate`,
    ),
    complaints.map(({ what, count }) => `complaint: ${printable(what)}${count > 1 ? ` (${count} times)` : ''}`),
  );
}

/** Verdict, object and place; conditions reported by the robot first, as they may need action on site. */
function probeHeadline({ address, identity, findings, condition }: ChassisProbe): string {
  const where = `Chassis ${printable(identity.serial.value)} at ${printable(placeText({ address: address.host, port: address.port }))}`;
  const checks = (count: number) => `${count} of ${findings.length} checks`;
  const name = ({ id }: Finding) => id.replaceAll('-', ' ');
  const open = findings.filter(({ verdict }) => verdict === 'not-checked');
  const notChecked = open.length === 0 ? '' : `; not checked: ${open.map(name).join(', ')}`;
  const wrong = findings.filter(({ verdict }) => verdict === 'wrong');
  if (wrong.length > 0) {
    const reported = condition.filter(({ verdict }) => verdict === 'wrong');
    const others = wrong.filter(({ id }) => !reported.some((one) => one.id === id));
    const what = [...reported.map(conditionText), ...others.map(name)].join('; ');
    return `${chalk.red.bold(`FAILED: ${checks(wrong.length)}`)}. ${where}: ${what}${notChecked}.`;
  }
  if (open.length === 0) return `${chalk.green(`ok: ${checks(findings.length)}`)}. ${where}.`;
  return `${chalk.yellow('No fault found')} in ${checks(findings.length - open.length)}. ${where}${notChecked}.`;
}

const valueColumns = ['what', 'value', 'mark', 'source'];
const topicColumns = ['topic', 'enabled', right('messages'), right('rejected'), right('rate'), right('age')] as const;

const reliedColumns = ['orders rely on', 'mark', 'on this chassis'];

const supportText: Readonly<Record<NonNullable<ChassisProbe['relied']>[number]['support'], string>> = {
  'this-device': 'verified on this device',
  simulator: 'on a simulator',
  'another-device': 'stated; supported by a measurement on another device or version',
  nothing: 'not verified on this device, so no order may rely on it',
};

function reliedRow({
  fact,
  mark,
  basis,
  support,
  usable,
  contradictedHere,
}: NonNullable<ChassisProbe['relied']>[number]) {
  const isMeasuredElsewhere = support === 'another-device' && basis === 'measured';
  const supported = isMeasuredElsewhere ? 'measured on another device or version' : supportText[support];
  const text = contradictedHere ? 'CONTRADICTED on this device' : supported;
  return [fact, markText({ mark, basis }), usable ? text : chalk.yellow(text)];
}

function valueRow(what: string, known: Shown | null, text = known === null ? '' : String(known.value)): string[] {
  if (known === null) return [what, 'not reported', '--', '--'];
  const unit = known.unit === undefined ? '' : ` ${known.unit}`;
  return [what, `${printable(text)}${unit}`, markText(known), printable(known.source)];
}

function probeRows({ identity, latency, clock }: ChassisProbe): string[][] {
  const capabilities = identity.capabilities.value;
  const able = capabilities.length === 0 ? 'none announced' : capabilities.join(' ');
  return [
    valueRow('serial number', identity.serial),
    valueRow('model', identity.model),
    valueRow('software', identity.software),
    ...wrapped(able, 48).map((line, i) =>
      i === 0 ? valueRow('capabilities', identity.capabilities, line) : ['', printable(line), '', ''],
    ),
    valueRow('latency, median', latency.median),
    valueRow('latency, longest', latency.longest),
    valueRow('clock', clock?.text ?? null),
    valueRow('clock off, if UTC', clock?.differenceIfUtc ?? null),
    valueRow('clock off, if local zone', clock?.differenceIfSameZone ?? null),
  ];
}

function topicRow({ topic, acknowledged, messages, rejected, rate, age }: ChassisProbe['topics'][number]): string[] {
  return [
    topic,
    acknowledged === 'not-checked' ? 'not acknowledged' : acknowledged,
    String(messages),
    String(rejected),
    rate === null ? '--' : `${rate.value.toFixed(rate.value < 1 ? 2 : 1)} ${rate.unit ?? ''}`,
    age === null ? 'not received' : ageText(age.value),
  ];
}

function wrapped(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + word.length < width) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}

// ── gw chassis watch ────────────────────────────────────────────────────────────────────────────────────────────

type Live = Exclude<ChassisView['values'][keyof ChassisView['values']], { status: 'not-received' }>;
type Topic<V> =
  | (Pick<Live, 'mark' | 'basis' | 'source' | 'ageMs' | 'stale'> & {
      readonly status: 'received';
      readonly value: V;
      readonly parts?: Readonly<Partial<Record<'xM' | 'yawDeg', Pick<Shown, 'mark' | 'basis' | 'source'>>>> | undefined;
    })
  | { readonly status: 'not-received'; readonly rejected?: string | undefined };

/** The full view of `gw chassis watch` at a terminal. */
export function renderChassisView(view: ChassisView): string {
  const { identity, values, poseUnit, complaints } = view;
  const headline = conditionHeadline(view.condition);
  const named = (text: string | null) => printable(text ?? 'not reported');
  const unit = `pose unit: ${poseUnit.verdict}, ${printable(poseUnit.reason)}`;
  const columns = ['what', 'value', 'mark', right('age'), 'source'];
  return page(
    [`${linkText(view.link, isCalm(view))}, for ${ageText(view.linkForMs)}`, ''],
    headline !== null && [headline, ''],
    identity !== null && [
      `chassis ${printable(identity.serial)}, model ${named(identity.model)}, software ${named(identity.software)}`,
      '',
    ],
    [renderTable(columns, liveRows(values)), ''],
    view.unitContradicted
      ? chalk.red.bold(`${unit} -- RADIANS WERE PROVEN: do not drive`)
      : poseUnit.doubt === null
        ? unit
        : chalk.red.bold(`${unit} -- IN DOUBT: do not drive`),
    complaints.slice(-5).map(complaintText),
  );
}

function complaintText({ what, count, ageMs }: ChassisView['complaints'][number]): string {
  return `complaint: ${printable(what)} (${count}, last ${ageText(ageMs)} ago)`;
}

/** One event of `gw chassis watch` as a line. */
export function renderChassisEvent(event: ChassisWatchEvent): string {
  if (event.event === 'ended') {
    return `watched for ${(event.watchedMs / 1000).toFixed(1)} s; at the end: ${linkText(event.link, false)}`;
  }
  const { values, link, at, poseUnit, unitContradicted, condition, complaints } = event;
  const parts = [`${at} ${linkText(link, isCalm(event))}`];
  const headline = conditionHeadline(condition);
  if (headline !== null) parts.push(headline);
  if (unitContradicted) parts.push(chalk.red.bold('RADIANS WERE PROVEN'));
  else if (poseUnit.doubt !== null) parts.push(chalk.red.bold(`THE UNIT IS IN DOUBT: ${printable(poseUnit.doubt)}`));
  for (const row of liveRows(values)) {
    const [what = '', value = '', mark = '', age = ''] = row;
    if (mark !== '--' && what !== '') parts.push(`${what} ${value} (${mark}, ${age})`);
    if (what === '') parts.push(value);
  }
  return [...parts, ...complaints.slice(-3).map(complaintText)].join('  ');
}

/** A connection alone is not green. */
function isCalm({ condition, complaints, unitContradicted }: ChassisView): boolean {
  return !unitContradicted && complaints.length === 0 && condition.every(({ verdict }) => verdict === 'ok');
}

function linkText(link: ChassisView['link'], isCalm = true): string {
  switch (link.kind) {
    case 'connecting':
      return `${chalk.yellow('connecting')} to ${triedText(link.tried)}`;
    case 'connected':
      return `${isCalm ? chalk.green('connected') : chalk.yellow('connected')} to ${placeText(link.tried)}`;
    case 'booting': {
      const done = link.progress === null ? '' : `, ${Math.round(link.progress * 100)} % done`;
      const step = link.step === null ? '' : `, ${printable(link.step)}`;
      return `${chalk.yellow('starting')}${done}${step}: ${placeText(link.tried)}`;
    }
    case 'not-connected':
      return `${chalk.red.bold('not connected')}: tried ${triedText(link.tried)}, ${link.failure.replace('-', ' ')}: ${printable(link.detail)}`;
  }
}

function liveRows({ pose, planning, battery, wheels, positioning, alerts, map }: ChassisView['values']): string[][] {
  const row = <V>(what: string, live: Topic<V>, text: (value: V) => string, part?: 'xM' | 'yawDeg') =>
    live.status === 'received'
      ? liveRow(what, live, text(live.value), part && live.parts?.[part])
      : missing(what, live);
  const active = alerts.status === 'received' ? alerts.value : [];
  return [
    row('position', pose, ({ xM, yM }) => `x ${xM.toFixed(2)} m, y ${yM.toFixed(2)} m`, 'xM'),
    row('heading', pose, ({ yawDeg }) => `${yawDeg.toFixed(1)} degrees`, 'yawDeg'),
    row('move', planning, ({ actionId, actionType, moveState, failReason, remainingDistanceM }) => {
      const failed = failReason === 0 ? '' : `, fail_reason ${failReason}`;
      const left = remainingDistanceM === null ? '' : `, ${remainingDistanceM.toFixed(2)} m left`;
      return `${moveState}: ${actionType} ${actionId}${left}${failed}`;
    }),
    row('battery', battery, (value) => `${chargeText(value)}, ${value.status}`),
    row('wheels', wheels, ({ controlMode }) => controlMode),
    row('emergency stop', wheels, ({ emergencyStopPressed }) => (emergencyStopPressed ? 'PRESSED' : 'not pressed')),
    row('positioning', positioning, ({ state, reliable }) => `${state}, ${reliable ? 'reliable' : 'NOT reliable'}`),
    row('map', map, ({ name, uid }) => `${name} (${uid})`),
    row('alerts', alerts, ({ length }) => (length === 0 ? 'none' : `${length}`)),
    ...active
      .slice(0, 5)
      .map(({ code, level, message }) => ['', printable(`${code} ${level}: ${message}`).slice(0, 60), '', '', '']),
    ...(active.length > 5 ? [['', `and ${active.length - 5} more`, '', '', '']] : []),
  ];
}

function chargeText({ percent, orPercent }: { readonly percent: number; readonly orPercent?: number | undefined }) {
  return orPercent === undefined ? `${percent.toFixed(0)} percent` : `${percent.toFixed(0)} or ${orPercent} percent`;
}

function liveRow(
  what: string,
  live: Pick<Live, 'mark' | 'basis' | 'source' | 'ageMs' | 'stale'>,
  text: string,
  part?: Pick<Shown, 'mark' | 'basis' | 'source'>,
): string[] {
  const { source } = part ?? live;
  const shown = printable(text).slice(0, 60);
  const age = live.stale ? `${ageText(live.ageMs)}, stale` : ageText(live.ageMs);
  return [what, live.stale ? chalk.dim(shown) : shown, markText(part ?? live), age, printable(source)];
}

/** No message received, or every message rejected. */
function missing(what: string, live: { readonly rejected?: string | undefined }): string[] {
  return [what, live.rejected === undefined ? 'not received' : 'rejected', '--', '--', '--'];
}
