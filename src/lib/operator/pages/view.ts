import type { ChassisSnapshot, LinkState, LiveValue } from '../../chassis/index.ts';
import { markTextDe } from '../../evidence/index.ts';
import type { MotionStatus } from '../../motion/index.ts';

/** What the pages show, put into words once: the server writes it into the page, live events renew it in place. */
export interface PageView {
  /** Short words that the style sheet goes by. */
  readonly flags: Readonly<Record<Flag, string>>;
  /** Text by the key of its place on the page. */
  readonly texts: Readonly<Record<TextKey, string>>;
}

export type Flag = 'link' | 'stop' | 'tour' | 'gate';

const liveKeys = ['pose', 'battery', 'positioning', 'wheels', 'planning', 'alerts', 'map'] as const;
export type LiveKey = (typeof liveKeys)[number];

export type TextKey =
  | 'link'
  | 'link.tried'
  | 'link.detail'
  | 'link.for'
  | 'serial'
  | 'model'
  | 'software'
  | 'pose-unit'
  | 'complaints'
  | 'stop'
  | 'stop.by'
  | 'tour'
  | 'gate'
  | `${LiveKey}`
  | `${LiveKey}.age`
  | `${LiveKey}.mark`;

export function pageView(snapshot: ChassisSnapshot, motion: MotionStatus): PageView {
  const { link, values, identity } = snapshot;
  return {
    flags: {
      link: link.kind,
      stop: motion.stop.latched ? 'latched' : 'free',
      tour: motion.tour?.state === 'running' ? 'running' : 'none',
      gate: motion.gate.open ? 'open' : 'closed',
    },
    texts: {
      link: linkText(link),
      'link.tried': triedText(link),
      'link.detail': linkDetail(link),
      'link.for': `seit ${spanText(snapshot.linkForMs)}`,
      serial: identity?.serial ?? 'noch nicht gelesen',
      model: identity?.model ?? 'nicht angegeben',
      software: identity?.software ?? 'nicht angegeben',
      'pose-unit': poseUnitText(snapshot),
      complaints:
        snapshot.complaints
          .map(({ what, count, ageMs }) => `${what} (${count} ×, vor ${spanText(ageMs)})`)
          .join('\n') || 'keine',
      stop: stopText(motion),
      'stop.by': motion.stop.by === null ? '' : `${motion.stop.by}, ${motion.stop.since ?? ''}`,
      tour: tourText(motion),
      gate: motion.gate.open ? 'Fahrbefehle sind möglich.' : motion.gate.reasons.join('\n') || 'Geschlossen.',
      ...liveTexts(
        'pose',
        values.pose,
        ({ xM, yM, yawDeg }) => `x ${num(xM, 2)} m, y ${num(yM, 2)} m, ${num(yawDeg, 1)}°`,
      ),
      ...liveTexts('battery', values.battery, ({ percent, status }) => `${num(percent, 0)} % (${batteryWord(status)})`),
      ...liveTexts('positioning', values.positioning, ({ state, reliable }) =>
        reliable ? `sicher (${state})` : `unsicher (${state})`,
      ),
      ...liveTexts('wheels', values.wheels, ({ controlMode, emergencyStopPressed }) =>
        emergencyStopPressed ? `Not-Halt gedrückt (${controlMode})` : controlMode,
      ),
      ...liveTexts(
        'planning',
        values.planning,
        ({ moveState, actionType, failReason, failReasonText, remainingDistanceM }) =>
          [
            `${actionType}: ${moveState}`,
            remainingDistanceM === null ? '' : `noch ${num(remainingDistanceM, 2)} m`,
            failReason === 0 ? '' : `fail_reason ${failReason} ${failReasonText}`,
          ]
            .filter(Boolean)
            .join(', '),
      ),
      ...liveTexts('alerts', values.alerts, (alerts) =>
        alerts.length === 0
          ? 'keine'
          : alerts.map(({ code, level, message }) => `${code} ${level} ${message}`).join('\n'),
      ),
      ...liveTexts('map', values.map, ({ name, mapVersion, overlaysVersion }) =>
        [name, version('Stand', mapVersion), version('Zeichnungen', overlaysVersion)].filter(Boolean).join(', '),
      ),
    },
  };
}

