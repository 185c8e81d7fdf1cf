import { plural } from '../../text/index.ts';
import type { AuditValues, auditEn } from './audit.en.ts';

const ofRecords = ({ from, to }: AuditValues) => (from === to ? `Eintrag ${from}` : `Die Einträge ${from} bis ${to}`);
const fehlen = ({ from, to }: AuditValues) => (from === to ? 'fehlt' : 'fehlen');

const REPORT = 'Ein Fehler von gw oder ein gefälschter Eintrag: Bewahren Sie die Dateien auf und melden Sie ihn.';
const REVOKE =
  'Schließen Sie den Tunnel in der Cloud, falls er noch offen ist, entfernen Sie den Text und klären Sie, wie er dorthin kam.';

/** Die Prüfung der Fernwartungssitzungen, auf Deutsch. */
export const auditDe: typeof auditEn = {
  finding: {
    'changed-line': 'Zeile verändert',
    'unreadable-line': 'kein Eintrag',
    'invalid-record': 'ungültiger Eintrag',
    'foreign-field': 'fremdes Feld',
    'missing-records': 'Einträge fehlen',
    'repeated-line': 'Zeile doppelt',
    'out-of-order': 'Zeile an falscher Stelle',
    forked: 'zwei Einträge mit einer Nummer',
    'chain-broken': 'Kette unterbrochen',
    'missing-end': 'Ende abgeschnitten',
    'end-differs': 'letzter Eintrag ersetzt',
    'head-behind': 'Einträge nach head.json',
    'head-invalid': 'head.json beschädigt',
    'other-serial': 'Eintrag eines anderen Roboters',
    'start-without-end': 'Beginn ohne Ende',
    'end-without-start': 'Ende ohne Beginn',
    'second-end': 'zweites Ende',
    'session-repeated': 'Sitzungskennung doppelt',
    'replaced-unknown': 'ersetzte Sitzung unbekannt',
    overlap: 'Sitzungen überschneiden sich',
    'beyond-own-clock': 'länger als die eigene Uhr',
    'beyond-configured': 'länger als eingestellt',
    'other-region': 'andere Region',
    'services-count': 'Anzahl der Dienste',
    'service-not-in-list': 'Dienst nicht in der Liste',
    'token-in-records': 'Token in den Einträgen',
    'token-like-in-records': 'tokenähnlicher Text in den Einträgen',
    'token-in-log': 'Token in einem Log',
    'token-like-in-log': 'tokenähnlicher Text in einem Log',
    'missing-in-cloud': 'fehlt in der Cloud',
    'missing-locally': 'fehlt auf dem Gateway',
    'cloud-differs': 'Kopien verschieden',
    'cloud-invalid': 'Cloud: kein Eintrag',
  },
  /** What it says. */
  sentence: {
    'changed-line':
      'Die Zeile wurde nachträglich verändert: Ihre SHA-256-Prüfsumme stimmt nicht mit ihrem Hash überein.',
    'unreadable-line': 'Die Zeile ist kein Eintrag: Sie wurde beschädigt oder eingefügt.',
    'invalid-record': 'Der Hash stimmt, der Inhalt ist aber kein Eintrag von gw ({what}).',
    'foreign-field': 'Der Eintrag hat ein Feld, das es in diesem Format nicht gibt: {what}.',
    'missing-records': (values) => `${ofRecords(values)} ${fehlen(values)} vor dieser Zeile.`,
    'repeated-line': 'Die Zeile ist eine Kopie der Zeile davor.',
    'out-of-order': 'Die Zeile wurde verschoben oder eingefügt (bei Eintrag {after}).',
    forked: 'Diese Zeile und Zeile {line} folgen auf denselben Eintrag: Eine davon wurde eingefügt.',
    'chain-broken': 'Der Eintrag schließt nicht an den vorherigen an: Einer der beiden wurde ersetzt.',
    'missing-end': (values) => `${ofRecords(values)} ${fehlen(values)} am Ende, laut head.json.`,
    'end-differs': 'Der Eintrag ist nicht der, den head.json als letzten nennt.',
    'head-behind':
      'head.json nennt Eintrag {head} als letzten, danach folgt mehr als einer: Ein anderes Programm hat sie angefügt, oder head.json ließ sich nicht schreiben.',
    'head-invalid': 'head.json ist nicht lesbar; ein abgeschnittenes Ende wäre nicht erkennbar.',
    'other-serial': 'Der Eintrag gehört zu Roboter {serial}, nicht zu {expected}.',
    'start-without-end': 'Die Sitzung begann am {at} für höchstens {maxS} s und hat kein Ende.',
    'end-without-start': 'Die Sitzung hat ein Ende, aber keinen Beginn.',
    'second-end': 'Die Sitzung endet ein zweites Mal.',
    'session-repeated': 'Eine Sitzung mit derselben Kennung hat bereits früher begonnen.',
    'replaced-unknown': 'Die Sitzung hat {replaces} ersetzt; dazu gibt es keinen Eintrag.',
    overlap: 'Die Sitzung begann, während {other} lief, ohne sie zu ersetzen.',
    'beyond-own-clock': 'Die Sitzung dauerte {durationS} s; die eigene Uhr erlaubte {maxS} s.',
    'beyond-configured':
      'Die eigene Uhr stand auf {maxS} s; die Standortdatei erlaubt jetzt {limitS} s (cloud.tunnel.maxMinutes).',
    'other-region': 'Die Sitzung gehörte zur Region {region}, nicht zu {expected}.',
    'services-count': 'Die Sitzung nennt {count} Dienste; erlaubt sind 1 bis {max}, jeder einmal.',
    'service-not-in-list': 'Die Sitzung nennt den Dienst {service}, der nicht in der Standortdatei steht.',
    'token-in-records': 'Ein Text von {length} Zeichen im Eintrag ist das Zugangstoken einer Sitzung.',
    'token-like-in-records': 'Ein Text von {length} Zeichen im Eintrag sieht wie ein Token aus.',
    'token-in-log': 'Der Text von {length} Zeichen ab Spalte {column} ist das Zugangstoken einer Sitzung.',
    'token-like-in-log': 'Der Text von {length} Zeichen ab Spalte {column} sieht wie ein Token aus.',
    'missing-in-cloud': (values) => `${ofRecords(values)} ${fehlen(values)} in der Kopie der Cloud.`,
    'missing-locally': 'Die Kopie der Cloud hat einen Eintrag, den das Gateway nicht hat.',
    'cloud-differs': 'Der Eintrag in der Kopie der Cloud ist ein anderer als der auf dem Gateway mit derselben Nummer.',
    'cloud-invalid': 'Die Zeile der Kopie der Cloud ist weder ein Sitzungseintrag noch eine Nachricht von gw.',
  },
  /** What to do; for all others `compare`. */
  remedy: {
    'head-behind':
      'Suchen Sie im Log von gw nach einer Meldung zu head.json. Gibt es keine, vergleichen Sie mit der Kopie in der Cloud.',
    'other-serial':
      'Geben Sie mit --site die Standortdatei dieses Roboters an. Ist es die richtige, wurde der Eintrag hierher kopiert.',
    'start-without-end':
      'Starten Sie gw auf dem Gateway; es schließt solche Sitzungen als unsauberes Ende ab. Läuft es bereits, bewahren Sie die Dateien auf und melden Sie den Fall.',
    'second-end': REPORT,
    'session-repeated': REPORT,
    overlap: REPORT,
    'beyond-own-clock': REPORT,
    'beyond-configured': 'Klären Sie, ob cloud.tunnel.maxMinutes nach dieser Sitzung verkleinert wurde.',
    'other-region': 'Klären Sie, ob cloud.region nach dieser Sitzung geändert wurde. Wenn nicht, melden Sie den Fall.',
    'services-count': REPORT,
    'service-not-in-list':
      'Klären Sie, ob cloud.tunnel.services nach dieser Sitzung geändert wurde. Wenn nicht, melden Sie den Fall.',
    'token-in-records': REVOKE,
    'token-like-in-records': REVOKE,
    'token-in-log': REVOKE,
    'token-like-in-log':
      'Klären Sie, was der Text ist. Ist es ein Token, schließen Sie den Tunnel in der Cloud und entfernen Sie ihn.',
    'missing-in-cloud':
      'Holen Sie eine neue Kopie aus der Cloud. Fehlt der Eintrag weiter, klären Sie, wer ihn entfernt oder nie gespeichert hat.',
    'missing-locally':
      'Die Einträge auf dem Gateway wurden nach dem Senden verändert oder gekürzt. Bewahren Sie beide auf; maßgeblich ist die Kopie der Cloud.',
    'cloud-differs':
      'Eine der beiden Kopien wurde nach dem Senden verändert. Bewahren Sie beide auf und klären Sie, wer wo schreiben konnte.',
    'cloud-invalid': 'Holen Sie eine neue Kopie aus der Cloud, als JSON-Zeilen.',
  },
  compare:
    'Bewahren Sie die Dateien unverändert auf und vergleichen Sie sie mit der Kopie in der Cloud: `gw tunnel audit --cloud DATEI`.',
  title: (serial) => `Prüfung der Fernwartungssitzungen${serial === null ? '' : ` von Roboter ${serial}`}`,
  above: 'Fernwartung',
  footer: (serial) => `Prüfung der Fernwartungssitzungen${serial === null ? '' : `, ${serial}`}`,
  verdict: {
    ok: 'Kein Befund: Die Einträge auf dem Gateway sind vollständig und gleich der Kopie der Cloud',
    findings: (count) => plural(count, 'Befund', 'Befunde'),
    'not-decided': 'Nicht entschieden: kein Befund, aber nicht alles wurde geprüft',
  },
  firstBroken: (file, line) => `Erste fehlerhafte Zeile der Kette: ${file}${line === null ? '' : `, Zeile ${line}`}`,
  notCompared:
    'Die Kopie der Cloud wurde NICHT VERGLICHEN: Ein vollständiges Neuschreiben der Einträge auf dem Gateway wäre nicht erkennbar.',
  compared: 'Eintrag für Eintrag mit der Kopie der Cloud verglichen.',
  notCheckedNames: (names) => `Nicht geprüft: ${names}.`,
  figures: {
    records: 'Einträge',
    sessions: 'Sitzungen',
    refused: 'abgelehnt',
    findings: 'Befunde',
    open: 'nicht geprüfte Punkte',
  },
  factsTitle: 'Was geprüft wurde',
  fact: {
    robot: 'Roboter',
    records: 'Einträge',
    time: 'Zeitraum',
    files: 'Dateien',
    cloud: 'Kopie der Cloud',
    logs: 'Logdateien',
    madeAt: 'Zeitpunkt der Prüfung',
  },
  none: 'keine',
  unknown: 'nicht bekannt',
  range: (first, last, count) => `${first} bis ${last} (${plural(count, 'Zeile', 'Zeilen')})`,
  cloudFacts: (records, copies, others, older) =>
    `${plural(records, 'Eintrag', 'Einträge')} dieses Roboters, ${copies} weitere Kopien mit gleichem Inhalt, ${older} älter als die auf dem Gateway, ${others} andere Zeilen`,
  checksTitle: 'Prüfpunkte',
  checksHead: ['Prüfpunkt', 'Ergebnis', 'Befund'],
  mark: { ok: 'in Ordnung', wrong: 'FEHLER', 'not-checked': 'nicht geprüft' },
  check: {
    chain: 'Jeder Eintrag ist unverändert und schließt an den vorigen an',
    beginning: 'Die ersten Einträge sind vorhanden',
    end: 'Die letzten Einträge sind vorhanden (head.json)',
    pairs: 'Jeder Beginn hat genau ein Ende',
    durations: 'Keine Sitzung dauerte länger als ihre eigene Uhr',
    configured: 'Keine eigene Uhr war länger als eingestellt',
    scope: 'Nur die eingestellte Region und die eingestellten Dienste',
    overlap: 'Nie zwei Sitzungen zugleich, außer einer ersetzten',
    'tokens-records': 'Kein Token in den Einträgen',
    'tokens-logs': 'Kein Token in den Logdateien',
    cloud: 'Einträge auf dem Gateway und Kopie der Cloud sind gleich',
  },
  detail: {
    done: '',
    findings: ({ count }) => plural(Number(count), 'Befund', 'Befunde'),
    'no-records': 'es gibt keine Einträge',
    rotated: 'Einträge vor {first} sind nicht vorhanden: Laut head.json wurden sie planmäßig entfernt',
    unjudged: 'nicht jede Zeile war prüfbar',
    'unknown-durations': ({ unknown }) =>
      `bei ${plural(Number(unknown), 'Sitzung', 'Sitzungen')} ist die Dauer nicht bekannt`,
    'no-head': 'das Ende der Kette wurde nicht geprüft: head.json fehlt',
    'no-first': 'Einträge vor {first} sind nicht vorhanden; ohne head.json ist der Grund unbekannt',
    'head-one-behind':
      'head.json bestätigt Eintrag {last} nicht, sondern nennt den davor: gw schreibt gerade, wurde dazwischen beendet, oder ein anderes Programm hat ihn angefügt',
    torn: 'die letzte Zeile ist unvollständig: gw schreibt sie gerade oder wurde dabei beendet',
    running: 'Sitzung {session} vom {at} hat noch kein Ende; nach ihrer eigenen Uhr kann sie bis {untilAt} laufen',
    'no-limits': 'keine Standortdatei mit cloud.tunnel angegeben',
    'no-logs': 'keine Logdatei angegeben',
    'unsearched-logs':
      'die Logdateien waren nicht vollständig durchsuchbar: eine ist leer oder kein Text (komprimiert?), oder eine Zeile ist zu lang',
    'no-cloud': 'keine Kopie der Cloud angegeben',
    'cloud-behind': 'die {newer} neuesten Einträge stehen noch nicht in der Kopie der Cloud',
  },
  findingsTitle: 'Befunde',
  findingsHead: ['Stelle', 'Eintrag', 'Befund', 'Was zu tun ist'],
  place: (file, line) => (file === null ? '--' : line === null ? file : `${file}, Zeile ${line}`),
  sessionOf: (session) => `Sitzung ${session}`,
  notListed: (count) => `${count} weitere Befunde sind gezählt, aber nicht aufgeführt.`,
  refusal: {
    'not-configured': 'Fernwartung nicht eingerichtet',
    'not-destination': 'nicht an das Gateway gerichtet',
    'other-region': 'andere Region',
    'services-count': 'Anzahl der Dienste',
    'service-repeated': 'ein Dienst doppelt',
    'service-not-in-list': 'Dienst nicht in der Liste',
    'seen-before': 'Token schon einmal empfangen',
    'not-recorded': 'ließ sich nicht aufzeichnen',
    'shutting-down': 'Gateway wurde beendet',
  },
  infoTitle: 'Zur Kenntnis',
  info: {
    refused: (reasons) => `Abgelehnte Anfragen: ${reasons}.`,
    onlyJudged:
      'Die Zahlen der Sitzungen und Ablehnungen umfassen nur die prüfbaren Einträge. Ein Beginn oder ein Ende, das zu fehlen scheint, kann unter den übrigen sein.',
    noRefused: 'Es wurde keine Anfrage abgelehnt.',
    unusual: (day, count) => `Auffällig: ${count} abgelehnte Anfragen am ${day} (UTC).`,
    unclean: (count) =>
      `${plural(count, 'Sitzung', 'Sitzungen')} erst beim nächsten Start von gw abgeschlossen, weil gw oder das Gateway unvermittelt endete (unclean-shutdown).`,
    unknownDurations: (count) => `Bei ${plural(count, 'Sitzung', 'Sitzungen')} ist die Dauer nicht bekannt.`,
    clock: (count, place) =>
      `Die Uhr des Gateways wurde ${count}-mal zurückgestellt, zuerst bei ${place}. Die Dauer wird mit einer anderen Uhr gemessen.`,
    torn: (count) =>
      `${plural(count, 'Rest', 'Reste')} unvollständiger Zeilen neben den Einträgen, nach einem Absturz dorthin verschoben.`,
    running: (session, until) => `Sitzung ${session} läuft möglicherweise noch bis ${until}.`,
  },
  meaningTitle: 'Was diese Prüfung zeigt und was nicht',
  meaning: [
    'Jeder Eintrag enthält die SHA-256-Prüfsumme des vorherigen. Wer eine einzelne Zeile ändert, entfernt, einfügt oder verschiebt, kann die übrigen nicht passend machen; die Prüfung nennt die erste Zeile, die nicht passt.',
    'Wer auf dem Gateway Root-Rechte hat, kann alle Einträge und head.json mit passenden Prüfsummen neu schreiben. Das zeigt nur der Vergleich mit der Kopie der Cloud, denn das Gateway sendet jeden Eintrag dorthin, sobald er entsteht.',
    'Die Zeiten in den Einträgen sind die der Uhr des Gateways, die falsch gegangen sein kann. Die Dauer wurde unabhängig davon gemessen.',
    'Die Einträge enthalten die Prüfsumme eines Tokens und nie das Token selbst.',
  ],
};
