import chalk from 'chalk';
import type { CloudView } from '../../lib/cloud/index.ts';
import { plural } from '../../lib/text/index.ts';
import type {
  CloudDiscarded,
  CloudOutbox,
  CloudUpload,
  CloudWatchEvent,
} from '../../lib/toolkit/cloud/cloud.result.ts';
import { ageText, countsText, doNextLine, page, printable, renderTable, right } from '../output.ts';

type Link = NonNullable<CloudView['link']>;
type LinkStatus = Pick<CloudView, 'status' | 'detail' | 'remedy'>;

// ── gw cloud status ─────────────────────────────────────────────────────────────────────────────────────────────

/** `gw cloud status` */
export function renderCloudStatus(view: CloudView): string {
  const { link, remedy, outbox, received, seen, reporting, release, uploads } = view;
  const ask = link?.ask ?? null;
  const rows = [
    ...(link === null ? [] : linkRows(link)),
    ...(outbox === null ? [] : [['outbox', outboxText(outbox)]]),
    ...(received === null ? [] : [['received', `${receivedText(received)}, ${sumOf(received.discarded)} discarded`]]),
    ...(seen === null ? [] : [['remembered stops', seenText(seen)]]),
    ...(reporting === null ? [] : reportingRows(reporting)),
    ...(release === null ? [] : [['release', releaseText(release)]]),
    ...(uploads.length === 0 ? [] : [['uploads', uploadsText(uploads)]]),
  ];
  return page(
    statusLine(view),
    link?.troubles.map(({ detail }) => chalk.yellow(`  trouble  ${printable(detail)}`)) ?? [],
    doNextLine(remedy),
    ask !== null && `  ask IT   ${printable(ask)}`,
    view.status === 'not-connected' && link !== null && retryLine(link),
    rows.length > 0 && ['', renderTable(pairs, rows)],
    link !== null && failureLines(link),
  );
}

function receivedText({
  stops,
  stopsOfKnownContent: known,
  releases,
  tunnelNotifications,
}: Readonly<Record<'stops' | 'stopsOfKnownContent' | 'releases' | 'tunnelNotifications', number>>): string {
  const alike = known === 0 ? '' : ` (${known} with the content of an earlier one)`;
  return `${plural(stops, 'stop')}${alike}, ${plural(releases, 'release')}, ${plural(tunnelNotifications, 'tunnel notification')}`;
}

const pairs = ['Part', 'State'];

function statusLine({ status, detail, link }: Pick<CloudView, 'status' | 'detail' | 'link'>): string {
  const said = printable(detail);
  switch (status) {
    case 'connected': {
      const at = link?.connection;
      const state =
        link && link.troubles.length > 0 ? chalk.yellow('connected, with trouble') : chalk.green('connected');
      return at ? `${state}: ${placeOf(at)}, for ${ageText(at.forMs)}` : `${state}: ${said}`;
    }
    case 'not-connected':
      return chalk.red.bold(said.startsWith('not connected') ? said : `not connected: ${said}`);
    case 'not-enrolled':
      return chalk.red.bold(`not connected: this device is not enrolled. ${said}`);
    case 'not-checked':
      return chalk.yellow(`not checked: no connection attempt has a result yet. ${said}`);
    case 'not-configured':
      return 'No cloud: the running gateway has none in its site file.';
  }
}

function placeOf({ host, port, alpn }: Pick<NonNullable<Link['connection']>, 'host' | 'port' | 'alpn'>): string {
  return `${printable(host)}:${port}${alpn === null ? '' : ` with ALPN ${printable(alpn)}`}`;
}

function retryLine({ retryInMs }: Link): string {
  return `  next attempt ${retryInMs === null ? 'under way' : `in ${ageText(retryInMs)}`}`;
}

function linkRows({ connection, connects, losses, directRetryInMs, troubles }: Link): string[][] {
  const count = `${plural(connects, 'connection')}, ${plural(losses, 'loss', 'losses')} since the start of gw`;
  if (connection === null) return [['link', count]];
  const { path, tls, since, forMs, sessionPresent, certificate } = connection;
  // Both by the clock of the gateway, whatever this machine's is.
  const isOver = Date.parse(certificate.notAfter) <= Date.parse(since) + forMs;
  const ended = isOver ? chalk.red(' (EXPIRED by the clock of the gateway: the next connection fails)') : '';
  const back = directRetryInMs === null ? '' : `; the direct path is tried again in ${ageText(directRetryInMs)}`;
  const qos0 = troubles.find(({ kind }) => kind === 'qos-0');
  return [
    ['path', path === 'direct' ? 'direct' : `fallback, with ALPN${back}`],
    ['since', `${printable(since)}; ${count}`],
    ['TLS', printable(tls)],
    ['session', sessionPresent ? 'kept by the broker' : 'new'],
    ['subscriptions', qos0 === undefined ? 'all accepted by the broker' : chalk.yellow(printable(qos0.detail))],
    [
      'certificate',
      `until ${printable(certificate.notAfter)}${ended}, SHA-256 ${printable(certificate.fingerprintSha256)}`,
    ],
  ];
}

