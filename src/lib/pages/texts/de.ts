import { basisWordsDe } from '../../evidence/fact.ts';
import type { Run } from '../model.ts';
import { deLabels, deUi, deWords, modes } from './de-words.ts';
import { deDelivery } from './delivery.ts';
import type { Format } from './format.ts';
import { deIncident } from './incident.ts';
import { deMedia } from './media.ts';
import { deService } from './service-de.ts';
import type { Texts } from './texts.ts';

const PRESS = 'Den Not-Halt am Roboter drücken.';

const topics: Readonly<Record<string, string>> = {
  '/wheel_state': 'Not-Halt und Betriebsart',
  '/slam/state': 'Ortung',
  '/alerts': 'Störungen',
  '/planning_state': 'Fahrt',
};
const positioning: Readonly<Record<string, string>> = {
  lost: 'Der Roboter hat seine Position verloren.',
  poor: 'Die Ortung ist ungenau.',
  inactive: 'Die Ortung ist nicht aktiv.',
  mapping: 'Der Roboter nimmt gerade eine Karte auf.',
};

type Named = Pick<Run, 'kind' | 'name' | 'title'>;

const where = ({ kind, name, title }: Named, f: Format) =>
  kind === 'dock'
    ? 'zur Ladestation'
    : kind === 'tour'
      ? `Tour ${f.named(name ?? '', title)}`
      : kind === 'drive'
        ? `zu ${f.named(name ?? '', title)}`
        : '';

const ending = ({ state }: Pick<Run, 'state'>) => (state === 'stopped' ? 'abgebrochen' : 'gescheitert');

const NOT_READ = 'Ob eine Fahrt gescheitert ist, ist nicht bekannt';

/** Also of a run that an incident has kept, which may be a later one. */
function failedTitle(run: (Named & Pick<Run, 'state' | 'failure'>) | null, f: Format): string {
  if (run?.failure?.cause === 'not-read') return NOT_READ;
  const hasFailed = run?.state === 'failed' || run?.state === 'stopped';
  return hasFailed ? `Fahrt ${where(run, f)} ${ending(run)}` : 'Fahrt gescheitert';
}

const stationOf = (run: Pick<Run, 'kind' | 'stations' | 'stationTitles' | 'at'>, f: Format) =>
  run.kind === 'tour' ? ` · Station ${run.at + 1} von ${run.stations.length} (${goalOf(run, f)})` : '';

/** The station that a tour drives to, or is to drive to. */
const goalOf = ({ stations, stationTitles, at }: Pick<Run, 'stations' | 'stationTitles' | 'at'>, f: Format) =>
  f.named(stations[at] ?? '', stationTitles?.[at]);

/** Why a run did not reach its goal, as a clause. */
function failureText({ failure, failReason }: Pick<Run, 'failure' | 'failReason'>, f: Format): string {
  switch (failure?.cause) {
    case undefined:
      return failReason === null || failReason === 0 ? '' : ` (${de.failReason(failReason)})`;
    case 'missed':
      return `: Der Roboter steht ${de.offGoal(failure.offM, failure.offDeg, f)}`;
    case 'not-proven':
      return ': Der Roboter meldet die Ankunft, aber ob er am Ziel steht, ist nicht bekannt';
    case 'given-up':
      return `: Der Roboter hat sie aufgegeben${failReason ? ` (${de.failReason(failReason)})` : ''}`;
    case 'refused':
      return ': Der Roboter hat den Auftrag nicht angenommen';
    case 'cancelled':
      return ': nicht durch eine Person';
    case 'unknown':
      return ': Wie sie endete, ist nicht bekannt';
    case 'interrupted':
      return ': Die Steuerung des Roboters wurde dabei neu gestartet. Wie sie endete, ist nicht bekannt';
    case 'not-read':
      return '';
  }
}

const although = ({ although: codes }: Run) => (codes.length === 0 ? '' : ` trotz Störmeldung ${codes.join(', ')}`);

