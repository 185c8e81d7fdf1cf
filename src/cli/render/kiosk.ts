import chalk from 'chalk';
import type {
  KioskLock,
  KioskPlan,
  KioskSetup,
  KioskStatus,
  LockOutcome,
} from '../../lib/toolkit/kiosk/kiosk.result.ts';
import { printable, renderVerdict } from '../output.ts';

/** `gw kiosk plan` */
export function renderKioskPlan(data: KioskPlan): string {
  const { verdict, differing, profile, steps } = data;
  const unknown = steps.filter(({ state }) => state === 'not-checked').length;
  const name = `profile '${printable(profile)}'`;
  const first = {
    'as-planned': `The tablet is ${chalk.green('as its profile says')}.`,
    differs: `${chalk.red.bold(`${differing} of ${steps.length} steps`)} of ${name} differ on the tablet.`,
    'not-checked': `Nothing of ${name} differs, but the tablet does not tell everything (${unknown} not checked).`,
  }[verdict];
  return [first, '', tabletLine(data), ...steps.flatMap(stepLines), ...redLines(data.redLine)].join('\n');
}

/** `gw kiosk setup` */
export function renderKioskSetup(data: KioskSetup): string {
  const { verdict, steps, changed, lock } = data;
  const unknown = steps.filter(({ state }) => state === 'not-checked').length;
  const count = `${changed} of ${steps.length} steps changed`;
  const rest = unknown === 0 ? '' : `, ${unknown} not checked`;
  const first = {
    done:
      lock === null
        ? `The tablet is set up (${count}${rest}), and ${chalk.red.bold('left open')} as asked for.`
        : lock.wasRestarted && lock.readAfterRestart?.verdict !== 'as-profile'
          ? `The tablet was set up (${count}${rest}), restarted and closed; ${chalk.yellow('how it is after the restart was not read')}.`
          : `The tablet is ${(unknown === 0 ? chalk.green : chalk.yellow)('set up and closed')} (${count}${rest}).`,
    'not-done':
      lock === null
        ? `The tablet is ${chalk.red.bold('not set up')}: read the failed lines. It was left open.`
        : `The tablet is ${chalk.red.bold('otherwise after its restart')} than its profile says: gw kiosk status shows how.`,
    'not-locked': `The tablet is set up (${count}${rest}), but ${chalk.red.bold('not proven closed')}${lock?.verdict === 'closed' ? ' over a restart' : ''}.`,
  }[verdict];
  const lines = [first, '', tabletLine(data), ...steps.flatMap(stepLines)];
  if (lock !== null) lines.push(...lockLines(lock), ...readingLines('after the restart', lock.readAfterRestart));
  return [...lines, ...redLines(data.redLine)].join('\n');
}

/** `gw kiosk lock` */
export function renderKioskLock(data: KioskLock): string {
  const where = addressText(data.address);
  const first = {
    closed: data.wasOpen
      ? `ADB over TCP at ${where} is ${chalk.green('switched off, and proven closed')}.`
      : data.answeredBy === 'same'
        ? `ADB over TCP at ${where} was ${chalk.green('closed')} already, and the tablet still refuses.`
        : `${chalk.yellow('Connections are refused')} at ${where}; whether by the tablet is not known.`,
    open: `ADB over TCP at ${where} is ${chalk.red.bold('still open')}.`,
    'not-proven':
      data.port === 'closed'
        ? `Whether the tablet is closed is ${chalk.red.bold('not proven')}: ${where} refuses, but it was last seen open, and this may be another device.`
        : `Whether ADB over TCP at ${where} is closed is ${chalk.red.bold('not proven')}: no answer from there.`,
    'opens-again': `ADB over TCP at ${where} is closed now, but ${chalk.red.bold('a restart of the tablet opens it again')}.`,
  }[data.verdict];
  return [
    first,
    '',
    ...lockLines(data),
    ...readingLines('just before it was closed', data.reading),
    ...readingLines('after the restart', data.readAfterRestart),
    ...redLines(data.redLine),
  ].join('\n');
}

function readingLines(when: string, reading: KioskLock['reading']): string[] {
  if (reading === null) return [];
  const { verdict, steps, differing, unknown } = reading;
  const said = {
    'as-profile': 'as its profile says',
    differs: `${differing} of ${steps} steps differ`,
    'not-checked': `${unknown} of ${steps} steps not reported`,
  }[verdict];
  const mark = { 'as-profile': 'ok', differs: 'wrong', 'not-checked': 'not-checked' } as const;
  return [`${renderVerdict(mark[verdict])} Settings, read ${when}: ${said}`];
}

/** `gw kiosk status` */
export function renderKioskStatus(data: KioskStatus): string {
  const { findings, port, answeredBy, tablet, setUp } = data;
  const where = addressText(data.address);
  const isDifferent = findings.some(({ verdict }) => verdict === 'wrong');
  const unread = findings.filter(({ verdict }) => verdict === 'not-checked').length;
  const rest = unread === 0 ? '' : `; ${unread} of ${findings.length} lines are not checked now`;
  const closed = answeredBy === 'same' ? chalk.green('closed') : chalk.yellow('closed');
  const first = {
    open: `The tablet at ${where} is ${chalk.red.bold('open')}: ADB over TCP takes connections.`,
    closed: isDifferent
      ? `The port of the tablet at ${where} is closed, but the tablet is ${chalk.red.bold('not in order')}.`
      : answeredBy === 'other'
        ? `${chalk.yellow('Another device')} than the tablet answers at ${where}${rest}.`
        : `The port of the tablet at ${where} is ${closed}${rest}.`,
    silent: `The tablet at ${where} ${chalk.yellow('does not answer')}${rest}.`,
  }[port];
  const lines = [first, ''];
  if (tablet !== null)
    lines.push(`${tabletLine({ tablet })}${chalk.dim(setUp.basis === 'read-now' ? '' : ' (remembered)')}`);
  for (const { verdict, title, detail, remedy, ...rests } of findings) {
    lines.push(`${renderVerdict(verdict)} ${title}: ${printable(`${basisText(rests)}${detail}`)}`);
    if (remedy !== null) lines.push(`     ${printable(remedy)}`);
  }
  lines.push(...setUp.steps.filter(({ state }) => state !== 'ok').map(differenceLine));
  return [...lines, ...redLines(data.redLine)].join('\n');
}

