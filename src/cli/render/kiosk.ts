import chalk from 'chalk';
import type { KioskLock, KioskPlan, KioskSetup, KioskStatus, LockOutcome } from '../../lib/toolkit/kiosk.result.ts';
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
        : `The tablet is ${(unknown === 0 ? chalk.green : chalk.yellow)('set up and closed')} (${count}${rest}).`,
    'not-done': `The tablet is ${chalk.red.bold('not set up')}: read the failed lines. It was left open.`,
    'not-locked': `The tablet is set up (${count}${rest}), but ${chalk.red.bold('not proven closed')}${lock?.verdict === 'closed' ? ' over a restart' : ''}.`,
  }[verdict];
  const lines = [first, '', tabletLine(data), ...steps.flatMap(stepLines)];
  if (lock !== null) lines.push(...lockLines(lock));
  return [...lines, ...redLines(data.redLine)].join('\n');
}

/** `gw kiosk lock` */
export function renderKioskLock(data: KioskLock): string {
  const where = addressText(data.address);
  const first = {
    closed: data.wasOpen
      ? `ADB over TCP at ${where} is ${chalk.green('switched off, and proven closed')}.`
      : `ADB over TCP at ${where} was ${chalk.green('closed')} already, and is proven so.`,
    open: `ADB over TCP at ${where} is ${chalk.red.bold('still open')}.`,
    'not-proven': `Whether ADB over TCP at ${where} is closed is ${chalk.red.bold('not proven')}: nobody answers there.`,
    'opens-again': `ADB over TCP at ${where} is closed now, but ${chalk.red.bold('a restart of the tablet opens it again')}.`,
  }[data.verdict];
  return [first, '', ...lockLines(data), ...redLines(data.redLine)].join('\n');
}

/** `gw kiosk status` */
export function renderKioskStatus(data: KioskStatus): string {
  const { findings, port, record } = data;
  const where = addressText(data.address);
  const first = {
    open: `The tablet at ${where} is ${chalk.red.bold('open')}: ADB over TCP takes connections.`,
    closed: findings.some(({ verdict }) => verdict === 'wrong')
      ? `The tablet at ${where} is closed, but ${chalk.red.bold('not in order')}.`
      : `The tablet at ${where} is ${chalk.green('closed')}.`,
    silent: `The tablet at ${where} ${chalk.yellow('does not answer')}.`,
  }[port];
  const lines = [first, ''];
  if (record?.tablet != null) lines.push(tabletLine({ tablet: record.tablet }));
  for (const { verdict, title, detail, remedy } of findings) {
    lines.push(`${renderVerdict(verdict)} ${title}: ${printable(detail)}`);
    if (remedy !== null) lines.push(`     ${printable(remedy)}`);
  }
  return [...lines, ...redLines(data.redLine)].join('\n');
}

type Step = KioskPlan['steps'][number];

function tabletLine({ tablet }: { readonly tablet: KioskPlan['tablet'] }): string {
  const { manufacturer, model, serial, android, sdk } = tablet;
  const name = [manufacturer, model].filter((word) => word !== '').join(' ');
  return chalk.dim(printable(`${name}, serial ${serial === '' ? 'unknown' : serial}, Android ${android} (API ${sdk})`));
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

function lockLines({ port, afterRestart, keepsOpening }: LockOutcome): string[] {
  const said = {
    closed: 'the tablet refuses connections to it',
    open: 'it still takes connections',
    silent: 'nobody answers, which proves nothing',
  }[port];
  const mark = { closed: 'ok', open: 'wrong', silent: 'not-checked' } as const;
  const lines = [`${renderVerdict(mark[port])} Port of ADB: ${said}`];
  const restart = {
    closed: 'stayed closed',
    open: 'opens again',
    'not-checked': 'not checked; gw kiosk lock --after-restart proves it while the tablet is open',
  }[afterRestart];
  const verdict = ({ closed: 'ok', open: 'wrong', 'not-checked': 'not-checked' } as const)[afterRestart];
  lines.push(`${renderVerdict(verdict)} After a restart of the tablet: ${restart}`);
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