function linkText(link: LinkState): string {
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

function triedText({ tried }: LinkState): string {
  const host = tried.address.includes(':') ? `[${tried.address}]` : tried.address;
  return tried.port === undefined ? host : `${host}:${tried.port}`;
}

const failureTexts: Readonly<Record<(LinkState & { kind: 'not-connected' })['failure'], string>> = {
  refused: 'Die Adresse antwortet, aber an diesem Anschluss hört niemand zu.',
  'no-route': 'Zu dieser Adresse führt kein Weg.',
  'no-answer': 'Unter dieser Adresse antwortet niemand.',
  'unknown-name': 'Der Name ist im Netz nicht bekannt.',
  cut: 'Die Verbindung wurde getrennt.',
  other: 'Die Verbindung war nicht möglich.',
  'bad-answer': 'Es antwortet etwas, aber nicht wie ein Fahrgestell.',
  'wrong-device': 'Es antwortet ein anderer Roboter.',
  silent: 'Die Verbindung steht, aber es kommt nichts mehr an.',
};

function linkDetail(link: LinkState): string {
  switch (link.kind) {
    case 'not-connected': {
      const found = link.foundSerial === undefined ? '' : ` Gefunden: Seriennummer ${link.foundSerial}.`;
      return `${failureTexts[link.failure]}${found} (${link.detail})`;
    }
    case 'booting':
      return link.step ?? '';
    default:
      return '';
  }
}

function poseUnitText({ poseUnit, unitContradicted }: ChassisSnapshot): string {
  const verdict = {
    degrees: 'Grad, wie gemessen',
    radians: 'Bogenmaß: WIDERSPRUCH',
    'not-decided': 'nicht entschieden',
  };
  const latched = unitContradicted ? ' Fahren bleibt gesperrt, bis gw serve neu gestartet ist.' : '';
  return `${verdict[poseUnit.verdict]} (${poseUnit.samples} Werte; ${poseUnit.reason}).${latched}`;
}

function stopText({ stop }: MotionStatus): string {
  if (!stop.latched) return 'Nicht angehalten';
  return stop.reason === null ? 'Angehalten' : `Angehalten: ${stop.reason}`;
}

function tourText({ tour }: MotionStatus): string {
  if (tour === null) return 'Keine Tour';
  const at = `${tour.at + 1} von ${tour.stations.length} (${tour.stations[tour.at] ?? ''})`;
  switch (tour.state) {
    case 'running':
      return `Tour ${tour.tour} fährt zu Station ${at}`;
    case 'succeeded':
      return `Tour ${tour.tour} ist beendet`;
    case 'failed':
      return `Tour ${tour.tour} ist bei Station ${at} gescheitert: ${tour.reason ?? 'Grund nicht bekannt'}`;
    case 'stopped':
      return `Tour ${tour.tour} wurde bei Station ${at} angehalten`;
  }
}

function liveTexts<K extends LiveKey, T>(key: K, value: LiveValue<T>, write: (value: T) => string) {
  const [text, age, mark] =
    value.status === 'not-heard'
      ? ['noch nichts gehört', '', '']
      : [
          write(value.value),
          `vor ${spanText(value.ageMs)}${value.stale ? ' – veraltet' : ''}`,
          `${markTextDe(value)}: ${value.source}`,
        ];
  return { [key]: text, [`${key}.age`]: age, [`${key}.mark`]: mark } as Record<K | `${K}.age` | `${K}.mark`, string>;
}

function batteryWord(status: string): string {
  const words: Readonly<Record<string, string>> = { charging: 'lädt', discharging: 'entlädt', full: 'voll' };
  return Object.hasOwn(words, status) ? (words[status] ?? status) : status;
}

function version(what: string, number: number | null): string {
  return number === null ? '' : `${what} ${number}`;
}

/** German decimals. */
function num(value: number, digits: number): string {
  return value.toFixed(digits).replace('.', ',');
}

/** `0,4 s`, `45 s`, `12 min`, `5 h`; number and unit stay on one line. */
export function spanText(ms: number): string {
  const s = Math.max(0, ms) / 1000;
  if (s < 10) return `${num(s, 1)}\u00a0s`;
  if (s < 120) return `${Math.floor(s)}\u00a0s`;
  if (s < 120 * 60) return `${Math.floor(s / 60)}\u00a0min`;
  return `${Math.floor(s / 3600)}\u00a0h`;
}
