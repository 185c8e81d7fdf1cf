import chalk from 'chalk';
import type {
  KioskLock,
  KioskPlan,
  KioskSetup,
  KioskStatus,
  LockOutcome,
} from '../../lib/toolkit/kiosk/kiosk.result.ts';
import { portVerdict, restartVerdict } from '../../lib/toolkit/kiosk/lock.ts';
import { findingLines, printable, remedyLine, renderVerdict, spanText, worstFirst } from '../output.ts';

/** `gw kiosk plan` */
export function renderKioskPlan(data: KioskPlan): string {
  const { verdict, differing, profile, steps } = data;
  const unknown = steps.filter(({ state }) => state === 'not-checked').length;
  const name = `profile '${printable(profile)}'`;
  const first = {
    'as-planned': `The tablet ${chalk.green('matches its profile')}.`,
    differs: `${chalk.red.bold(`${differing} of ${steps.length} steps`)} of ${name} differ on the tablet.`,
    'not-checked': `No difference from ${name} found, ${unknown} of ${steps.length} steps not checked.`,
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
        ? `The tablet is configured (${count}${rest}); its ADB port is ${chalk.red.bold('left open')} (--leave-open).`
        : lock.wasRestarted && lock.readAfterRestart?.verdict !== 'as-profile'
          ? `The tablet was configured (${count}${rest}), restarted and locked; its settings ${chalk.yellow('were not read after the restart')}.`
          : `The tablet is ${(unknown === 0 && portVerdict(lock) === 'ok' ? chalk.green : chalk.yellow)('configured and locked')} (${count}${rest}).`,
    'not-done':
      lock === null
        ? `The tablet is ${chalk.red.bold('not configured')}: see the failed steps. Its ADB port was left open.`
        : `The tablet ${chalk.red.bold('differs from its profile after the restart')}: see gw kiosk status.`,
    'not-locked': `The tablet is configured (${count}${rest}), but its ADB port is ${chalk.red.bold('not verified as closed')}${lock?.verdict === 'closed' ? ' after a restart' : ''}.`,
  }[verdict];
  const lines = [first, '', tabletLine(data), ...steps.flatMap(stepLines)];
  if (lock !== null) lines.push(...lockLines(lock), ...readingLines('after the restart', lock.readAfterRestart));
  return [...lines, ...redLines(data.redLine)].join('\n');
}

/** `gw kiosk lock` */
export function renderKioskLock(data: KioskLock): string {
  const where = addressText(data.address);
  const first = {
    closed:
      data.answeredBy !== 'same'
        ? data.wasOpen
          ? `ADB over TCP at ${where} was ${chalk.yellow('switched off')}; that address refuses connections, and whether the tablet does is unknown.`
          : `${chalk.yellow('Connections are refused')} at ${where}; whether by the tablet is unknown.`
        : data.wasOpen
          ? `ADB over TCP at ${where} is ${chalk.green('switched off, verified closed')}.`
          : `ADB over TCP at ${where} was already ${chalk.green('closed')}; the tablet refuses connections.`,
    open: `ADB over TCP at ${where} is ${chalk.red.bold('still open')}.`,
    'not-verified':
      data.port === 'closed'
        ? `The tablet is ${chalk.red.bold('not verified')} as closed: ${where} refuses connections, but ${data.redLine === null ? 'no tablet was ever connected there' : 'it was last seen open'}, and this may be another device.`
        : `ADB over TCP at ${where} is ${chalk.red.bold('not verified')} as closed: no answer.`,
    'opens-again': `ADB over TCP at ${where} is closed now, but ${chalk.red.bold('a restart of the tablet opens it again')}.`,
  }[data.verdict];
  return [
    first,
    '',
    ...lockLines(data),
    ...readingLines('just before the lock', data.reading),
    ...readingLines('after the restart', data.readAfterRestart),
    ...redLines(data.redLine),
  ].join('\n');
}

function readingLines(when: string, reading: KioskLock['reading']): string[] {
  if (reading === null) return [];
  const { verdict, steps, differing, unknown } = reading;
  const result = {
    'as-profile': 'match the profile',
    differs: `${differing} of ${steps} steps differ`,
    'not-checked': `${unknown} of ${steps} steps not reported`,
  }[verdict];
  const mark = { 'as-profile': 'ok', differs: 'wrong', 'not-checked': 'not-checked' } as const;
  return [`${renderVerdict(mark[verdict])} Settings, read ${when}: ${result}`];
}

