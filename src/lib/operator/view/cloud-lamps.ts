import type { CloudView } from '../../cloud/index.ts';
import type { Cell, Lamp } from '../../pages/index.ts';
import { type CertificateHealth, isCertificateSound, isEndSound, isRenewalSound } from '../health.ts';
import { type CloudNow, count, lamp, row, technical, text, word } from './parts.ts';

type MessageClass = keyof NonNullable<NonNullable<CloudView['outbox']>['kept']>;

const MAX_UPLOADS = 5;

export function cloudLamp({ view, now }: CloudNow, end?: CertificateHealth): Lamp {
  const { status, detail, remedy, link, received, seen, reporting, uploads } = view;
  const connection = link?.connection ?? null;
  const troubles = link?.troubles ?? [];
  const isSound =
    troubles.length === 0 &&
    [remedy, link?.remedy ?? null, seen?.remedy ?? null].every((one) => one === null) &&
    seen?.status !== 'failing' &&
    isReportingSound(reporting);
  const levels = {
    connected: isSound ? 'good' : 'attention',
    'not-connected': 'bad',
    'not-checked': 'unknown',
    'not-enrolled': 'off',
    'not-configured': 'off',
  } as const;
  const failures = Object.values(link?.failures ?? {}).filter((failure) => failure !== null);
  const notAfter = end?.notAfter ?? connection?.certificate.notAfter;
  const isEnding = !isCertificateSound(end);
  const isOver = end !== undefined && ['ending-now', 'expired', 'not-yet-valid'].includes(end.status);
  const retry: Cell[] = link?.retryInMs ? [word('next-try'), { spanMs: link.retryInMs }] : [];
  return lamp(
    'cloud',
    isOver ? 'bad' : isEnding && levels[status] !== 'bad' ? 'attention' : levels[status],
    connection === null
      ? [word(status), ...retry]
      : [word(status), word(connection.path), word('since'), { spanMs: connection.forMs }],
    row('address', connection === null ? [] : [text(`${connection.host}:${connection.port}, ${connection.tls}`)]),
    row('technical', status === 'connected' ? [] : technical(detail)),
    ...troubles.map((trouble) => row('lastError', technical(trouble.detail))),
    ...failures.map(({ port, path, at, outcome }) =>
      row('failures', count(port), word(path), { at }, technical(outcome.detail)),
    ),
    row('technical', isEndSound(end) ? [] : technical(end?.detail)),
    row('technical', isRenewalSound(end) ? [] : technical(end?.renewal?.detail)),
    ...[...new Set([remedy, link?.remedy, seen?.remedy, ...(isEnding ? [end?.remedy, end?.renewal?.remedy] : [])])].map(
      (one) => row('remedy', technical(one)),
    ),
    row('ask', technical(link?.ask)),
    row('subscriptions', connection === null ? [] : [count(connection.filters.length), word('accepted')]),
    row(
      'certificate',
      // A running connection outlives its certificate; the next one does not.
      notAfter === undefined
        ? []
        : [{ at: notAfter }, ...(Date.parse(notAfter) <= now.getTime() ? [word('expired')] : [])],
    ),
    row(
      'cloudStop',
      received === null ? [word('not-checked')] : [count(received.stops)],
      technical(received?.stopsOfKnownContent ? knownContentText(received.stopsOfKnownContent) : null),
      technical(seen?.status === 'failing' ? seen.detail : null),
    ),
    ...reportingRows(reporting),
    ...discardedRows(received),
    ...uploadRows(uploads),
  );
}

const knownContentText = (stops: number) => `${stops} of them with the content of an earlier stop`;

/** A part of the cloud module that does not run because the whole does not. */
function offLamp(id: Lamp['id'], { status }: CloudView): Lamp {
  const isOff = status === 'not-configured' || status === 'not-enrolled';
  return lamp(id, isOff ? 'off' : 'unknown', [word(isOff ? 'not-configured' : 'not-checked')]);
}

/** Faults that are not reported, or reports that are not made, are trouble of the link for whoever reads the cloud. */
function isReportingSound(reporting: CloudView['reporting']): boolean {
  if (reporting === null) return true;
  const { telemetry, faults, shadow } = reporting;
  return (
    telemetry.trouble === null && faults.trouble === null && faults.unreported === 0 && shadow.status !== 'rejected'
  );
}

