import type { CloudView } from '../../cloud/index.ts';
import { num, spanText, timeText } from './number-text.ts';

export type CloudKey =
  | 'cloud'
  | `cloud.${'failures' | 'remedy' | 'ask' | 'subscriptions' | 'certificate'}`
  | `cloud.${'reporting' | 'outbox' | 'discarded' | 'stop' | 'release' | 'uploads'}`;

/** The state of the cloud module, and the wall clock of the gateway for the age of a message. */
export interface CloudNow {
  readonly view: CloudView;
  readonly now: Date;
}

type Link = NonNullable<CloudView['link']>;
type Outbox = NonNullable<CloudView['outbox']>;
type Release = NonNullable<CloudView['release']>;

const NOTHING = '–';
const NOT_CHECKED = 'nicht geprüft';

/** The section 'Cloud' of the technician page. What is not known is said, and never left empty. */
export function cloudTexts({ view, now }: CloudNow): Record<CloudKey, string> {
  const { link, outbox, received, seen, reporting, release, uploads } = view;
  return {
    cloud: statusText(view),
    'cloud.failures': link === null ? NOTHING : failuresText(link),
    'cloud.remedy': lines([view.remedy, link?.remedy, outbox?.remedy, seen?.remedy, release?.remedy]),
    'cloud.ask': link?.ask ?? NOTHING,
    'cloud.subscriptions': subscriptionsText(view),
    'cloud.certificate': certificateText(link, now),
    'cloud.reporting': reporting === null ? offText(view) : reportingText(reporting),
    'cloud.outbox': outbox === null ? offText(view) : outboxText(outbox, now),
    'cloud.discarded': received === null ? offText(view) : discardedText(received),
    'cloud.stop': received === null ? offText(view) : stopText(received, seen),
    'cloud.release': release === null ? offText(view) : releaseText(release),
    'cloud.uploads': uploads.length === 0 ? noUploads(view) : uploadsText(uploads),
  };
}

const pathWords = { direct: 'direkt', fallback: 'mit ALPN' } as const;

function statusText({ status, detail, link }: CloudView): string {
  switch (status) {
    case 'connected': {
      const at = link?.connection;
      if (!at) return `Verbunden (${detail})`;
      const state = link.troubles.length === 0 ? 'Verbunden' : 'Verbunden MIT STÖRUNG';
      return [
        `${state} über Port ${at.port} (${pathWords[at.path]}) seit ${spanText(at.forMs)}`,
        `${at.host}, ${at.tls}${at.alpn === null ? '' : `, ALPN ${at.alpn}`}`,
        ...troubleTexts(link),
      ].join('\n');
    }
    case 'not-connected': {
      const retry = link?.retryInMs;
      const state = `NICHT VERBUNDEN${retry ? `, nächster Versuch in ${spanText(retry)}` : ''}`;
      return [state, detail, ...(link === null ? [] : troubleTexts(link))].join('\n');
    }
    case 'not-checked':
      return `Noch nicht geprüft\n${detail}`;
    case 'not-enrolled':
      return `Dieses Gerät hat kein Gerätezertifikat der Cloud (gw enrol)\n${detail}`;
    case 'not-configured':
      return 'Keine Cloud: In der Standortdatei steht kein Abschnitt cloud.';
  }
}

const troubleWords: Readonly<Record<Link['troubles'][number]['kind'], string>> = {
  'stop-not-saved': 'Ein Stopp aus der Cloud ist ausgeführt, aber NICHT GESPEICHERT',
  'no-puback': 'Der Broker bestätigt keine Nachrichten',
  'renewal-failed': 'Das erneuerte Gerätezertifikat wird nicht verwendet',
  'identity-broken': 'Das installierte Gerätezertifikat ist unbrauchbar',
  'qos-0': 'Nachrichten aus der Cloud können verloren gehen',
  'host-difference': 'Die Namen des Brokers weichen ab',
  'region-difference': 'Die Region des Brokers weicht ab',
};