function failureLines({ failures }: Link): string[] {
  const found = Object.values(failures).filter((failure) => failure !== null);
  if (found.length === 0) return [];
  const rows = found.map(({ host, port, step, at, outcome }) => [
    `${printable(host)}:${port}`,
    step,
    printable(at),
    printable(outcome.detail),
  ]);
  const columns = ['Last failure', 'Step', 'At', 'Reason'];
  return ['', renderTable(columns, rows)];
}

function outboxText({ status, detail, remedy, kept, oldestAt }: NonNullable<CloudView['outbox']>): string {
  if (status !== 'open') return chalk.red(`${status}: ${printable(detail)}`);
  if (remedy !== null) return chalk.yellow(`${printable(detail)} ${printable(remedy)}`);
  if (kept === null) return 'not checked';
  const oldest = oldestAt === null ? '' : `, the oldest of ${printable(oldestAt)}`;
  return `${plural(sumOf(kept), 'message')} kept${oldest}`;
}

function seenText({ status, detail, remedy }: NonNullable<CloudView['seen']>): string {
  if (status === 'saved') return status;
  const text = `${status}: ${printable(detail)}${remedy === null ? '' : ` ${printable(remedy)}`}`;
  return status === 'failing' ? chalk.red(text) : text;
}

function reportingRows({ telemetry, faults, shadow }: NonNullable<CloudView['reporting']>): string[][] {
  const troubleText = (trouble: string | null) =>
    trouble === null ? '' : chalk.yellow(`; trouble: ${printable(trouble)}`);
  const { intervalS, accepted, skipped } = telemetry;
  const states = countsText(
    (['present', 'gone', 'not-checked'] as const).map((state) => [
      faults.raised.filter((fault) => fault.state === state).length,
      state.replace('-', ' '),
    ]),
  );
  const unreported = faults.unreported === 0 ? '' : chalk.yellow(`, ${faults.unreported} not reported: too many`);
  const raised = `${faults.raised.length} raised${states === '' ? '' : `: ${states}`}`;
  const shadowState = `${shadow.status.replace('-', ' ')}: ${printable(shadow.detail)}`;
  return [
    ['telemetry', `every ${intervalS} s, ${accepted} accepted, ${skipped} skipped${troubleText(telemetry.trouble)}`],
    ['faults', `${raised}${unreported}${troubleText(faults.trouble)}`],
    ['shadow', shadow.status === 'rejected' ? chalk.red(shadowState) : shadowState],
  ];
}

function releaseText({ status, detail, runningVersion, run }: NonNullable<CloudView['release']>): string {
  const last =
    run === null ? '' : `; ${printable(run.toVersion)}: ${run.phase}${run.detail ? ` (${printable(run.detail)})` : ''}`;
  return `${printable(runningVersion)} runs, ${status}${status === 'ready' ? '' : ` (${printable(detail)})`}${last}`;
}

function uploadsText(uploads: CloudView['uploads']): string {
  const states = ['uploading', 'waiting', 'refused', 'uploaded'] as const;
  const counts = states.flatMap((state) => {
    const count = uploads.filter((upload) => upload.state === state).length;
    return count === 0 ? [] : [state === 'refused' ? chalk.red(`${count} refused`) : `${count} ${state}`];
  });
  const [stuck] = uploads.filter(({ state, detail }) => state !== 'uploaded' && detail !== null);
  return `${counts.join(', ')}${stuck?.detail ? `; ${printable(stuck.name)}: ${printable(stuck.detail)}` : ''}`;
}

function sumOf(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}

// ── gw cloud outbox ─────────────────────────────────────────────────────────────────────────────────────────────

/** `gw cloud outbox` */
export function renderCloudOutbox({ link, outbox }: CloudOutbox): string {
  if (outbox === null) return noPart('outbox', link);
  const { status, detail, remedy, kept, bytes, maxBytes, oldestAt, accepted, acknowledged, refused, thinned } = outbox;
  const rows = [
    ['size', bytes === null ? 'not checked' : `${megabytes(bytes)} of ${megabytes(maxBytes)} MB`],
    ['oldest message', oldestAt === null ? (kept === null ? 'not checked' : 'none') : printable(oldestAt)],
    ['since the start', `${accepted} accepted, ${acknowledged} acknowledged, ${refused} refused`],
    ['telemetry thinned', thinned === null ? 'not checked' : thinned === 0 ? 'none' : String(thinned)],
  ];
  return page(
    outboxLine(outbox, link),
    doNextLine(remedy),
    (remedy !== null || (status !== 'open' && kept !== null)) && `  reason   ${printable(detail)}`,
    kept !== null && ['', countTable('Class', 'Kept', Object.entries(kept))],
    ['', renderTable(pairs, rows)],
  );
}

function countTable(what: string, count: string, entries: readonly (readonly [string, number])[]): string {
  return renderTable(
    [what, right(count)],
    entries.map(([name, number]) => [name, String(number)]),
  );
}

