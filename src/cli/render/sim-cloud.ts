import chalk from 'chalk';
import type {
  SimCloudCancel,
  SimCloudJob,
  SimCloudJobs,
  SimCloudReceived,
  SimCloudRelease,
  SimCloudRestart,
  SimCloudSend,
  SimCloudStop,
} from '../../lib/sim/control/cloud.result.ts';
import { plural, shorten } from '../../lib/text/index.ts';
import { printable, renderTable, right } from '../output.ts';

const MAX_SHOWN_CHARACTERS = 200;
const JOB_WAITS = 'the job waits until it asks';

/** `gw sim cloud stop` */
export function renderSimCloudStop({ serial, id, topic, connected }: SimCloudStop): string {
  return [
    `Stop published for ${printable(serial)}; whether the device received it is not checked.`,
    connectedLine(connected, 'the message waits only in a session with a subscription to it'),
    `${'id'.padEnd(7)}${printable(id)}`,
    `${'topic'.padEnd(7)}${printable(topic)}`,
  ].join('\n');
}

/** `gw sim cloud release` */
export function renderSimCloudRelease({ job, connected, waited, ended }: SimCloudRelease): string {
  const name = `Job ${printable(job.jobId)} for ${printable(job.serial)}`;
  if (!waited) return `${name} is queued; its result is not checked.\n${connectedLine(connected, JOB_WAITS)}`;
  const first = ended
    ? `${name} has ended: ${colouredStatus(job)}.`
    : chalk.yellow(`${name} has not ended within the timeout: ${job.status}.`);
  return [first, ...(ended ? [] : [connectedLine(connected, JOB_WAITS)]), '', historyTable(job)].join('\n');
}

/** `gw sim cloud send` */
export function renderSimCloudSend({ topic, bytes, retain }: SimCloudSend): string {
  const how = retain ? ', retained' : '';
  return `Published ${plural(bytes, 'byte')} on ${printable(topic)}${how}; whether a device received it is not checked.`;
}

/** `gw sim cloud received` */
export function renderSimCloudReceived({ topic, kept, matching, messages }: SimCloudReceived): string {
  const where = topic === null ? '' : ` on ${printable(topic)}`;
  if (messages.length === 0) {
    const others = topic === null ? '' : `; ${plural(kept, 'message')} on all topics`;
    return `No message received${where}${others}.`;
  }
  const shown = messages.length < matching ? `, the last ${messages.length} shown` : '';
  const rows = messages.map(({ at, client, topic: own, qos, bytes, text }) => [
    at,
    printable(client),
    printable(own),
    String(qos),
    String(bytes),
    text === null ? '(not UTF-8)' : shortened(text),
  ]);
  const columns = ['received', 'client', 'topic', right('QoS'), right('bytes'), 'payload'];
  return `${plural(matching, 'message')} received${where}${shown}.\n\n${renderTable(columns, rows)}`;
}

/** `gw sim cloud restart` */
export function renderSimCloudRestart({ dir, connections }: SimCloudRestart): string {
  const ended = connections === 0 ? 'no client was connected' : `${plural(connections, 'connection')} ended`;
  return `The broker in ${printable(dir)} was restarted and accepts connections; ${ended}.`;
}

/** `gw sim cloud jobs` */
export function renderSimCloudJobs({ jobs }: SimCloudJobs): string {
  if (jobs.length === 0) return 'No job.';
  const open = jobs.filter(({ status }) => status === 'QUEUED' || status === 'IN_PROGRESS').length;
  const rows = jobs.map((job) => [
    printable(job.jobId),
    printable(job.serial),
    String(job.executionNumber),
    job.status,
    job.updatedAt,
    detailsText(job.statusDetails),
  ]);
  const columns = ['job', 'serial', right('execution'), 'status', 'changed', 'details'];
  return `${plural(jobs.length, 'job')}, ${open} not ended.\n\n${renderTable(columns, rows)}`;
}

/** `gw sim cloud cancel` */
export function renderSimCloudCancel({ job }: SimCloudCancel): string {
  const before = job.history.at(-2)?.status;
  const first = `Job ${printable(job.jobId)} of ${printable(job.serial)} is cancelled.`;
  return before === 'IN_PROGRESS' ? `${first}\nIt was in progress: the device may still be working on it.` : first;
}

function connectedLine(wasConnected: boolean, otherwise: string): string {
  return wasConnected ? 'The device was connected.' : chalk.yellow(`The device was not connected: ${otherwise}.`);
}

function colouredStatus({ status }: SimCloudJob): string {
  return status === 'SUCCEEDED' ? chalk.green(status) : chalk.red.bold(status);
}

function historyTable({ history }: SimCloudJob): string {
  const rows = history.map(({ at, status, statusDetails }) => [at, status, detailsText(statusDetails)]);
  return renderTable(['changed', 'status', 'details'], rows);
}

function detailsText(details: Readonly<Record<string, string>>): string {
  return shortened(
    Object.entries(details)
      .map(([key, value]) => `${key}: ${value}`)
      .join(', '),
  );
}

function shortened(text: string): string {
  return shorten(printable(text), MAX_SHOWN_CHARACTERS);
}