function troubleTexts({ troubles }: Link): string[] {
  return troubles.map(({ kind, detail }) => `${troubleWords[kind]}: ${detail}`);
}

function subscriptionsText(view: CloudView): string {
  const { link } = view;
  if (!link?.connection) return offText(view);
  const trouble = link.troubles.find(({ kind }) => kind === 'qos-0');
  return trouble?.detail ?? `alle ${link.connection.filters.length} vom Broker angenommen`;
}

/** Without a link, the spool is not read. */
function noUploads(view: CloudView): string {
  return view.link === null ? offText(view) : 'keine';
}

/** For the parts that do not run. */
function offText({ status }: CloudView): string {
  return status === 'not-configured' || status === 'not-enrolled' ? NOTHING : NOT_CHECKED;
}

function failuresText({ failures }: Link): string {
  const found = Object.values(failures).flatMap((failure) =>
    failure === null
      ? []
      : [`Port ${failure.port} (${pathWords[failure.path]}), ${timeText(failure.at)}: ${failure.outcome.detail}`],
  );
  return lines(found);
}

/** A running connection outlives its certificate; the next one does not. */
function certificateText(link: Link | null, now: Date): string {
  const certificate = link?.connection?.certificate;
  if (certificate === undefined) return NOTHING;
  const until = `gültig bis ${timeText(certificate.notAfter)}`;
  const isOver = Date.parse(certificate.notAfter) <= now.getTime();
  return isOver ? `${until}: ABGELAUFEN nach der Uhr dieses Gateways` : until;
}

const outboxWords: Readonly<Record<Outbox['status'], string>> = {
  open: 'ACHTUNG: ',
  failing: 'NEUE NACHRICHTEN WERDEN ABGELEHNT: ',
  'not-open': 'nicht geöffnet: ',
};

function outboxText({ status, detail, remedy, kept, bytes, maxBytes, oldestAt, thinned }: Outbox, now: Date): string {
  const trouble = status === 'open' && remedy === null ? [] : [`${outboxWords[status]}${detail}`];
  if (kept === null) return lines([...trouble, ...(trouble.length === 0 ? [NOT_CHECKED] : [])]);
  const all = Object.values(kept).reduce((sum, count) => sum + count, 0);
  const parts = `Aufzeichnungen ${kept.record}, Störungen ${kept.fault}, Gerätezustand ${kept.shadow}, Telemetrie ${kept.telemetry}`;
  const size = bytes === null ? '' : `, ${num(bytes / 1e6, 1)} von ${num(maxBytes / 1e6, 0)} MB`;
  return lines([
    ...trouble,
    all === 0 ? `keine${size}` : `${all} (${parts})${size}`,
    ...(oldestAt === null ? [] : [`älteste: ${ageOf(oldestAt, now)}`]),
    ...(thinned ? [`${thinned} Telemetrie-Nachrichten aus Platzmangel entfernt`] : []),
  ]);
}

/** The clock of the gateway may have been set since. */
function ageOf(at: string, now: Date): string {
  const ms = now.getTime() - Date.parse(at);
  return Number.isFinite(ms) && ms >= 0 ? `vor ${spanText(ms)} (${timeText(at)})` : timeText(at);
}

function discardedText({ discarded, lastDiscarded }: NonNullable<CloudView['received']>): string {
  const counts = Object.entries(discarded).filter(([, count]) => count > 0);
  if (counts.length === 0) return 'keine seit dem Start von gw';
  const [last] = lastDiscarded;
  return lines([
    counts.map(([reason, count]) => `${reason} ${count}`).join(', '),
    ...(last === undefined ? [] : [`zuletzt: ${last.reason}, ${last.topic}, ${last.bytes} Byte, ${timeText(last.at)}`]),
  ]);
}

/** A stop acts in any case; without the file one that is delivered again acts again. */
function stopText({ stops }: NonNullable<CloudView['received']>, seen: CloudView['seen']): string {
  const count = `${stops} empfangen seit dem Start von gw`;
  return seen?.status === 'failing' ? `${count}; Kennungen NICHT GESPEICHERT: ${seen.detail}` : count;
}