/** `gw kiosk status` */
export function renderKioskStatus(data: KioskStatus): string {
  const { findings, port, answeredBy, tablet, setUp } = data;
  const where = addressText(data.address);
  const isDifferent = findings.some(({ verdict }) => verdict === 'wrong');
  const uncheckedCount = findings.filter(({ verdict }) => verdict === 'not-checked').length;
  const rest = uncheckedCount === 0 ? '' : `; ${uncheckedCount} of ${findings.length} checks not made now`;
  const isPortOk = findings.some(({ id, verdict }) => id === 'port' && verdict === 'ok');
  const closed =
    answeredBy === 'same'
      ? chalk.green('closed')
      : `${chalk.yellow('closed')}, by a device that is not visible from here`;
  const refused =
    data.redLine === null
      ? `${chalk.yellow('Not decided')}: ${where} refuses connections, and whether the tablet does is unknown`
      : `The tablet is ${chalk.red.bold('not verified')} as closed: ${where} refuses connections, by a device that is not identified`;
  const first = {
    open: `The tablet at ${where} is ${chalk.red.bold('open')}: ADB over TCP accepts connections.`,
    closed:
      !isPortOk && answeredBy !== 'other'
        ? `${refused}${isDifferent ? `; ${chalk.red.bold('a check failed')}` : rest}.`
        : isDifferent
          ? `The ADB port of the tablet at ${where} is closed, but ${chalk.red.bold('a check failed')}.`
          : answeredBy === 'other'
            ? `${chalk.yellow('Another device')}, not the tablet, answers at ${where}${rest}.`
            : `The ADB port of the tablet at ${where} is ${closed}${rest}.`,
    silent: `The tablet at ${where} ${chalk.yellow('does not answer')}${rest}.`,
  }[port];
  const lines = [first, ''];
  if (tablet !== null)
    lines.push(`${tabletLine({ tablet })}${chalk.dim(setUp.basis === 'read-now' ? '' : ' (remembered)')}`);
  for (const finding of worstFirst(findings)) {
    lines.push(...findingLines({ ...finding, detail: `${provenanceText(finding)}${finding.detail}` }));
  }
  lines.push(...setUp.steps.filter(({ state }) => state !== 'ok').map(differenceLine));
  return [...lines, ...redLines(data.redLine)].join('\n');
}

function differenceLine({ title, state, expected, found }: KioskStatus['setUp']['steps'][number]): string {
  const verdict = state === 'differs' || state === 'failed' ? 'wrong' : 'not-checked';
  const shown = state === 'differs' ? `${found ?? ''}; expected ${expected}` : (found ?? state);
  return `     ${renderVerdict(verdict)} ${printable(`${title}: ${shown}`)}`;
}

/** Provenance of a finding: `remembered as ok, read 12 min ago (…, serial TAB0001, boot 1a2b3c4d): `. */
function provenanceText(finding: KioskStatus['findings'][number]): string {
  const { basis, at, ageS, ageBy, serial, bootId, remembered } = finding;
  if (basis === 'none') return '';
  if (basis === 'read-now') return 'read now: ';
  const rememberedAs = remembered === null ? '' : ` as ${remembered === 'wrong' ? 'FAIL' : remembered}`;
  const age =
    ageS === null
      ? 'age unknown'
      : `read ${spanText(ageS * 1_000)} ago${ageBy === 'wall-clock' ? ' by the wall clock' : ''}`;
  const device = serial === null || serial === '' ? 'serial unknown' : `serial ${serial}`;
  const boot = bootId === null ? 'boot unknown' : `boot ${bootId.slice(0, 8)}`;
  return `remembered${rememberedAs}, ${age} (${at ?? ''}, ${device}, ${boot}): `;
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
  if (remedy !== null) lines.push(remedyLine(remedy));
  return lines;
}

function lockLines(lock: LockOutcome): string[] {
  const { port, afterRestart, afterRestartBasis, keepsOpening, answeredBy } = lock;
  const result = {
    closed:
      answeredBy === 'same'
        ? 'the tablet refuses connections'
        : 'its address refuses connections; the device is not identified',
    open: 'still accepts connections',
    silent: 'no answer, state unknown',
  }[port];
  const lines = [`${renderVerdict(portVerdict(lock))} ADB port: ${result}`];
  if (port === 'closed' && answeredBy !== 'same') {
    lines.push(
      '     Run it on the gateway, in the robot segment: it sees the MAC address of the tablet. Or read it over USB: gw kiosk status --usb',
    );
  }
  const restart = {
    closed: 'stayed closed',
    open: 'opens again',
    'not-checked': 'not checked; verify it with gw kiosk lock --after-restart while the port is open',
  }[afterRestart];
  // Without a connection in this run the result is that of an earlier one.
  const isRemembered = afterRestartBasis === 'remembered' && afterRestart === 'closed';
  lines.push(
    `${renderVerdict(restartVerdict(lock))} After a restart of the tablet: ${restart}${isRemembered ? ' at the last watched restart (remembered)' : ''}`,
  );
  if (keepsOpening !== null) lines.push(`     Still set on the tablet: ${printable(keepsOpening)}.`);
  return lines;
}

function redLines(redLine: KioskPlan['redLine']): string[] {
  if (redLine === null) return [];
  return ['', chalk.red.bold(printable(redLine.detail)), printable(redLine.remedy)];
}

function addressText({ host, port }: { readonly host: string; readonly port: number }): string {
  return printable(`${host.includes(':') ? `[${host}]` : host}:${port}`);
}