function differenceLine({ title, state, expected, found }: KioskStatus['setUp']['steps'][number]): string {
  const verdict = state === 'differs' || state === 'failed' ? 'wrong' : 'not-checked';
  const shown = state === 'differs' ? `${found ?? ''}; expected ${expected}` : (found ?? state);
  return `     ${renderVerdict(verdict)} ${printable(`${title}: ${shown}`)}`;
}

/** What a line rests on: `remembered from 12 min ago, serial TAB0001, boot 1a2b3c4d: `. */
function basisText(part: Omit<KioskStatus['findings'][number], 'verdict' | 'title' | 'detail' | 'remedy'>): string {
  const { basis, at, ageS, ageBy, serial, bootId, remembered } = part;
  if (basis === 'none') return '';
  if (basis === 'read-now') return 'read now: ';
  const held = remembered === null ? '' : ` as ${remembered === 'wrong' ? 'FAIL' : remembered}`;
  const age =
    ageS === null ? 'age not known' : `read ${ageText(ageS)} ago${ageBy === 'wall-clock' ? ' by the wall clock' : ''}`;
  const device = serial === null || serial === '' ? 'serial not known' : `serial ${serial}`;
  const boot = bootId === null ? 'boot not known' : `boot ${bootId.slice(0, 8)}`;
  return `remembered${held}, ${age} (${at ?? ''}, ${device}, ${boot}): `;
}

/** `45 s`, `12 min`, `30 h`, `12 days`. */
function ageText(seconds: number): string {
  if (seconds < 120) return `${seconds} s`;
  if (seconds < 7_200) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 172_800) return `${Math.floor(seconds / 3_600)} h`;
  return `${Math.floor(seconds / 86_400)} days`;
}

type Step = KioskPlan['steps'][number];

function tabletLine({ tablet }: { readonly tablet: KioskPlan['tablet'] }): string {
  const { manufacturer, model, serial, android, sdk, bootId } = tablet;
  const name = [manufacturer, model].filter((word) => word !== '').join(' ');
  const boot = bootId === null ? '' : `, boot ${bootId.slice(0, 8)}`;
  const text = `${name}, serial ${serial === '' ? 'unknown' : serial}, Android ${android} (API ${sdk})${boot}`;
  return chalk.dim(printable(text));
}

function stepLines({ state, title, found, expected, remedy, byHand, error }: Step): string[] {
  const mark = { changed: 'ok', ok: 'ok', differs: 'wrong', failed: 'wrong' } as const;
  const verdict = renderVerdict(state === 'not-checked' || state === 'not-reached' ? 'not-checked' : mark[state]);
  const detail = {
    ok: found ?? '',
    changed: `${found ?? ''} (changed)`,
    differs: `${found ?? ''}; expected ${expected}${byHand ? ' (by hand)' : ''}`,
    'not-checked': `not checked: ${found ?? ''}`,
    failed: error?.message ?? '',
    'not-reached': 'not reached',
  }[state];
  const lines = [`${verdict} ${printable(title)}: ${printable(detail)}`];
  if (remedy !== null) lines.push(`     ${printable(remedy)}`);
  return lines;
}

function lockLines({ port, afterRestart, afterRestartBasis, keepsOpening, answeredBy }: LockOutcome): string[] {
  const said = {
    closed: answeredBy === 'same' ? 'the tablet refuses connections to it' : 'its address refuses connections',
    open: 'it still takes connections',
    silent: 'no answer, which proves nothing',
  }[port];
  const mark = { closed: 'ok', open: 'wrong', silent: 'not-checked' } as const;
  const lines = [`${renderVerdict(mark[port])} Port of ADB: ${said}`];
  const restart = {
    closed: 'stayed closed',
    open: 'opens again',
    'not-checked': 'not checked; gw kiosk lock --after-restart proves it while the tablet is open',
  }[afterRestart];
  const verdict = ({ closed: 'ok', open: 'wrong', 'not-checked': 'not-checked' } as const)[afterRestart];
  // Without a connection in this run the proof is that of an earlier one.
  const isRemembered = afterRestartBasis === 'remembered' && afterRestart === 'closed';
  const shown = isRemembered ? renderVerdict('not-checked') : renderVerdict(verdict);
  lines.push(
    `${shown} After a restart of the tablet: ${restart}${isRemembered ? ' when that was tried (remembered)' : ''}`,
  );
  if (keepsOpening !== null) lines.push(`     The tablet keeps ${printable(keepsOpening)}.`);
  return lines;
}

function redLines(redLine: KioskPlan['redLine']): string[] {
  if (redLine === null) return [];
  return ['', chalk.red.bold(printable(redLine.detail)), printable(redLine.remedy)];
}

function addressText({ host, port }: { readonly host: string; readonly port: number }): string {
  return printable(`${host.includes(':') ? `[${host}]` : host}:${port}`);
}
