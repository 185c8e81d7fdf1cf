import type { LinkState } from '../../chassis/index.ts';
import { num } from './number-text.ts';

export function linkText(link: LinkState): string {
  switch (link.kind) {
    case 'connected':
      return 'Verbunden';
    case 'booting': {
      const progress = link.progress === null ? '' : ` – ${num(link.progress * 100, 0)} %`;
      return `Roboter startet${progress}`;
    }
    case 'connecting':
      return 'Noch nicht verbunden (not connected)';
    case 'not-connected':
      return 'Nicht verbunden (not connected)';
  }
}

export function triedText({ tried }: LinkState): string {
  const host = tried.address.includes(':') ? `[${tried.address}]` : tried.address;
  return tried.port === undefined ? host : `${host}:${tried.port}`;
}

const failureTexts: Readonly<Record<(LinkState & { kind: 'not-connected' })['failure'], string>> = {
  refused: 'Das Gerät unter dieser Adresse lehnt die Verbindung ab: An diesem Port läuft kein Dienst.',
  'no-route': 'Zu dieser Adresse gibt es keine Route.',
  'no-answer': 'Unter dieser Adresse antwortet kein Gerät.',
  'unknown-name': 'Der Name ist im Netz nicht bekannt.',
  cut: 'Die Verbindung wurde getrennt.',
  other: 'Die Verbindung ist fehlgeschlagen.',
  'bad-answer': 'Unter dieser Adresse antwortet kein Fahrgestell.',
  'wrong-device': 'Es antwortet ein anderer Roboter.',
  silent: 'Die Verbindung besteht, aber es kommen keine Daten mehr an.',
};

/** Failures for which the German sentence needs no further detail. */
const plainFailures: readonly string[] = ['refused', 'no-route', 'no-answer', 'unknown-name', 'silent'];

export function linkDetail(link: LinkState): string {
  switch (link.kind) {
    case 'not-connected': {
      const found = link.foundSerial === undefined ? '' : ` Gefunden: Seriennummer ${link.foundSerial}.`;
      const said = plainFailures.includes(link.failure) ? '' : ` (${link.detail})`;
      return `${failureTexts[link.failure]}${found}${said}`;
    }
    case 'booting':
      return link.step ?? '';
    default:
      return '';
  }
}
