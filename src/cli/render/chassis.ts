import chalk from 'chalk';
import { formatTried } from '../../lib/error/index.ts';
import { type Basis, type Mark, markText } from '../../lib/evidence/index.ts';
import type { ChassisAddress } from '../../lib/toolkit/chassis-address.result.ts';
import type { ChassisProbe } from '../../lib/toolkit/chassis-probe.result.ts';
import type { ChassisView, ChassisWatchEvent } from '../../lib/toolkit/chassis-watch.result.ts';
import { printable, renderTable, renderVerdict } from '../output.ts';

/** A value with how well it is known, as results carry it. */
interface Shown {
  readonly value: unknown;
  readonly mark: Mark;
  readonly basis: Basis;
  readonly source: string;
  readonly unit?: string | undefined;
}

type Tried = ChassisAddress['tried'];

function triedText({ address, port, action, forMs }: Tried): string {
  return printable(
    formatTried({
      address,
      ...(port !== undefined && { port }),
      ...(action !== undefined && { action }),
      ...(forMs !== undefined && { forMs }),
    }),
  );
}

function placeText({ address, port }: Tried): string {
  return triedText({ address, port });
}

// ── gw chassis address ──────────────────────────────────────────────────────────────────────────────────────────

const failureWords: Readonly<Record<NonNullable<ChassisAddress['failure']>, string>> = {
  refused: 'refused',
  'no-route': 'no route',
  'no-answer': 'no answer',
  'unknown-name': 'unknown name',
  cut: 'cut',
  other: 'failed',
  'bad-answer': 'bad answer',
  'wrong-device': 'wrong device',
};

/** `gw chassis address` */
export function renderChassisAddress(data: ChassisAddress): string {
  const { name, tcp, serial, mac, tookMs, remedy, way } = data;
  const nameText: Record<ChassisAddress['name']['kind'], string> = {
    address: 'an address, nothing to look up',
    resolved: `${name.addresses.join(', ')} (looked up in ${name.tookMs} ms)`,
    unknown: 'this machine knows no address for it',
    'no-answer': `no answer to the look-up within ${name.tookMs} ms`,
    'not-checked': 'not looked up here: the far machine does it',
  };
  const nameVerdict = {
    address: 'ok',
    resolved: 'ok',
    unknown: 'wrong',
    'no-answer': 'wrong',
    'not-checked': 'not-checked',
  } as const;
  const tcpText = {
    ok: `open after ${tcp.tookMs} ms`,
    wrong: 'could not be opened',
    'not-checked': 'not known in time',
  };
  const found = serial.found === null ? 'not told' : printable(serial.found);
  const lines = [
    answerLine(data),
    '',
    `${renderVerdict(nameVerdict[name.kind])} name    ${printable(data.tried.address)}: ${printable(nameText[name.kind])}`,
    `${renderVerdict(tcp.verdict)} port    ${data.tried.port ?? ''} ${tcpText[tcp.verdict]}${way === 'direct' ? '' : `, ${printable(way)}`}`,
    `${renderVerdict(serial.verdict)} serial  found ${found}, expected ${printable(serial.expected)}`,
    `${renderVerdict(mac.verdict)} mac     ${macText(mac)}`,
    '',
    chalk.dim(`took ${tookMs} ms in all`),
  ];
  if (remedy !== null) lines.push(`do next: ${remedy}`);
  return lines.join('\n');
}

function answerLine(data: ChassisAddress): string {
  const { state, failure, detail, tried, serial, software } = data;
  switch (state) {
    case 'connected': {
      const version = software === null ? '' : `, software ${printable(software)}`;
      return `${chalk.green('connected')}: ${placeText(tried)} is chassis ${printable(serial.found ?? '')}${version}`;
    }
    case 'starting':
      return `${chalk.yellow('starting')}: tried ${triedText(tried)}: ${printable(detail)}`;
    case 'wrong-device':
    case 'not-connected':
      return `${chalk.red.bold('not connected')}: tried ${triedText(tried)}, ${failureWords[failure ?? 'other']}: ${printable(detail)}`;
  }
}

function macText({ verdict, expected, found, detail }: ChassisAddress['mac']): string {
  const sides = found === null ? '' : ` (found ${found}, expected ${expected ?? 'not named'})`;
  return `${verdict === 'not-checked' ? 'not checked: ' : ''}${printable(detail)}${sides}`;
}

// ── gw chassis probe ────────────────────────────────────────────────────────────────────────────────────────────

