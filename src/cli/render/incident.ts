import chalk from 'chalk';
import { eachOnce, plural, quoted } from '../../lib/text/index.ts';
import type { ExportedIncident, Incidents, ShownIncident } from '../../lib/toolkit/incident/incident.result.ts';
import { printable, renderTable, right } from '../output.ts';
import { logLine } from './gateway.ts';

/** `gw incident list` */
export function renderIncidents({ incidents, recording, unreadable, folderProblem, notKept }: Incidents): string {
  const troubles = [
    ...(notKept === null
      ? []
      : [`${plural(notKept.count, 'incident')} NOT KEPT since the gateway started: ${printable(notKept.reason)}`]),
    ...(folderProblem === null ? [] : [`Earlier incidents cannot be read: ${printable(folderProblem)}`]),
    ...(unreadable === 0 ? [] : [`${plural(unreadable, 'file')} of incidents cannot be read.`]),
  ].map((line) => chalk.yellow(line));
  if (incidents.length === 0)
    return [...(folderProblem === null ? ['No incident is kept.'] : []), ...troubles].join('\n');
  const rows = incidents.map(({ id, at, summary, moreCauses, isComplete }) => [
    `${id}`,
    printable(at),
    `${printable(summary)}${moreCauses === 0 ? '' : ` and ${moreCauses} more`}${isComplete ? '' : chalk.yellow(recording === id ? ' (being recorded)' : ' (cut short: the gateway ended)')}`,
  ]);
  return [
    `${plural(incidents.length, 'incident')}, newest first. Next: gw incident show ${incidents[0]?.id}`,
    ...troubles,
    '',
    renderTable([right('no.'), 'when (UTC)', 'what'], rows),
  ].join('\n');
}

/** `gw incident show` */
export function renderIncident({ path, sha256, head, events, log, leftOut, poses, maps }: ShownIncident): string {
  const { id, at, serial, site, version, fromMs, toMs, isComplete } = head;
  const causes = eachOnce(events.filter(({ kind }) => kind === 'cause').map(({ text }) => printable(text)));
  const missing = Object.entries(leftOut).filter(([, count]) => count > 0);
  return [
    `Incident ${id} of robot ${printable(serial)}, ${printable(at)}: ${causes.join('; ')}.`,
    ...(isComplete
      ? []
      : [chalk.yellow('It is not complete: still being recorded, or the gateway ended before its end.')]),
    ...(missing.length === 0
      ? []
      : [
          chalk.yellow(
            `More happened than is kept; left out: ${missing.map(([what, count]) => `${count} ${what}`).join(', ')}.`,
          ),
        ]),
    chalk.dim(
      `${printable(site)}, gw ${printable(version)}; ${offset(fromMs)} to ${offset(toMs)}, ${plural(poses, 'pose')}${posesOn(maps, poses)}; ${path === null ? 'from the gateway' : printable(path)}, SHA-256 ${sha256}`,
    ),
    '',
    ...events.map(
      ({ atMs, kind, text }) =>
        `${chalk.dim(offset(atMs).padStart(8))}  ${kind === 'cause' ? chalk.bold(printable(text)) : printable(text)}`,
    ),
    '',
    log.length === 0 ? 'No log event of this time.' : 'Log of this time:',
    ...log.map((entry) => logLine(offset(entry.atMs).padStart(8), entry)),
  ].join('\n');
}

/** On which map they count: the metres of one are another place on another. */
function posesOn(maps: ShownIncident['maps'], poses: number): string {
  const unknown = poses - maps.reduce((sum, map) => sum + map.poses, 0);
  const parts = [
    ...maps.map((map) => `${map.poses} on ${quoted(map.title)}`),
    ...(unknown === 0 ? [] : [`${unknown} on a map that is not known`]),
  ];
  return parts.length === 0 ? '' : ` (${printable(parts.join(', '))})`;
}

/** `gw incident export` */
export function renderExportedIncident({ path, bytes, sha256, head }: ExportedIncident): string {
  return [
    `Incident ${head.id} written to ${printable(path)} (${bytes} bytes).`,
    `Its sum: head -n 2 ${printable(path)} | sha256sum gives ${sha256}`,
    ...(head.isComplete
      ? []
      : [chalk.yellow('It is not complete: still being recorded, or the gateway ended before its end.')]),
  ].join('\n');
}

const offset = (ms: number) => `${ms < 0 ? '-' : '+'}${(Math.abs(ms) / 1000).toFixed(1)} s`;
