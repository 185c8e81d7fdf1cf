import chalk from 'chalk';
import type { ServeEvent } from '../../lib/gateway/serve.result.ts';
import { plural, shorten } from '../../lib/text/index.ts';
import type { GatewayLog, GatewayLogLevel, JudgedHealth } from '../../lib/toolkit/gateway/gateway.result.ts';
import { ageText, printable, renderTable } from '../output.ts';

// ── gw health ───────────────────────────────────────────────────────────────────────────────────────────────────

/** `gw health` */
export function renderHealth(health: JudgedHealth): string {
  const { verdict, version, upForMs, services, evidence, disk, cloud, support, fleet, certificate, clock, log } =
    health;
  const rows: readonly (readonly [part: string, status: string, detail: string])[] = [
    ...services.map(({ name, status, restarts, detail, lastError }) => {
      const again = restarts === 0 ? '' : `; ${plural(restarts, 'restart')}, last error: ${lastError ?? 'unknown'}`;
      return [`service ${name}`, status, `${detail}${again}`] as const;
    }),
    ['evidence', evidence.status, evidence.detail],
    ['disk of the state', disk.state.status, disk.state.detail],
    ['disk of the media', disk.media.status, disk.media.detail],
    ['cloud', cloud.status, cloud.detail],
    [
      'device certificate',
      certificate?.status ?? 'not checked',
      certificate?.detail ?? 'this gateway does not report it',
    ],
    ...(certificate?.renewal ? [['its renewal', certificate.renewal.status, certificate.renewal.detail] as const] : []),
    ['wall clock', clock?.status ?? 'not checked', clockDetail(clock)],
    ['remote support', support.status, support.detail],
    ['its records', support.records === 'not-checked' ? 'not checked' : support.records, ''],
    ['other robots', fleet?.status ?? 'not checked', fleet?.detail ?? 'this gateway does not report them'],
    ['log output', log.status, log.detail],
  ];
  const optional = [certificate, certificate?.renewal, clock].filter((one) => one !== undefined);
  const remedies = [...services, disk.state, disk.media, ...optional].flatMap(({ remedy }) => remedy ?? []);
  return [
    `Gateway ${verdictText[verdict]}: gw ${printable(version)}, up for ${ageText(upForMs)}.`,
    ...new Set(remedies.map((remedy) => `  do next  ${printable(remedy)}`)),
    '',
    renderTable(
      ['part', 'state', ''],
      rows.map(([part, found, detail]) => [printable(part), stateText(found), printable(detail)]),
    ),
  ].join('\n');
}

function clockDetail(clock: JudgedHealth['clock']): string {
  if (clock === undefined) return 'this gateway does not report it';
  const { detail, ageMs, jumps, lastJump } = clock;
  const age = ageMs === null ? '' : ` Compared ${ageText(ageMs)} ago.`;
  const set =
    lastJump === null
      ? ''
      : ` Set ${plural(jumps, 'time')} since the start, or the machine slept; last at ${lastJump.at}.`;
  return `${detail}${age}${set}`;
}

const verdictText: Readonly<Record<JudgedHealth['verdict'], string>> = {
  ok: chalk.green('ok'),
  wrong: chalk.red.bold('DEGRADED'),
  'not-checked': chalk.yellow('not completely checked'),
};

const fine: ReadonlySet<string> = new Set(['ok', 'not-due', 'running', 'as-read', 'connected', 'waiting', 'writing']);
const unused: ReadonlySet<string> = new Set(['not-configured', 'not-enrolled', 'off', 'discarded']);

/** Only what is as it should be has no colour: green would be a verdict of its own. */
function stateText(found: string): string {
  if (fine.has(found)) return found;
  return unused.has(found) ? chalk.dim(found) : chalk.yellow(found);
}

// ── gw log ──────────────────────────────────────────────────────────────────────────────────────────────────────

type Entry = GatewayLog['entries'][number];

/** Of the value of a field; --json has all of it. */
const MAX_VALUE = 200;

/** `gw log` */
export function renderLog({ entries, audit }: GatewayLog): string {
  const first = entries[0];
  if (first === undefined) return 'No log event since the gateway started.';
  const earlier = audit.filter(({ lastTime }) => lastTime < first.time);
  const count = (level: Entry['level']) =>
    entries.reduce((sum, entry) => sum + (entry.level === level ? entry.count : 0), 0);
  const all = entries.reduce((sum, entry) => sum + entry.count, 0);
  const summary = `${plural(all, 'log event')} since ${printable(first.time)}: ${plural(count('error'), 'error')}, ${plural(count('warn'), 'warning')}.`;
  const acts = earlier.length === 0 ? [] : ['', 'Earlier acts:', ...earlier.map(line)];
  return [summary, ...acts, '', ...entries.map(line)].join('\n');
}

/** `gw log level` */
export function renderLogLevel({ level, configured, leftS }: GatewayLogLevel): string {
  return leftS === null
    ? `Log level ${level}, as configured.`
    : `Log level ${chalk.yellow(level)} for ${leftS} s more, then ${configured} again.`;
}

function line({ time, lastTime, ...entry }: Entry): string {
  const more = entry.count === 1 ? '' : chalk.dim(` (${entry.count} times, last ${printable(lastTime)})`);
  return `${logLine(printable(time), entry)}${more}`;
}

/** `when` is printable text. */
export function logLine(when: string, { level, message, fields }: Pick<Entry, 'level' | 'message' | 'fields'>): string {
  const values = Object.entries(fields).map(([key, value]) => {
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    return ` ${printable(key)}=${printable(shorten(text, MAX_VALUE))}`;
  });
  return `${chalk.dim(when)} ${coloured[level](level.padEnd(5))} ${printable(message)}${values.join('')}`;
}

const coloured = { debug: chalk.dim, info: chalk.dim, warn: chalk.yellow, error: chalk.red } as const;

/** One line of `gw serve`: one for each service, then `ready`. */
export function renderServeEvent(event: ServeEvent): string {
  switch (event.event) {
    case 'started':
      return `${event.service.padEnd(10)}${printable(event.detail)}`;
    case 'ready':
      return chalk.green('ready');
    case 'failed':
      return `${event.service.padEnd(10)}${chalk.red('failed')}: ${printable(event.message)} (retry in ${event.retryInMs} ms). Do next: ${printable(event.remedy)}`;
    case 'restarting':
      return `restarting: ${printable(event.reason)}`;
    case 'stopping':
      return 'stopping';
    case 'stopped':
      return `${event.service.padEnd(10)}stopped`;
    case 'stop-failed':
      return `${event.service.padEnd(10)}${chalk.red('did not stop')}: ${printable(event.message)}`;
    case 'dropped':
      return chalk.yellow(`${plural(event.lines, 'line was', 'lines were')} dropped: stdout was not read`);
    case 'ended':
      return 'ended';
  }
}