/** `gw chassis probe` */
export function renderChassisProbe(data: ChassisProbe): string {
  const { identity, findings, topics, complaints } = data;
  const wrong = findings.filter(({ verdict }) => verdict === 'wrong');
  const notChecked = findings.filter(({ verdict }) => verdict === 'not-checked').length;
  const where = printable(placeText({ address: data.address.host, port: data.address.port }));
  const serial = printable(identity.serial.value);
  const rest = notChecked === 0 ? '' : `; ${notChecked} ${notChecked === 1 ? 'thing' : 'things'} not checked`;
  const first =
    wrong.length === 0
      ? `${data.poseUnit.verdict === 'degrees' ? chalk.green('Nothing is wrong') : `${chalk.yellow('The unit of the pose is not decided')}; nothing else is wrong`} with chassis ${serial} at ${where}${rest}.`
      : `${chalk.red.bold(`${wrong.length} ${wrong.length === 1 ? 'thing is' : 'things are'} wrong`)} with chassis ${serial} at ${where}${rest}.`;
  const lines = [first, ''];
  if (data.poseUnit.verdict === 'radians') {
    lines.unshift(chalk.red.bold('THE POSE IS IN RADIANS. Do not drive this robot with gw.'));
  } else if (data.poseUnit.doubt !== null) {
    lines.unshift(
      chalk.red.bold('THE POSE MAY BE IN RADIANS. Do not drive this robot with gw before that is decided.'),
    );
  }
  for (const { verdict, title, detail, remedy } of findings) {
    lines.push(`${renderVerdict(verdict)} ${title}: ${printable(detail)}`);
    if (remedy !== null) lines.push(`     ${printable(remedy)}`);
  }
  lines.push('', renderTable(valueColumns, probeRows(data)));
  if (data.relied !== null) lines.push('', renderTable(reliedColumns, data.relied.map(reliedRow)));
  lines.push('', renderTable(topicColumns, topics.map(topicRow)));
  lines.push(
    '',
    chalk.dim(
      `listened for ${(data.listenedMs / 1000).toFixed(1)} s; rate and age are ${markText({ mark: 'BELEGT', basis: 'here' })}`,
    ),
  );
  for (const { what, count } of complaints)
    lines.push(`complaint: ${printable(what)}${count > 1 ? ` (${count} times)` : ''}`);
  return lines.join('\n');
}

const valueColumns = [{ title: 'what' }, { title: 'value' }, { title: 'mark' }, { title: 'source' }];
const topicColumns = [
  { title: 'topic' },
  { title: 'enabled' },
  { title: 'messages', align: 'right' },
  { title: 'rate', align: 'right' },
  { title: 'age', align: 'right' },
] as const;

const reliedColumns = [{ title: 'orders rely on' }, { title: 'mark' }, { title: 'on this chassis' }];

const supportText: Readonly<Record<NonNullable<ChassisProbe['relied']>[number]['support'], string>> = {
  'this-device': 'verified here',
  simulator: 'on a simulator',
  'another-device': 'measured on another device or version',
  nothing: 'not verified here, so no order may rely on it',
};

function reliedRow({
  fact,
  mark,
  basis,
  support,
  usable,
  contradictedHere,
}: NonNullable<ChassisProbe['relied']>[number]) {
  const text = contradictedHere ? 'CONTRADICTED here' : supportText[support];
  return [fact, markText({ mark, basis }), usable ? text : chalk.yellow(text)];
}

function valueRow(what: string, known: Shown | null, text = known === null ? '' : String(known.value)): string[] {
  if (known === null) return [what, 'not told', '--', '--'];
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
    valueRow('clock off, if our zone', clock?.differenceIfSameZone ?? null),
  ];
}