const faultWords = { present: 'vorhanden', gone: 'behoben', 'not-checked': 'nicht geprüft' } as const;
const shadowWords = {
  accepted: 'angenommen',
  'not-answered': 'noch nicht beantwortet',
  rejected: 'ABGELEHNT',
  'not-sent': 'nicht gesendet',
} as const;

function reportingText({ telemetry, faults, shadow }: NonNullable<CloudView['reporting']>): string {
  const troubleText = (trouble: string | null) => (trouble === null ? '' : `, GESTÖRT: ${trouble}`);
  const states = Object.entries(faultWords).flatMap(([state, word]) => {
    const count = faults.raised.filter((fault) => fault.state === state).length;
    return count === 0 ? [] : [`${count} ${word}`];
  });
  const raised = `${faults.raised.length} gemeldet${states.length === 0 ? '' : ` (${states.join(', ')})`}`;
  const unreported = faults.unreported === 0 ? '' : `, ${faults.unreported} NICHT GEMELDET (zu viele)`;
  return lines([
    `Telemetrie: ${telemetry.accepted} Nachrichten angenommen, ${telemetry.skipped} ausgelassen${troubleText(telemetry.trouble)}`,
    `Störungen: ${raised}${unreported}${troubleText(faults.trouble)}`,
    `Gerätezustand: ${shadowWords[shadow.status]} (${shadow.detail})`,
  ]);
}

const phaseWords: Readonly<Record<NonNullable<Release['run']>['phase'], string>> = {
  downloading: 'wird geladen',
  unpacking: 'wird geprüft und entpackt',
  ready: 'bereit, wartet auf den Stillstand des Roboters',
  switched: 'eingesetzt, noch nicht bestätigt',
  'rolling-back': 'wird zurückgenommen',
  confirmed: 'bestätigt',
  'rolled-back': 'ZURÜCKGENOMMEN, die vorige Version läuft',
  rejected: 'ABGELEHNT',
};

const releaseWords: Readonly<Record<Release['status'], string>> = {
  ready: '',
  'not-configured': 'Keine Versionen aus der Cloud: In der Standortdatei steht kein cloud.release.',
  unmanaged: 'Keine Versionen aus der Cloud: gw läuft nicht aus dem Ordner der Versionen.',
  failing: 'GESTÖRT',
};

function releaseText({ status, detail, runningVersion, run }: Release): string {
  const state = status === 'failing' ? `${releaseWords.failing}: ${detail}` : releaseWords[status];
  return lines([
    `${runningVersion} läuft`,
    state,
    ...(run === null
      ? []
      : [`${run.toVersion}: ${phaseWords[run.phase]}${run.detail === null ? '' : ` (${run.detail})`}`]),
  ]);
}

const uploadWords: Readonly<Record<CloudView['uploads'][number]['state'], string>> = {
  waiting: 'wartet',
  uploading: 'wird übertragen',
  uploaded: 'übertragen',
  refused: 'ABGELEHNT',
};
const MAX_UPLOADS = 5;

function uploadsText(uploads: CloudView['uploads']): string {
  const open = uploads.filter(({ state }) => state !== 'uploaded');
  const done = uploads.length - open.length;
  const shown = open.slice(0, MAX_UPLOADS).map(({ name, state, sentBytes, bytes, detail }) => {
    const sent = state === 'uploading' && bytes > 0 ? ` ${Math.floor((100 * sentBytes) / bytes)} %` : '';
    return `${name}: ${uploadWords[state]}${sent}${detail === null ? '' : ` (${detail})`}`;
  });
  return lines([
    ...shown,
    ...(open.length > MAX_UPLOADS ? [`und ${open.length - MAX_UPLOADS} weitere`] : []),
    ...(done === 0 ? [] : [`${done} übertragen`]),
  ]);
}

function lines(texts: readonly (string | null | undefined)[]): string {
  return [...new Set(texts.filter((text) => text))].join('\n') || NOTHING;
}