function reportingRows(reporting: CloudView['reporting']): Lamp['rows'][] {
  if (reporting === null) return [row('reporting', word('not-checked'))];
  const { telemetry, faults, shadow } = reporting;
  return [
    row('telemetry', count(telemetry.accepted), word('accepted'), technical(telemetry.trouble)),
    row('telemetry', telemetry.skipped === 0 ? [] : [count(telemetry.skipped), word('skipped')]),
    row('faults', count(faults.raised.length), word('reported'), technical(faults.trouble)),
    row('faults', faults.unreported === 0 ? [] : [count(faults.unreported), word('not-reported')]),
    row('shadow', word(shadow.status), technical(shadow.detail)),
  ];
}

function discardedRows(received: CloudView['received']): Lamp['rows'][] {
  if (received === null) return [row('discarded', word('not-checked'))];
  const reasons = Object.entries(received.discarded).filter(([, times]) => times > 0);
  const [last] = received.lastDiscarded;
  return [
    row(
      'discarded',
      reasons.length === 0 ? [word('none')] : reasons.flatMap(([reason, times]) => [count(times, '×'), text(reason)]),
    ),
    row(
      'discarded',
      last === undefined ? [] : [{ at: last.at }, text(last.topic), count(last.bytes, 'B'), text(last.reason)],
    ),
  ];
}

function uploadRows(uploads: CloudView['uploads']): Lamp['rows'][] {
  const open = uploads.filter(({ state }) => state !== 'uploaded');
  const done = uploads.length - open.length;
  const share = ({ state, sentBytes, bytes }: CloudView['uploads'][number]) =>
    state === 'uploading' && bytes > 0 ? [count(Math.floor((100 * sentBytes) / bytes), '%')] : [];
  return [
    ...open
      .slice(0, MAX_UPLOADS)
      .map((one) =>
        row(
          'uploads',
          text(one.name),
          word(one.state === 'refused' ? 'refused-upload' : one.state),
          share(one),
          technical(one.detail),
        ),
      ),
    row('uploads', open.length > MAX_UPLOADS ? [count(open.length - MAX_UPLOADS), word('more')] : []),
    row('uploads', done === 0 ? [] : [count(done), word('uploaded')]),
  ];
}

export function outboxLamp({ view, now }: CloudNow): Lamp {
  const { outbox } = view;
  if (outbox === null) return offLamp('outbox', view);
  const { status, detail, remedy, kept, bytes, maxBytes, oldestAt, thinned } = outbox;
  const all = kept === null ? null : Object.values(kept).reduce((sum, one) => sum + one, 0);
  const isSound = status === 'open' && remedy === null;
  const words = { open: 'ok', failing: 'messages-refused', 'not-open': 'not-open' } as const;
  const ageMs = oldestAt === null ? null : now.getTime() - Date.parse(oldestAt);
  return lamp(
    'outbox',
    status === 'failing' || status === 'not-open' ? 'bad' : isSound ? 'good' : 'attention',
    [word(words[status]), ...(all === null ? [] : [count(all), word('kept')])],
    row('technical', isSound ? [] : technical(detail)),
    row('remedy', technical(remedy)),
    ...Object.entries(kept ?? {}).map(([kind, many]) =>
      row('kept', many === 0 ? [] : [count(many), word(kind as MessageClass)]),
    ),
    row('size', bytes === null ? [] : [{ number: bytes / 1e6, digits: 1, unit: 'MB' }, count(maxBytes / 1e6, 'MB')]),
    row(
      'oldest',
      oldestAt === null ? [] : [{ at: oldestAt }],
      // The clock of the gateway may have been set since.
      ageMs !== null && ageMs >= 0 ? [{ spanMs: ageMs }] : [],
    ),
    row('thinned', thinned ? [count(thinned)] : []),
  );
}

export function releaseLamp({ view }: CloudNow): Lamp {
  const { release } = view;
  if (release === null) return offLamp('release', view);
  const { status, detail, remedy, runningVersion, run } = release;
  const levels = { ready: 'good', 'not-configured': 'off', unmanaged: 'off', failing: 'bad' } as const;
  const isBadRun = run?.phase === 'rejected' || run?.phase === 'rolled-back' || remedy !== null;
  return lamp(
    'release',
    status === 'ready' && isBadRun ? 'attention' : levels[status],
    [text(runningVersion), word(status === 'ready' ? 'running' : status)],
    row('version', text(runningVersion)),
    row('release', run === null ? [] : [text(run.toVersion), word(run.phase)], technical(run?.detail)),
    row('technical', status === 'failing' ? technical(detail) : []),
    row('remedy', technical(remedy)),
  );
}
