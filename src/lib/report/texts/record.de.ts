import { markTextDe } from '../../evidence/index.ts';
import { plural } from '../../text/index.ts';
import type { recordEn } from './record.en.ts';

/** Das Protokoll einer Checkliste, auf Deutsch. */
export const recordDe: typeof recordEn = {
  above: {
    premises: 'Protokoll: vor der Auslieferung',
    site: 'Protokoll: Inbetriebnahme am Einsatzort',
    handover: 'Protokoll: Übergabe',
    service: 'Protokoll: Service',
    none: 'Protokoll einer Checkliste',
  },
  footer: (id, edition, state) => `Protokoll ${id}, Ausgabe ${edition}, ${state}`,

  simulated: 'SIMULIERTER ROBOTER: keine Abnahme',
  simulatedText:
    'Das Gerät hat sich als Simulator gemeldet. Dieses Protokoll sagt nichts über einen wirklichen Roboter.',
  simulatedShort: 'SIMULIERTER ROBOTER',

  verdictOk: (steps) => (steps === 1 ? 'Der Schritt ist in Ordnung' : `Alle ${steps} Schritte sind in Ordnung`),
  verdictOkUnproven: (steps) =>
    `${steps === 1 ? 'Der Schritt ist' : `Alle ${steps} Schritte sind`} als in Ordnung vermerkt, aber dieses Protokoll ist nicht geprüft`,
  verdictAccepted: (deviations) =>
    deviations === 1 ? 'Angenommen mit 1 Abweichung' : `Angenommen mit ${deviations} Abweichungen`,
  verdictWrong: (wrong, redLines) =>
    redLines > 0
      ? `Nicht angenommen: ${wrong} nicht erfüllt, dazu ${plural(redLines, 'sperrender Befund', 'sperrende Befunde')}`
      : `Nicht angenommen: ${plural(wrong, 'Anforderung', 'Anforderungen')} nicht erfüllt`,
  verdictIncomplete: (open) =>
    `Nicht vollständig: ${plural(open, 'Schritt', 'Schritte')} übersprungen oder nicht geprüft`,
  interrupted: 'Der Lauf wurde vorzeitig unterbrochen.',
  leftOut: 'Einzelne Schritte wurden absichtlich ausgelassen; sie gelten als nicht geprüft.',

  signedVerified: (serial) => `mit dem Schlüssel des Geräts ${serial} signiert und geprüft`,
  signedNotVerified: 'Signiert, aber NICHT VOLLSTÄNDIG GEPRÜFT',
  signedNotVerifiedText: 'Es wurde kein Fehler gefunden, folgende Prüfungen waren jedoch nicht möglich:',
  signedWrong: 'Signiert, aber die Prüfung ist FEHLGESCHLAGEN',
  notSignedWrong: 'NICHT SIGNIERT, und die Prüfung ist FEHLGESCHLAGEN',
  signedWrongText: 'Nehmen Sie dieses Protokoll nicht an, bevor dies geklärt ist:',
  notSigned: 'NICHT SIGNIERT',
  notSignedText: 'Das Protokoll trägt keine Signatur eines Geräts; Änderungen daran sind nicht erkennbar.',
  state: {
    verified: 'signiert und geprüft',
    'not-verified': 'nicht vollständig geprüft',
    wrong: 'Prüfung fehlgeschlagen',
    'not-signed': 'nicht signiert',
  },

  figures: {
    ok: 'in Ordnung',
    wrong: 'nicht erfüllt',
    skipped: 'übersprungen',
    notChecked: 'nicht geprüft',
    deviations: 'angenommene Abweichungen',
  },
  fact: {
    customer: 'Kunde',
    operator: 'Betreiber',
    robots: 'Roboter',
    software: 'Software des Fahrgestells',
    checklist: 'Checkliste',
    proof: 'Nachweis',
    technician: 'Techniker',
    time: 'Zeit',
    motion: 'Bewegung',
    program: 'Programm',
    record: 'Protokoll',
    signature: 'Signatur',
  },
  robot: (site, serial) => `${site}, Fahrgestell ${serial}`,
  robotVerdict: {
    ok: 'in Ordnung',
    accepted: 'angenommen mit Abweichungen',
    wrong: 'nicht angenommen',
    open: 'nicht vollständig',
  },
  softwareUnknown: 'Software des Fahrgestells nicht bekannt, kein Schritt hat sie gelesen',
  softwareUnknownShort: 'Software nicht bekannt',
  proof: (program, both, person) =>
    `in Ordnung: ${program} vom Prüfprogramm geprüft, ${both} zum Teil, ${person} nur Wort einer Person`,
  noTechnician: 'nicht genannt',
  times: (from, to) => `${from} bis ${to}`,
  resumed: (times) => (times === 1 ? 'einmal fortgesetzt' : `${times}-mal fortgesetzt`),
  took: (duration) => `insgesamt ${duration}`,
  motionYes: 'der Roboter durfte fahren',
  motionNo: 'der Roboter durfte nicht fahren',
  edition: (id, edition) => `${id}, Ausgabe ${edition}`,
  more: (count) => `und ${count} weitere, siehe folgende Seiten`,

  number: (number) => `Nr. ${number}`,
  redTitle: 'Sperrende Befunde',
  notMet: (title) => `Nicht erfüllt: ${title}`,
  marks:
    'Angaben über das Gerät tragen eine Marke: BELEGT (gemessen), HINWEIS (vom Hersteller angegeben), VORSICHT (angenommen), OFFEN (unbekannt).',
  redNone: 'Keine.',
  redNoneUnproven: 'Keine vermerkt.',
  acceptanceTitle: 'Abnahme',
  acceptanceOk: 'Beide Seiten nehmen dieses Protokoll zur Kenntnis.',
  acceptanceOpen: (count) =>
    count === 1
      ? 'Beide Seiten nehmen dieses Protokoll zur Kenntnis, einschließlich eines Eintrags, der nicht in Ordnung ist.'
      : `Beide Seiten nehmen dieses Protokoll zur Kenntnis, einschließlich der ${count} Einträge, die nicht in Ordnung sind.`,
  signFor: { operator: 'Für den Betreiber des Roboters', customer: 'Für den Kunden' },
  signForName: { operator: (name) => `Für den Betreiber, ${name}`, customer: (name) => `Für den Kunden, ${name}` },
  signLines: ['Name in Druckbuchstaben', 'Ort, Datum, Unterschrift'],

  notOkTitle: 'Was nicht in Ordnung ist',
  notOkNone: 'Jeder Schritt ist in Ordnung.',
  mark: {
    redLine: 'SPERRENDER BEFUND',
    wrong: 'NICHT ERFÜLLT',
    accepted: 'ANGENOMMENE ABWEICHUNG',
    'not-checked': 'NICHT GEPRÜFT',
    skipped: 'ÜBERSPRUNGEN',
    ok: 'in Ordnung',
  },
  leftOutMark: 'AUSGELASSEN',
  listHead: ['Nr.', 'Gefordert', 'Ergebnis'],
  listNote: 'Der technische Anhang nennt die Befunde zu jeder Nummer im Wortlaut.',
  answered: { yes: 'Bestätigt', no: 'Verneint', skip: 'Offen gelassen' },
  answerBy: (answer, by) => `${answer} von ${by}`,
  remark: (text) => `Bemerkung: ${text}`,
  photos: (names) => `Fotos: ${names}`,
  checkedByGw: 'Vom Prüfprogramm geprüft',
  checkedInPart: 'Vom Prüfprogramm geprüft, soweit es das kann; im Übrigen:',
  confirmedOnly: 'Wort einer Person, ungeprüft: bestätigt',
  measured: 'Gemessen',

  deviationsTitle: 'Abweichungen',
  deviationsText:
    'Diese Schritte sind nicht in Ordnung und bleiben es. Eine namentlich genannte Person hat jeden davon angenommen; wer das darf, bestimmen die Verantwortlichen am Einsatzort.',
  deviationsHead: ['Gefordert', 'Ergebnis', 'Begründung', 'Genehmigt von', 'Wann'],

  okTitle: 'Was in Ordnung ist',
  okHead: ['Gefordert und erfüllt', 'Nachweis'],
  markText: markTextDe,
  annexTitle: 'Technischer Anhang (Technical annex)',
  annexText: 'Was die Prüfungen ergeben haben, im Wortlaut des Prüfprogramms und deshalb auf Englisch.',
  titlesOfList: 'Einige Titel stehen so in der Checkliste, die sie nur in einer Sprache hat.',

  attachmentsTitle: 'Anlagen',
  attachmentsHead: ['Datei', 'Art', 'Byte', 'SHA-256'],

  signatureTitle: 'Signatur und Prüfung',
  signatureRows: { algorithm: 'Verfahren', serial: 'Gerät', fingerprint: 'Zertifikat, SHA-256' },
  redLineTitles: { 'tablet-open': 'Der Wartungszugang (ADB) des Tablets' },
  findingTitles: {
    file: 'Die Datei ist gültiges JSON',
    form: 'Die Datei hat die vorgeschriebene Form',
    content: 'Der Inhalt ist ein Abnahmeprotokoll',
    consistent: 'Die Zusammenfassungen stimmen mit den Schritten überein',
    signature: 'Das Protokoll ist signiert und seither unverändert',
    certificate: 'Das Zertifikat gehört zu einem Roboter des Protokolls',
    validity: 'Das Zertifikat war während des Laufs gültig',
    chain: 'Eine vertrauenswürdige Zertifizierungsstelle hat das Zertifikat ausgestellt',
    'expected-serial': 'Der erwartete Roboter hat signiert',
    attachments: 'Die Anlagen sind vollständig und unverändert',
  },
};
