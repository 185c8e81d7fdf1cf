import type { EndReason, RefusalReason, RunningSession, SupportView } from '../../tunnel/index.ts';
import type { CloudNow } from './cloud-text.ts';
import { spanText, timeText } from './number-text.ts';

export type SupportKey =
  | 'support'
  | `support.${'title' | 'state' | 'since' | 'until' | 'services' | 'open' | 'refused' | 'ended' | 'records' | 'detail'}`;

/** Remote support on the pages: the banner of a running session, and its rows in every state. */
export function supportTexts(view: SupportView, { view: cloud, now }: CloudNow): Record<SupportKey, string> {
  return {
    support: statusText(view, cloud.status),
    ...(view.status === 'running' ? bannerTexts(view.running, now) : noBanner),
    'support.refused': refusedText(view.lastRefused),
    'support.ended': endedText(view.lastEnded),
    'support.records': recordsText(view.records),
    'support.detail': [view.remedy, view.status === 'not-checked' ? view.detail : null].filter(Boolean).join('\n'),
  };
}

type BannerKey = `support.${'title' | 'state' | 'since' | 'until' | 'services' | 'open'}`;

const noBanner: Record<BannerKey, string> = {
  'support.title': '',
  'support.state': '',
  'support.since': '',
  'support.until': '',
  'support.services': '',
  'support.open': '',
};

function bannerTexts(running: RunningSession | null, now: Date): Record<BannerKey, string> {
  const title = { ...noBanner, 'support.title': 'läuft' };
  if (running === null) return title;
  const { state, services, since, forMs, leftMs, reportAgeMs, open } = running;
  const isOld = state === 'not-checked';
  return {
    ...title,
    'support.state': tunnelText(state, reportAgeMs),
    'support.since': `${timeText(since)} (vor ${spanText(forMs)})`,
    'support.until':
      leftMs > 0
        ? `in ${spanText(leftMs)} (${timeText(new Date(now.getTime() + leftMs).toISOString())})`
        : 'jetzt; die Sitzung wird gerade beendet',
    'support.services': services.join(', '),
    'support.open': open === null ? 'noch nicht gemeldet' : `${open}${isOld ? ` (vor ${spanText(reportAgeMs)})` : ''}`,
  };
}

function tunnelText(state: RunningSession['state'], reportAgeMs: number): string {
  switch (state) {
    case 'connected':
      return 'Der Tunnel ist verbunden: Diese Seiten können aus der Ferne gelesen werden.';
    case 'connecting':
      return 'Der Tunnel ist zurzeit nicht verbunden; das Gateway baut die Verbindung auf.';
    case 'not-checked':
      return `Nicht geprüft, ob der Tunnel verbunden ist: Sein Proxy hat seit ${spanText(reportAgeMs)} nichts gemeldet.`;
  }
}

function statusText({ status, running }: SupportView, cloud: CloudNow['view']['status']): string {
  switch (status) {
    case 'running':
      return running === null ? 'läuft' : `läuft seit ${spanText(running.forMs)}`;
    case 'waiting':
      // The notification comes through the cloud link.
      return cloud === 'connected'
        ? 'keine Sitzung; das Gateway wartet auf eine Anfrage aus der Cloud'
        : 'keine Sitzung; ohne Verbindung zur Cloud kann keine geöffnet werden';
    case 'not-configured':
      return 'nicht eingerichtet: In der Standortdatei steht kein cloud.tunnel.';
    case 'not-checked':
      return 'nicht geprüft';
  }
}

const refusalWords: Readonly<Record<RefusalReason, string>> = {
  'not-configured': 'Fernwartung ist nicht eingerichtet',
  'not-destination': 'das Gateway wäre nicht das Ziel des Tunnels',
  'other-region': 'andere Region',
  'services-count': 'kein Dienst oder zu viele Dienste',
  'service-repeated': 'ein Dienst doppelt',
  'service-not-in-list': 'unbekannter Dienst',
  'seen-before': 'schon einmal empfangen',
  'not-recorded': 'der Beginn konnte nicht aufgezeichnet werden',
  'shutting-down': 'das Gateway wurde gerade beendet',
};

function refusedText(refused: SupportView['lastRefused']): string {
  return refused === null
    ? 'keine seit dem Start von gw'
    : `${timeText(refused.at)}: ${refusalWords[refused.reason]} (${refused.reason})`;
}

const endWords: Readonly<Record<EndReason, string>> = {
  'closed-by-cloud': 'von der Cloud beendet',
  'own-clock': 'Zeit abgelaufen',
  'network-lost': 'Netzverbindung verloren',
  'ended-on-site': 'vor Ort beendet',
  replaced: 'durch eine neue Sitzung ersetzt',
  shutdown: 'das Gateway wurde beendet',
  'token-refused': 'Zugang vom Tunneldienst abgelehnt',
  configuration: 'Einstellungen passen nicht zum Tunneldienst',
  'proxy-failed': 'Fehler des Proxys',
  'unclean-shutdown': 'das Gateway endete ohne Abschluss',
};

function endedText(ended: SupportView['lastEnded']): string {
  return ended === null
    ? 'keine Sitzung beendet seit dem Start von gw'
    : `${timeText(ended.at)}: ${endWords[ended.reason]} (${ended.reason})`;
}

function recordsText({ status, detail, notSentYet }: SupportView['records']): string {
  const waiting = notSentYet === null || notSentYet === 0 ? '' : `, ${notSentYet} noch nicht an die Cloud übergeben`;
  switch (status) {
    case 'ok':
      return `werden geschrieben${waiting}`;
    case 'failing':
      return `GESTÖRT, es kann keine Sitzung beginnen: ${detail}${waiting}`;
    case 'not-checked':
      return `nicht geprüft${waiting}`;
  }
}