function outboxLine({ status, kept, detail }: NonNullable<CloudOutbox['outbox']>, link: LinkStatus): string {
  if (status === 'failing') return chalk.red.bold('The outbox refuses new messages.');
  if (status === 'not-open' || kept === null) return chalk.yellow(`not checked: ${printable(detail)}`);
  const count = sumOf(kept);
  const text = count === 0 ? 'The outbox is empty' : `${plural(count, 'message')} kept in the outbox`;
  return link.status === 'connected' ? `${text}.` : chalk.yellow(`${text}; the link is ${link.status}.`);
}

function megabytes(bytes: number): string {
  return (bytes / 1_000_000).toFixed(1);
}

function noPart(what: string, { status, detail, remedy }: LinkStatus): string {
  const text =
    status === 'not-configured' ? `No cloud, so there is no ${what}.` : `not checked: no ${what}. ${printable(detail)}`;
  return page(status === 'not-configured' ? text : chalk.yellow(text), doNextLine(remedy));
}

// ── gw cloud discarded ──────────────────────────────────────────────────────────────────────────────────────────

/** `gw cloud discarded` */
export function renderCloudDiscarded({ link, total, byReason, accepted, last }: CloudDiscarded): string {
  if (total === null || byReason === null) return noPart('count of discarded messages', link);
  const since = `since the start of gw${link.status === 'connected' ? '' : `; the link is ${link.status}`}`;
  const counts = Object.entries(byReason).filter(([, count]) => count > 0);
  const rows = last.map(({ at, reason, topic, bytes }) => [printable(at), reason, printable(topic), String(bytes)]);
  return page(
    total === 0
      ? `No message from the cloud was discarded ${since}.`
      : `${plural(total, 'message')} from the cloud discarded ${since}.`,
    accepted !== null && `Accepted: ${receivedText(accepted)}, ${plural(accepted.answers, 'answer')}.`,
    counts.length > 0 && ['', countTable('Reason', 'Count', counts)],
    rows.length > 0 && ['', renderTable(['Last, newest first', 'Reason', 'Topic', right('Bytes')], rows)],
  );
}

// ── gw cloud watch ──────────────────────────────────────────────────────────────────────────────────────────────

/** `gw cloud watch`: one line per event. */
export function renderCloudWatch(event: CloudWatchEvent): string {
  switch (event.event) {
    case 'state': {
      const known = [
        event.kept === null ? [] : [`${event.kept} kept`],
        event.discarded === null ? [] : [`${event.discarded} discarded`],
      ].flat();
      const colour = event.status === 'connected' ? chalk.green : chalk.yellow;
      return `${event.at}  ${colour(event.status)}  ${printable(event.detail)}${known.length === 0 ? '' : ` (${known.join(', ')})`}`;
    }
    case 'change':
      return `${event.at}  ${event.part}  ${printable(event.detail)}`;
    case 'unreachable':
      return `${event.at}  ${chalk.red('gateway does not answer')}  ${printable(event.detail)}`;
    case 'ended': {
      const status = event.status === null ? 'the gateway did not answer' : event.status;
      return chalk.dim(`Watched for ${ageText(event.watchedMs)}; at the end: ${status}.`);
    }
  }
}

// ── gw cloud upload ─────────────────────────────────────────────────────────────────────────────────────────────

/** `gw cloud upload` */
export function renderCloudUpload({ file, complete, isNew, upload, link, waitedMs }: CloudUpload): string {
  const { name, state, bytes, sha256, detail } = upload;
  const lines = [uploadLine({ file, complete, isNew, state, waitedMs })];
  if (!complete) {
    lines.push(chalk.yellow(`The backup is INCOMPLETE: gw map verify ${printable(file)} lists what it lacks.`));
  }
  if (state !== 'uploaded' && link.status !== 'connected') {
    lines.push(
      chalk.yellow(`The link is ${link.status}: ${printable(link.detail)} It is uploaded once the link is there.`),
    );
  }
  const rows = [
    ['name', printable(name)],
    ['size', `${bytes} bytes`],
    ['SHA-256', sha256],
    ['state', `${state}${detail === null ? '' : `: ${printable(detail)}`}`],
  ];
  return [...lines, '', renderTable(pairs, rows)].join('\n');
}

function uploadLine({
  file,
  complete,
  isNew,
  state,
  waitedMs,
}: Pick<CloudUpload, 'file' | 'complete' | 'isNew' | 'waitedMs'> & {
  readonly state: CloudUpload['upload']['state'];
}): string {
  const shown = printable(file);
  if (state === 'uploaded') return (complete ? chalk.green : chalk.yellow)(`${shown} is in the object storage.`);
  if (state === 'refused') return chalk.red.bold(`${shown} was refused; the gateway keeps it and tries again.`);
  if (waitedMs !== null) return chalk.red.bold(`${shown} is not uploaded yet, after ${ageText(waitedMs)}.`);
  return `${shown} ${isNew ? 'is added' : 'was added before'}; the gateway uploads it.`;
}