function topicRow({ topic, acknowledged, messages, rate, age }: ChassisProbe['topics'][number]): string[] {
  return [
    topic,
    acknowledged === 'not-checked' ? 'not told' : acknowledged,
    String(messages),
    rate === null ? '--' : `${rate.value.toFixed(1)} ${rate.unit ?? ''}`,
    age === null ? 'not heard' : ageText(age.value),
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

type Live = Exclude<ChassisView['values'][keyof ChassisView['values']], { status: 'not-heard' }>;

/** The whole picture of `gw chassis watch` at a terminal. */
export function renderChassisView(view: ChassisView): string {
  const { identity, values, poseUnit, complaints } = view;
  const lines = [`${linkText(view.link)}, for ${ageText(view.linkForMs)}`, ''];
  if (identity !== null) {
    const { serial, model, software } = identity;
    lines.push(
      `chassis ${printable(serial)}, model ${printable(model ?? 'not told')}, software ${printable(software ?? 'not told')}`,
      '',
    );
  }
  const columns = [
    { title: 'what' },
    { title: 'value' },
    { title: 'mark' },
    { title: 'age', align: 'right' as const },
    { title: 'source' },
  ];
  lines.push(renderTable(columns, liveRows(values)), '');
  const unit = `pose unit: ${poseUnit.verdict}, ${printable(poseUnit.reason)}`;
  if (view.unitContradicted) lines.push(chalk.red.bold(`${unit} -- RADIANS WERE PROVEN: do not drive`));
  else lines.push(poseUnit.doubt === null ? unit : chalk.red.bold(`${unit} -- IN DOUBT: do not drive`));
  for (const { what, count, ageMs } of complaints.slice(-5)) {
    lines.push(`complaint: ${printable(what)} (${count}, last ${ageText(ageMs)} ago)`);
  }
  return lines.join('\n');
}

/** One event of `gw chassis watch` as a line. */
export function renderChassisEvent(event: ChassisWatchEvent): string {
  if (event.event === 'ended') {
    return `watched for ${(event.watchedMs / 1000).toFixed(1)} s; at the end: ${linkText(event.link)}`;
  }
  const { values, link, at, poseUnit, unitContradicted } = event;
  const parts = [`${at} ${linkText(link)}`];
  if (unitContradicted) parts.push(chalk.red.bold('RADIANS WERE PROVEN'));
  else if (poseUnit.doubt !== null) parts.push(chalk.red.bold(`THE UNIT IS IN DOUBT: ${printable(poseUnit.doubt)}`));
  for (const row of liveRows(values)) {
    const [what = '', value = '', mark = '', age = ''] = row;
    if (mark !== '--' && what !== '') parts.push(`${what} ${value} (${mark}, ${age})`);
  }
  return parts.join('  ');
}

function linkText(link: ChassisView['link']): string {
  switch (link.kind) {
    case 'connecting':
      return `${chalk.yellow('connecting')} to ${triedText(link.tried)}`;
    case 'connected':
      return `${chalk.green('connected')} to ${placeText(link.tried)}`;
    case 'booting': {
      const done = link.progress === null ? '' : `, ${Math.round(link.progress * 100)} % done`;
      const step = link.step === null ? '' : `, ${printable(link.step)}`;
      return `${chalk.yellow('starting')}${done}${step}: ${placeText(link.tried)}`;
    }
    case 'not-connected':
      return `${chalk.red.bold('not connected')}: tried ${triedText(link.tried)}, ${link.failure.replace('-', ' ')}: ${printable(link.detail)}`;
  }
}

function liveRows(values: ChassisView['values']): string[][] {
  const { pose, planning, battery, wheels, positioning, alerts, map } = values;
  const rows: string[][] = [];
  if (pose.status === 'heard') {
    const { xM, yM, yawDeg } = pose.value;
    rows.push(liveRow('position', pose, `x ${xM.toFixed(2)} m, y ${yM.toFixed(2)} m`, pose.parts?.xM));
    rows.push(liveRow('heading', pose, `${yawDeg.toFixed(1)} degrees`, pose.parts?.yawDeg));
  } else {
    rows.push(notHeard('position'), notHeard('heading'));
  }
  if (planning.status === 'heard') {
    const { actionId, actionType, moveState, failReason, remainingDistanceM } = planning.value;
    const failed = failReason === 0 ? '' : `, fail_reason ${failReason}`;
    const left = remainingDistanceM === null ? '' : `, ${remainingDistanceM.toFixed(2)} m left`;
    rows.push(liveRow('move', planning, `${moveState}: ${actionType} ${actionId}${left}${failed}`));
  } else rows.push(notHeard('move'));
  rows.push(
    battery.status === 'heard'
      ? liveRow('battery', battery, `${battery.value.percent.toFixed(0)} percent, ${battery.value.status}`)
      : notHeard('battery'),
    wheels.status === 'heard' ? liveRow('wheels', wheels, wheels.value.controlMode) : notHeard('wheels'),
    wheels.status === 'heard'
      ? liveRow('emergency stop', wheels, wheels.value.emergencyStopPressed ? 'PRESSED' : 'not pressed')
      : notHeard('emergency stop'),
    positioning.status === 'heard'
      ? liveRow(
          'positioning',
          positioning,
          `${positioning.value.state}, ${positioning.value.reliable ? 'reliable' : 'NOT reliable'}`,
        )
      : notHeard('positioning'),
    map.status === 'heard' ? liveRow('map', map, `${map.value.name} (${map.value.uid})`) : notHeard('map'),
  );
  if (alerts.status === 'heard') {
    const active = alerts.value;
    rows.push(liveRow('alerts', alerts, active.length === 0 ? 'none' : `${active.length}`));
    for (const { code, level, message } of active.slice(0, 5)) {
      rows.push(['', printable(`${code} ${level}: ${message}`).slice(0, 60), '', '', '']);
    }
  } else rows.push(notHeard('alerts'));
  return rows;
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

function notHeard(what: string): string[] {
  return [what, 'not heard', '--', '--', '--'];
}

/** `0.3 s`, `4 min`. */
function ageText(ms: number): string {
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  const minutes = Math.floor(ms / 60_000);
  return minutes < 120 ? `${minutes} min` : `${Math.floor(minutes / 60)} h`;
}
