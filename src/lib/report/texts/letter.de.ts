import { joinWords } from '../../text/index.ts';
import type { letterEn } from './letter.en.ts';

/** `TCP-Port 443`, `die TCP-Ports 443 und 8443`. */
function portsDe(ports: readonly number[]): string {
  return ports.length === 1 ? `TCP-Port ${ports[0]}` : `die TCP-Ports ${joinWords(ports, 'und')}`;
}

/** Die Anfrage an die IT des Kunden, auf Deutsch. */
export const letterDe: typeof letterEn = {
  subject: (site) => `Netzwerkanbindung unseres Lieferroboters „${site}“`,
  subjectLine: (serial) => `Seriennummer des Fahrgestells: ${serial}`,
  greetingNamed: (name) => `Guten Tag ${name},`,
  greetingFormal: (salutation, title, lastName) => {
    const name = [title, lastName].filter((part) => part !== null).join(' ');
    return salutation === 'Mr' ? `Sehr geehrter Herr ${name},` : `Sehr geehrte Frau ${name},`;
  },
  addressee: (salutation, name) => (name === null ? null : `${salutation === 'Mr' ? 'Herrn' : 'Frau'} ${name}`),
  greeting: 'Sehr geehrte Damen und Herren,',
  openOperator: '[offen: reichen wir nach]',
  openCustomer: '[offen: bitte von Ihnen]',
  openRecipient: '[offen: Name und Firma des Empfängers]',
  openSender: '[offen: unser Name und unsere Firma]',

  intro:
    'in Ihrem Haus soll ein autonomer Lieferroboter von uns eingesetzt werden. Er besteht aus einem Fahrgestell, einem Steuerrechner (Gateway) und einem Tablet. Für die Anbindung an das Netzwerk bitten wir Sie, Folgendes einzurichten:',
  asks: ({ needed, optional }) => [
    'ein eigenes WLAN oder VLAN (im Folgenden „Robotersegment“), in dem sich ausschließlich Fahrgestell, Gateway und Tablet befinden,',
    'je eine feste DHCP-Reservierung für das Fahrgestell und für das Gateway,',
    `ausgehende Verbindungen vom Gateway zu den Zielen in Abschnitt 3 über ${portsDe(needed)}${optional.length === 0 ? '' : `, wahlweise zusätzlich über ${portsDe(optional)}`},`,
    'für Türen und Aufzüge je Gerät eine vereinbarte Adresse im Hausnetz (Abschnitt 5).',
  ],
  noInbound:
    'Eingehende Verbindungen benötigen wir nicht: keine Portweiterleitung, keine eingehende Firewall-Regel und keinen VPN-Zugang zu Ihrem Netz.',

  segmentTitle: '1. Das Robotersegment und der Grund für die Trennung',
  reason: (port) =>
    `Die Steuerschnittstelle des Fahrgestells (TCP-Port ${port}) kennt keine Anmeldung. Wer sie über das Netzwerk erreicht, kann den Roboter fahren lassen, und zwar zwischen Menschen. Die Trennung des Segments ist der einzige Schutz dieser Schnittstelle. Sie dient deshalb nicht nur der IT-Sicherheit, sondern der Sicherheit der Personen in Ihrem Haus.`,
  segmentAsks: [
    'Im Robotersegment befinden sich keine weiteren Geräte; aus Büro-, Gäste- und Hausnetz ist es nicht erreichbar.',
    'Innerhalb des Segments müssen Gateway und Tablet das Fahrgestell erreichen und das Tablet das Gateway. Bei einem WLAN darf dort daher keine Client-Isolation aktiv sein.',
    'Aus dem Segment in das Hausnetz verbindet sich nur das Gateway, und nur mit den Adressen in Abschnitt 5. Bitte bestätigen Sie uns das: Vom Gateway aus lässt sich nicht nachweisen, dass es keine andere Adresse erreicht.',
    'Aus dem Segment in das Internet verbindet sich nur das Gateway, und nur mit den Zielen in Abschnitt 3.',
  ],
  segmentRange: 'Adressbereich',
  heartbeatRouted: (port, own, others) =>
    `Jeder Roboter hat ein eigenes Robotersegment. Die Gateways der Roboter senden einander alle 2 Sekunden ein signiertes Lebenszeichen, je ein UDP-Datagramm an Port ${port}. Bitte leiten Sie UDP-Port ${port} (Quelle und Ziel) in beiden Richtungen zwischen dem Gateway ${own} und den Gateways ${others} weiter, und zwischen den Robotersegmenten sonst nichts.`,
  heartbeatRoutedOpen: (port) =>
    `Jeder Roboter hat ein eigenes Robotersegment. Die Gateways der Roboter senden einander alle 2 Sekunden ein signiertes Lebenszeichen, je ein UDP-Datagramm an Port ${port}. Bitte leiten Sie UDP-Port ${port} (Quelle und Ziel) in beiden Richtungen zwischen diesen Gateways weiter, und zwischen den Robotersegmenten sonst nichts. Die Adressen der anderen Gateways: `,

  dhcpTitle: '2. DHCP-Reservierungen',
  dhcpHead: ['Gerät', 'MAC-Adresse', 'Adresse', 'Art'],
  device: { chassis: 'Fahrgestell', gateway: 'Gateway', tablet: 'Tablet' },
  fixed: 'feste Reservierung',
  plainDhcp: 'DHCP ohne Reservierung',
  none: 'nicht erforderlich',
  byName: (name) => `Rechnername ${name}`,
  dhcpNote:
    'Unter diesen Adressen findet das Gateway das Fahrgestell und das Tablet das Gateway. Ändert sich die Adresse des Fahrgestells, meldet die Bedienoberfläche „nicht verbunden“, und der Roboter fährt nicht.',

  outTitle: '3. Ausgehende Verbindungen in die Cloud',
  outRegion: (region) => `Alle Verbindungen gehen vom Gateway aus und führen in die Cloud-Region ${region}.`,
  outRegionButTime: (region) =>
    `Alle Verbindungen gehen vom Gateway aus und führen in die Cloud-Region ${region}; die Adressen, die nur der Uhrzeit dienen, können anderswo liegen.`,
  frankfurt: 'Frankfurt am Main (eu-central-1)',
  outHead: ['Ziel', 'Port und Protokoll', 'Zweck', 'Erforderlich'],
  outProtocol: {
    'mqtt-443': (port) => `${port} TCP, MQTT über TLS`,
    mqtt: (port) => `${port} TCP, MQTT über TLS`,
    storage: (port) => `${port} TCP, HTTPS`,
    tunnel: (port) => `${port} TCP, TLS`,
    enrolment: (port) => `${port} TCP, HTTPS`,
    time: (port) => `${port} TCP, HTTPS`,
  },
  outPurpose: {
    'mqtt-443': 'Betriebsdaten, Störungen, Hinweis auf Updates',
    mqtt: 'wie zuvor; bevorzugt, wo erlaubt',
    storage: 'Update-Pakete und Kartensicherungen, nur über kurzlebige vorsignierte Adressen',
    tunnel: 'Fernwartung',
    enrolment: 'Gerätezertifikat',
    time: 'Vergleich der Uhrzeit, alle sechs Stunden eine Anfrage ohne Inhalt',
  },
  alpn: (name) => `ALPN ${name}`,
  need: {
    needed: 'ja',
    optional: 'wahlweise',
    'in-session': 'ja; nur während einer Fernwartungssitzung offen',
    'before-delivery': 'einmalig vor der Auslieferung; bei Ihnen nur für eine Erneuerung',
  },
  outBasics: [
    ['Ihr DNS-Server, per DHCP zugewiesen', '53 UDP und TCP, DNS', 'Auflösung der Namen in dieser Tabelle', 'ja'],
    [
      'Ihr Zeitserver, per DHCP zugewiesen, falls vorhanden',
      '123 UDP, NTP',
      'Uhrzeit des Gateways für Aufzeichnungen und Zertifikate',
      'wahlweise; kein sicherheitsrelevanter Vorgang hängt davon ab',
    ],
  ],
  outNotes: [
    'Bitte nehmen Sie diese Ziele von einer TLS-Inspektion aus: Das Gateway prüft die Serverzertifikate und weist sich beim MQTT-Broker mit einem eigenen Zertifikat aus. Bei einer TLS-Inspektion kommt die Verbindung nicht zustande.',
    'Die Verbindungen werden unmittelbar aufgebaut, nicht über einen Web-Proxy.',
    'Bitte geben Sie die Ziele nach Namen frei; feste IP-Adressen liegen uns dafür nicht vor. Die Namen müssen im Robotersegment auflösbar sein.',
  ],

  inTitle: '4. Keine eingehenden Verbindungen',
  inText: [
    'Jede Verbindung, die Ihr Haus verlässt, baut das Gateway auf. Das gilt auch für die Fernwartung: Den Tunnel öffnet das Gateway selbst, für die Dauer einer Sitzung; Beginn und Ende jeder Sitzung werden aufgezeichnet.',
    'Die Fernwartung sieht den Roboter nur lesend. Sie kann keine Fahrt starten, keine Einstellung ändern und kein anderes Gerät in Ihrem Netz erreichen.',
    'Aus der Cloud nimmt das Gateway genau zwei Befehle an: eine Versionsfreigabe und einen Stopp. Daneben verarbeitet es zwei Arten von Nachrichten, die keine Befehle sind: die Ankündigung einer Fernwartungssitzung, die es prüft, bevor es eine Verbindung öffnet, und die Antworten auf seine eigenen Anfragen. Sie erreichen es nur über Topics, die es selbst abonniert hat; jede andere Nachricht wird verworfen und protokolliert.',
  ],

  houseTitle: '5. Türen, Aufzüge und weitere Geräte im Hausnetz',
  houseText:
    'Verbindungen zu diesen Geräten baut ausschließlich das Gateway auf. Im Betrieb ruft es das IoT-Modul des Gebäudes und den Sprachdienst auf. Türen, Aufzüge und Ebenenwechsel bedient es mit seiner jetzigen Software nicht; es prüft nur alle 15 Minuten und auf Anforderung, ob jede Adresse eine TCP-Verbindung annimmt, und schließt sie, ohne etwas zu senden. Vereinbart ist je Gerät eine Adresse:',
  onGateway: (services) =>
    `Auf dem Gateway selbst laufen: ${services}. Diese Verbindungen verlassen das Gateway nicht; dafür ist bei Ihnen nichts einzurichten.`,
  houseHead: ['Gerät', 'Art', 'Adresse', 'Port'],
  houseKind: {
    door: 'Tür',
    lift: 'Aufzug',
    'level-change': 'Ebenenwechsel',
    'building-module': 'IoT-Modul des Gebäudes',
    voice: 'Sprachdienst',
    other: 'Sonstiges',
  },
  houseNone:
    'Bisher ist kein Gerät vereinbart. Soll der Roboter Türen oder Aufzüge benutzen, nennen Sie uns bitte je Gerät die feste Adresse und den Port. Andernfalls ist hier nichts einzurichten.',

  insideTitle: '6. Verbindungen innerhalb des Robotersegments, zur Kenntnis',
  insideHead: ['Von', 'Nach', 'Port und Protokoll', 'Zweck'],
  inside: {
    chassis: ['Gateway, Tablet', 'Fahrgestell', 'HTTP und WebSocket', 'Zustand und Bewegung'],
    operator: ['Tablet, Browser im Segment', 'Gateway', 'HTTP', 'Bedienoberfläche'],
    heartbeat: ['Gateway', 'Gateways der anderen Roboter', '', 'Lebenszeichen der Roboter'],
    ssh: ['Laptop des Technikers', 'Gateway', 'SSH', 'Inbetriebnahme'],
    adb: ['Laptop des Technikers', 'Tablet', 'Android Debug Bridge', 'Einrichtung des Tablets; danach abgeschaltet'],
  },
  heartbeatBroadcast: 'Broadcast 255.255.255.255, der am Robotersegment endet',
  commissioning:
    'Für die Inbetriebnahme benötigt unser Techniker mit einem Laptop Zugang zum Robotersegment (WLAN-Schlüssel oder Anschluss im VLAN).',

  openTitle: '7. Offene Punkte',
  openFromYou: 'Bitte teilen Sie uns mit:',
  openFromUs: 'Wir reichen nach:',
  openNone: 'Keine.',
  openAlpn: (port) => `die ALPN-Kennung für MQTT über Port ${port}`,
  openWhat: {
    segment: 'den Adressbereich des Robotersegments',
    'chassis-address': 'die reservierte Adresse des Fahrgestells',
    'gateway-address': 'die reservierte Adresse des Gateways',
    devices: 'Adresse und Port jeder Tür und jedes Aufzugs, die der Roboter benutzen soll',
    'chassis-mac': 'die MAC-Adresse des Fahrgestells',
    'gateway-mac': 'die MAC-Adresse des Gateways',
    'mqtt-host': 'den Rechnernamen des MQTT-Brokers',
    'storage-host': 'den Rechnernamen des Objektspeichers',
    'tunnel-host': 'den Rechnernamen des Tunneldienstes',
    'enrolment-host': 'den Rechnernamen für die Ausstellung des Gerätezertifikats',
    'heartbeat-gateways': 'die Adressen der Gateways der anderen Roboter',
  },

  closingTitle: '8. Wie es weitergeht',
  closing:
    'Bitte geben Sie uns Bescheid, sobald alles eingerichtet ist. Am Tag der Inbetriebnahme prüfen wir die Verbindungen vom Gateway aus und geben Ihnen das Ergebnis.',
  questions: (reach) => `Für Rückfragen: ${reach}.`,
  regards: 'Mit freundlichen Grüßen',
  phone: (number) => `Telefon ${number}`,
  footer: (site, serial) => `Netzwerkanfrage, ${site}, ${serial}`,
};