/** German texts of the pages. Staff read `/`: no gateway, chassis, topic or file there. */
export const de: Texts = {
  headline: {
    ready: () => 'Bereit',
    drives: ({ run }, f) => (run === null ? 'Fährt' : `Fahrt ${where(run, f)}`),
    paused: ({ run }, f) => (run === null ? 'Pause' : `Pause: ${where(run, f)}`),
    trial: () => 'Begleiteter Versuch läuft',
    limited: () => 'Bereit, mit Einschränkungen',
    failed: ({ failed, run }, f) => failedTitle(failed ?? run, f),
    'comes-to-rest': () => 'Kommt zum Stehen',
    locked: () => 'Fahrt gesperrt',
    stopped: () => 'Angehalten',
    'does-not-stop': () => 'STOPP gesetzt – ROBOTER HÄLT NICHT AN',
    'still-moves': () => 'STOPP gesetzt – Roboter bewegt sich noch',
    'standing-not-known': () => 'STOPP gesetzt – Stillstand nicht bekannt',
    'not-connected': () => 'Nicht verbunden',
    connecting: () => 'Noch nicht verbunden',
    booting: ({ link }, f) =>
      `Roboter startet${link.progress === null ? '' : ` – ${f.number(link.progress * 100, 0)} %`}`,
  },
  notes: {
    'stop-latched': () => 'Der Stopp ist gesetzt.',
    'drove-on': () =>
      'Der Roboter ist nach dem Stopp weitergefahren. Vor der nächsten Fahrt muss ein Techniker den Stopp prüfen.',
    'standing-not-known': () => 'Ob der Roboter steht, ist nicht bekannt: im Zweifel den Not-Halt am Roboter drücken.',
    'does-not-stop': () => `Der Roboter hält trotz Abbruch nicht an. ${PRESS}`,
    'still-moves': () => 'Der Roboter bewegt sich noch. Hält er nicht an: den Not-Halt am Roboter drücken.',
    moves: () => 'Der Roboter bewegt sich. Erst wenn er steht, nimmt er eine Fahrt an.',
    'standing-awaited': () => 'Ob der Roboter seit dem letzten Abbruch steht, wird noch geprüft.',
    'stop-not-kept': () =>
      'Ein Stopp kann zurzeit nicht gespeichert werden. Bis das wieder geht, bleibt die Fahrt gesperrt.',
    'pose-alarm': ({ map = null }, f) =>
      `Die Position des Roboters${map === null ? '' : ` auf der Karte „${f.titled(map)}“`} ist falsch oder nicht bekannt. Bis ein Techniker sie setzt, bleibt die Fahrt gesperrt.`,
    'map-unknown': () => 'Der Roboter meldet nicht, welche Karte er benutzt.',
    'map-unnamed': () =>
      'Zu welcher Karte die Stationen gehören, ist nicht eingetragen. Bis ein Techniker das nachholt, bleibt die Fahrt gesperrt.',
    'other-map': ({ map, measured }, f) =>
      `Der Roboter ist auf der Karte „${f.titled(map)}“; die Stationen gehören zur Karte „${f.titled(measured)}“.`,
    'map-changed': ({ map }, f) =>
      `Die Karte „${f.titled(map)}“ wurde geändert, seit die Stationen vermessen wurden. Ein Techniker muss sie prüfen.`,
    'other-robot': ({ map }, f) =>
      `Die Stationen der Karte „${f.titled(map)}“ wurden mit einem anderen Roboter vermessen. Ein Techniker muss sie mit diesem prüfen.`,
    'no-pose': () => 'Die Position ist nicht bekannt: Der Roboter meldet keine aktuelle.',
    'unowned-move': ({ moveId, isBeingCancelled }) =>
      `Der Roboter fährt nach einem fremden Auftrag (Nr. ${moveId}).${
        isBeingCancelled ? ' Er wird abgebrochen.' : ' Bis zu seinem Ende sind andere Fahrten gesperrt.'
      }`,
    unreadable: ({ topic }) =>
      `Der Roboter meldet etwas Unlesbares zu ${
        topics[topic] ?? 'seinem Zustand'
      }: gesperrt, bis eine lesbare Meldung eintrifft.`,
    'unit-radians': () =>
      'Der Roboter meldet seine Ausrichtung im Bogenmaß statt in Grad. Die Fahrt bleibt gesperrt, bis ein Techniker das geprüft hat.',
    'unit-doubtful': () => 'Es ist zweifelhaft, ob der Roboter seine Ausrichtung in Grad meldet.',
    'heading-misfit': () =>
      'Die gemeldete Ausrichtung passt nicht zur Fahrt: Einheit, Drehsinn oder Nullrichtung sind zweifelhaft.',
    'emergency-stop': () => 'Der Not-Halt ist gedrückt.',
    'wheels-released': () => 'Die Räder sind entriegelt.',
    'control-mode': ({ mode }) =>
      `Der Roboter nimmt keine Fahrbefehle an: Er wird ${modes[mode] ?? `in der Betriebsart „${mode}“`} gesteuert.`,
    positioning: ({ state }) => positioning[state] ?? 'Die Ortung ist gestört.',
    battery: ({ isCritical, percent }, f) =>
      `Die Batterie ist ${isCritical ? 'fast leer' : 'schwach'}: ${f.number(percent, 0)} %.`,
    'battery-contradictory': ({ percent }, f) =>
      `Die Angaben zur Batterie widersprechen sich: „voll“ bei ${f.number(percent, 0)} %.`,
    alerts: ({ alerts, more }) =>
      `Störmeldungen des Roboters: ${alerts.join('; ')}${more === 0 ? '' : ` und ${more} weitere`}.`,
    'not-checked': ({ conditions }) => `Nicht geprüft: ${conditions.map((id) => de.conditions[id] ?? id).join(', ')}.`,
    'late-answers': () => 'Der Roboter hat zu spät oder nicht geantwortet. Näheres auf der Seite „Technik“.',
    complaints: ({ count }) => `Fehlerhafte Meldungen des Roboters: ${count}. Näheres auf der Seite „Technik“.`,
    facts: () => 'Der Roboter darf noch nicht fahren. Bitte den Techniker rufen.',
    'gate-closed': () => 'Der Roboter darf jetzt nicht fahren. Bitte den Techniker rufen.',
    'not-connected': () => 'Der Roboter ist nicht verbunden. Bitte den Techniker rufen, wenn das anhält.',
    'robot-starting': () => 'Das dauert einige Minuten. Danach ist der Roboter von selbst wieder da.',
    'link-starting': () => 'Die Verbindung zum Roboter wird gerade aufgebaut.',
    'evidence-revoked': () => 'Nachweise wurden zurückgenommen. Näheres auf der Seite „Technik“.',
    'evidence-unreadable': () => 'Die Nachweise sind nicht lesbar. Näheres auf der Seite „Technik“.',
    'service-down': () => 'Ein Teil der Steuerung läuft nicht. Näheres auf der Seite „Technik“.',
    disk: () => 'Es fehlt Speicherplatz. Näheres auf der Seite „Technik“.',
    'disk-unwritable': () => 'Die Steuerung kann zurzeit nichts speichern. Näheres auf der Seite „Technik“.',
    'disk-silent': () => 'Der Speicher der Steuerung antwortet nicht. Näheres auf der Seite „Technik“.',
    'disk-not-checked': () => 'Der Speicher der Steuerung ist noch nicht geprüft.',
    'support-not-recorded': () => 'Die Fernwartung kann nicht aufgezeichnet werden. Näheres auf der Seite „Technik“.',
    'cloud-away': () => 'Keine Verbindung zur Cloud. Näheres auf der Seite „Technik“.',
    'gateway-degraded': () => 'Die Steuerung ist beeinträchtigt. Näheres auf der Seite „Technik“.',
  },
  failure: {
    refused: 'Das Gerät unter dieser Adresse lehnt die Verbindung ab: An diesem Port läuft kein Dienst.',
    'no-route': 'Zu dieser Adresse gibt es keine Route.',
    'no-answer': 'Unter dieser Adresse antwortet kein Gerät.',
    'unknown-name': 'Der Name ist im Netz nicht bekannt.',
    'no-name-server': 'Kein Nameserver hat geantwortet.',
    cut: 'Die Verbindung wurde getrennt.',
    closed: 'Die Verbindung wurde ohne Antwort geschlossen.',
    other: 'Die Verbindung ist fehlgeschlagen.',
    'bad-answer': 'Unter dieser Adresse antwortet kein Fahrgestell.',
    'wrong-device': 'Es antwortet ein anderer Roboter.',
    silent: 'Die Verbindung besteht, aber es kommen keine Daten mehr an.',
  },
  conditions: {
    'emergency-stop': 'Not-Halt',
    'control-mode': 'Betriebsart',
    positioning: 'Ortung',
    battery: 'Batterie',
    power: 'Stromversorgung',
    alerts: 'Störmeldungen',
  },
  stale: {
    'no-connection': 'veraltet, keine Verbindung zum Roboter',
    'not-received-since-reconnect': 'veraltet, seit der neuen Verbindung nicht empfangen',
    'too-old': 'veraltet',
    'newer-rejected': 'unsicher, die neueste Meldung ist fehlerhaft',
  },
  doubts: {
    'position-lost': 'ungültig, Position verloren',
    'position-poor': 'unsicher, Ortung ungenau',
    radians: 'ungültig, Bogenmaß statt Grad',
    'heading-misfit': 'zweifelhaft, passt nicht zur Fahrt',
    'unit-doubtful': 'zweifelhaft, Winkeleinheit unsicher',
    'battery-scale': 'nicht entschieden, ob der Roboter bis 1 oder bis 100 zählt',
  },
  basis: basisWordsDe,
  facts: {
    'angles.tracked-pose-ori': 'Der Roboter meldet seine Ausrichtung in Grad',
    'angles.target-ori': 'Das Ziel einer Fahrt wird im Bogenmaß angegeben',
    'angles.pose-ori': 'Eine gesetzte Position wird im Bogenmaß angegeben',
    'vendor.move.request': 'Eine Fahrt wird so angenommen, wie sie gesendet wird',
    'vendor.move.state': 'Der Roboter meldet den Zustand seiner Fahrt',
    'vendor.move.cancel': 'Ein Abbruch beendet die Fahrt',
    'vendor.move.charge-target': 'Das Ziel des Andockens ist die Ladestation',
    'vendor.pose.request': 'Die Position wird so übernommen, wie sie gesetzt wird',
  },
  origins: { surface: 'auf einer Bedienseite', command: 'durch einen Befehl', cloud: 'aus der Cloud' },
  refusals: {
    CHASSIS_NOT_CONNECTED: 'Der Roboter ist nicht verbunden.',
    CHASSIS_BOOTING: 'Der Roboter startet noch.',
    CHASSIS_WRONG_DEVICE: 'Es antwortet ein anderer Roboter.',
    MOTION_STOPPED: 'Der Stopp ist gesetzt. Erst muss er aufgehoben werden.',
    MOTION_REFUSED: 'Der Roboter darf jetzt nicht fahren.',
    TOUR_RUNNING: 'Es fährt schon eine Tour, oder eine ist in Pause.',
    TOUR_NOT_RUNNING: 'Es fährt keine Tour.',
    TOUR_NOT_PAUSED: 'Diese Tour ist nicht in Pause.',
    TOUR_UNKNOWN: 'Diese Tour gibt es nicht.',
    STATION_UNKNOWN: 'Diese Station gibt es nicht.',
    QUEUE_CLOSED: 'Es fährt gerade nichts, und keine Lieferung wartet.',
    QUEUE_FULL: 'Die Warteschlange ist voll.',
    STATE_OUTDATED: 'Der Stand auf dieser Seite war veraltet. Bitte den jetzigen Stand ansehen und noch einmal wählen.',
    NOT_CONFIRMED: 'Angefordert, aber noch nicht bestätigt. Den Stand zeigt die Seite „Technik“.',
    NOT_SIGNED_IN: 'Dafür ist eine Anmeldung erforderlich.',
    SIGN_IN_FAILED: 'Das Kennwort ist falsch.',
    TOO_MANY_TRIES: 'Zu viele falsche Versuche. Bitte eine Minute warten.',
    SIGN_IN_UNAVAILABLE: 'Die Kennwortdatei dieses Gateways ist nicht lesbar. Ein Techniker muss sie berichtigen.',
    SIGN_IN_BUSY: 'Gerade gehen sehr viele Anmeldungen ein. Bitte gleich noch einmal versuchen.',
    NOT_CONFIGURED: 'Das ist auf diesem Gateway nicht eingerichtet.',
    BAD_REQUEST: 'Die Anfrage ist unvollständig.',
    BUSY: 'Gerade gehen zu viele Anfragen ein. Bitte gleich noch einmal versuchen.',
    NO_ANSWER: 'Keine Antwort vom Gateway: Es ist ungewiss, ob der Auftrag angekommen ist.',
  },
  found: (count) =>
    count === 0 ? 'Keine Station gefunden' : count === 1 ? 'Eine Station gefunden' : `${count} Stationen gefunden`,
  robotsElsewhere: (count) => `Nicht gezeigt: Roboter auf anderer oder unbekannter Karte (${count})`,
  failReason: (code) =>
    code === 103 ? 'Grund 103: Ausrichtung des Ziels ungültig' : `Grund ${code}: Bedeutung nicht bekannt`,
  offGoal: (offM, offDeg, f) =>
    [
      ...(offM === null ? [] : [`${f.number(offM, 2)}\u00a0m neben dem Ziel`]),
      ...(offDeg === null ? [] : [`um ${f.number(offDeg, 0)}° verdreht`]),
    ].join(' und '),
  lamps: {
    chassis: 'Fahrgestell',
    gate: 'Fahrfreigabe',
    'stop-path': 'Stopp-Weg',
    cloud: 'Cloud',
    outbox: 'Postausgang',
    release: 'Version',
    heartbeat: 'Herzschlag',
    support: 'Fernwartung',
    tablet: 'Tablet',
    devices: 'Türen, Aufzüge, Dienste',
    disk: 'Speicher',
    gateway: 'Gateway',
    clock: 'Uhr',
  },
  levels: {
    bad: 'gestört',
    attention: 'Achtung',
    unknown: 'nicht geprüft',
    good: 'in Ordnung',
    off: 'nicht eingerichtet',
  },
  labels: deLabels,
  words: deWords,
  run: (run, f) => {
    if (run.kind === 'trial') return 'Begleiteter Versuch läuft';
    if (run.kind === 'order') return 'Ein Auftrag läuft';
    switch (run.state) {
      case 'running':
        return `Fahrt ${where(run, f)}${stationOf(run, f)}${although(run)} · seit ${f.seconds(run.forMs)}`;
      case 'paused':
        return `Pause vor Station ${run.at + 1} von ${run.stations.length} (${goalOf(run, f)}), seit ${f.seconds(run.forMs)} · ${where(run, f)}`;
      case 'succeeded':
        return run.kind === 'tour'
          ? `Tour ${f.named(run.name ?? '', run.title)} beendet`
          : `Angekommen ${where(run, f)}`;
      case 'failed':
      case 'stopped':
        return de.failed(run, f);
    }
  },
  failed: (run, f) =>
    run.failure?.cause === 'not-read'
      ? NOT_READ
      : `Fahrt ${where(run, f)}${stationOf(run, f)} ${ending(run)}${failureText(run, f)}`,
  failedEarlier: (count) =>
    count === 1 ? 'Davor ist eine weitere Fahrt gescheitert.' : `Davor sind ${count} weitere Fahrten gescheitert.`,
  ask: ({ kind }, label) =>
    kind === 'dock'
      ? 'Zur Ladestation fahren?'
      : {
          tour: `Tour ${label} starten?`,
          resume: `Tour ${label} fortsetzen?`,
          next: `${label} anfahren?`,
          station: `${label} anfahren?`,
        }[kind],
  ui: deUi,
  service: deService,
  media: deMedia,
  incident: deIncident,
  delivery: deDelivery,
};
