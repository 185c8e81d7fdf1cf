import { type ChassisSnapshot, type LiveValue, moveStanding, type StaleReason } from '../../chassis/index.ts';
import { markTextDe } from '../../evidence/index.ts';
import type { ServiceHealth } from '../../lifecycle/index.ts';
import type { DriveRun, MotionStatus, TrialKind } from '../../motion/index.ts';
import type { FolderHealth, GatewayHealth } from '../model.ts';
import { alertText, positionDoubt, positioningWord } from './condition-text.ts';
import { complaintsText, gateText, headingDoubt, headlineOf, standing } from './headline.ts';
import { linkDetail, linkText, triedText } from './link-text.ts';
import { num, spanText } from './number-text.ts';

/** What the pages show, put into words once: the server writes it into the page, live events renew it in place. */
export interface PageView {
  /** Short words that the style sheet and the script of the pages go by. */
  readonly flags: Readonly<Record<Flag, string>>;
  /** Text by the key of its place on the page. */
  readonly texts: Readonly<Record<TextKey, string>>;
}

/** `go` is 'yes' while a tour may start, `run` 'running' while gw drives the robot; `headline` is its level. */
type Flag = 'link' | 'stop' | 'run' | 'gate' | 'go' | 'headline';

export type LiveKey = 'pose' | 'heading' | 'battery' | 'positioning' | 'wheels' | 'planning' | 'alerts' | 'map';

export type TextKey =
  | 'headline'
  | 'headline.why'
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
  | 'tour.why'
  | 'gate'
  | 'gate.reasons'
  | 'gateway'
  | 'overall'
  | 'folders'
  | 'evidence'
  | `${LiveKey}`
  | `${LiveKey}.age`
  | `${LiveKey}.mark`
  /** Why the value must not be believed; it is struck out while this is not empty. */
  | `${LiveKey}.doubt`
  /** By the name of the service. */
  | `service.${string}.${'status' | 'restarts' | 'detail'}`;

export function pageView(snapshot: ChassisSnapshot, motion: MotionStatus, health: GatewayHealth): PageView {
  const { link, values, identity } = snapshot;
  const headline = headlineOf(snapshot, motion, health);
  // Another device may stand at the address by now.
  const remembered = (text: string) => (link.kind === 'connected' ? text : `${text} (letzter Stand)`);
  const why = tourObstacle(snapshot, motion);
  const poseDoubt = positionDoubt(snapshot);
  return {
    flags: {
      link: link.kind,
      stop: motion.stop.latched ? 'latched' : 'free',
      run: isRunning(motion) ? 'running' : 'none',
      gate: motion.gate.open ? 'open' : 'closed',
      go: why === '' ? 'yes' : 'no',
      headline: headline.level,
    },
    texts: {
      headline: headline.text,
      'headline.why': headline.reasons.join('\n'),
      link: linkText(link),
      'link.tried': triedText(link),
      'link.detail': linkDetail(link),
      'link.for': `${link.kind === 'connected' ? 'verbunden ' : ''}seit ${spanText(snapshot.linkForMs)}`,
      serial: identity === null ? 'noch nicht gelesen' : remembered(identity.serial),
      model: identity === null ? 'noch nicht gelesen' : remembered(identity.model ?? 'nicht angegeben'),
      software: identity === null ? 'noch nicht gelesen' : remembered(identity.software ?? 'nicht angegeben'),
      'pose-unit': remembered(poseUnitText(snapshot)),
      complaints: complaintsText(snapshot),
      stop: stopText(snapshot, motion),
      'stop.by': stopByText(motion),
      tour: runText(motion),
      'tour.why': why,
      gate: gateText(snapshot, motion),
      'gate.reasons': motion.gate.reasons.join('\n'),
      gateway: gatewayText(health),
      ...serviceTexts(health),
      folders: `${folderText('Zustand', health.disk.state)}\n${folderText('Medien', health.disk.media)}`,
      evidence: evidenceText(health),
      overall: headline.level === 'good' ? 'in Ordnung' : `beeinträchtigt: ${headline.text}`,
      ...liveTexts('pose', values.pose, ({ xM, yM }) => `x ${num(xM, 2)} m, y ${num(yM, 2)} m`, poseDoubt, 'xM'),
      ...liveTexts(
        'heading',
        values.pose,
        ({ yawDeg }) => `${num(yawDeg, 1)}°`,
        headingDoubt(snapshot) ?? poseDoubt,
        'yawDeg',
      ),
      // A fact that this very robot contradicts does not stand for it.
      ...(snapshot.unitContradicted && { 'heading.mark': 'widersprochen: BELEGT sind Grad, siehe Einheit' }),
      ...liveTexts('battery', values.battery, ({ percent, status }) => `${num(percent, 0)} % (${batteryWord(status)})`),
      ...liveTexts('positioning', values.positioning, ({ state }) => `${positioningWord(snapshot)} (${state})`),
      ...liveTexts('wheels', values.wheels, ({ controlMode, emergencyStopPressed, wheelsReleased }) =>
        [
          emergencyStopPressed ? 'Not-Halt gedrückt' : 'Not-Halt nicht gedrückt',
          `Betriebsart ${controlMode}`,
          wheelsReleased === true ? 'Räder entriegelt' : '',
        ]
          .filter(Boolean)
          .join(', '),
      ),
      ...liveTexts(
        'planning',
        values.planning,
        ({ moveState, actionType, failReason, failReasonText, remainingDistanceM }) =>
          [
            actionType === moveState ? moveWord(moveState) : `${actionType}: ${moveWord(moveState)}`,
            remainingDistanceM === null || moveStanding(moveState) === 'ended'
              ? ''
              : `noch ${num(remainingDistanceM, 2)} m`,
            failReason === 0 ? '' : `fail_reason ${failReason} ${failReasonText}`,
          ]
            .filter(Boolean)
            .join(', '),
      ),
      ...liveTexts('alerts', values.alerts, (alerts) =>
        alerts.length === 0 ? 'keine' : alerts.map(alertText).join('\n'),
      ),
      ...liveTexts('map', values.map, ({ name, mapVersion, overlaysVersion }) =>
        [name, version('Stand', mapVersion), version('Zeichnungen', overlaysVersion)].filter(Boolean).join(', '),
      ),
    },
  };
}

/** Why no tour may start now; empty when one may. */
function tourObstacle(snapshot: ChassisSnapshot, motion: MotionStatus): string {
  if (motion.tour?.state === 'running') return 'Es fährt schon eine Tour.';
  if (motion.drive?.state === 'running') return 'Es läuft schon eine Fahrt.';
  if (motion.trial !== null) return 'Es läuft ein begleiteter Versuch.';
  if (motion.gate.open && !motion.stop.latched && snapshot.link.kind === 'connected') return '';
  const { gate } = motion;
  const text = gateText(snapshot, { ...motion, gate: { ...gate, open: false } });
  const more = gate.reasons.length > text.split('\n').length;
  return more ? `${text}\nWeitere Gründe stehen auf der Seite „Technik“.` : text;
}

const serviceWords: Readonly<Record<ServiceHealth['status'], string>> = {
  waiting: 'wartet',
  starting: 'startet',
  running: 'läuft',
  restarting: 'wird neu gestartet',
  stopping: 'wird beendet',
  stopped: 'beendet',
};

function serviceTexts({
  services,
}: GatewayHealth): Record<`service.${string}.${'status' | 'restarts' | 'detail'}`, string> {
  return Object.fromEntries(
    services.flatMap(({ name, status, restarts, detail, lastError, remedy }) => [
      [`service.${name}.status`, serviceWords[status]],
      [`service.${name}.restarts`, `${restarts}`],
      [`service.${name}.detail`, [detail, lastError && `zuletzt: ${lastError}`, remedy].filter(Boolean).join('; ')],
    ]),
  );
}

function gatewayText({ version: of, upForMs, services }: GatewayHealth): string {
  const down = services.filter(({ status }) => status !== 'running').map(({ name, status }) => `${name} (${status})`);
  const state = down.length === 0 ? 'alle Dienste laufen' : `es laufen nicht: ${down.join(', ')}`;
  return `Version ${of}, läuft seit ${spanText(upForMs)}, ${state}`;
}

function poseUnitText({ poseUnit, unitContradicted }: ChassisSnapshot): string {
  const { verdict, samples, reason, doubt } = poseUnit;
  const words = { degrees: 'Grad, wie gemessen', radians: 'Bogenmaß: WIDERSPRUCH', 'not-decided': 'nicht entschieden' };
  // Proven radians count until gw is started anew, whatever the samples of a later connection say.
  const word = unitContradicted ? words.radians : doubt === null ? words[verdict] : 'zweifelhaft';
  const latched = unitContradicted ? ' Fahren bleibt gesperrt, bis gw serve neu gestartet ist.' : '';
  return `${word} (${samples} Werte; ${doubt ?? reason}).${latched}`;
}

function stopText(snapshot: ChassisSnapshot, { stop }: MotionStatus): string {
  if (!stop.latched) return 'Nicht angehalten';
  const unsaved = {
    true: '',
    false: ' (NICHT gespeichert: nach einem Neustart des Gateways wäre dieser Stopp vergessen)',
    pending: ' (wird noch gespeichert)',
  }[`${stop.saved}`];
  const word = standing(snapshot) === 'ended' ? 'Angehalten' : 'Stopp gesetzt';
  return `${stop.reason === null ? word : `${word}: ${stop.reason}`}${unsaved}`;
}

function stopByText({ stop: { by, since, repeated } }: MotionStatus): string {
  if (by === null) return '';
  const again = repeated === null ? '' : `; noch ${repeated.count} × verlangt, zuletzt von ${repeated.last.by}`;
  return `von ${by}${since === null ? '' : `, ${timeText(since)}`}${again}`;
}

/** `22.11.2026, 08:19:36 UTC` of a UTC time in ISO form; what is none stays as it is. */
function timeText(iso: string): string {
  const found = /^(\d{4})-(\d{2})-(\d{2})T(\d{2}:\d{2}:\d{2})/.exec(iso);
  return found === null ? iso : `${found[3]}.${found[2]}.${found[1]}, ${found[4]} UTC`;
}

function isRunning({ tour, drive, trial }: MotionStatus): boolean {
  return tour?.state === 'running' || drive?.state === 'running' || trial !== null;
}

const trialWords: Readonly<Record<TrialKind, string>> = {
  stop: 'Anhalten',
  move: 'Fahrt',
  pose: 'Position setzen',
  dock: 'Andocken',
};

/** The trial while there is one; otherwise the tour, and the single drive where there was one. */
function runText(motion: MotionStatus): string {
  if (motion.trial !== null) return `Begleiteter Versuch läuft (${trialWords[motion.trial.kind]})`;
  return motion.drive === null ? tourText(motion) : `${tourText(motion)}. ${driveText(motion.drive)}`;
}

function driveText({ state, station, reason }: DriveRun): string {
  const to = station === null ? 'zum Dock' : `zu Station ${station}`;
  switch (state) {
    case 'running':
      return `Fahrt ${to} läuft`;
    case 'succeeded':
      return `Fahrt ${to} ist beendet`;
    case 'failed':
      return `Fahrt ${to} ist gescheitert: ${reason ?? 'Grund nicht bekannt'}`;
    case 'stopped':
      return `Fahrt ${to} wurde abgebrochen`;
  }
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

const staleTexts: Readonly<Record<StaleReason, string>> = {
  'no-connection': 'veraltet, keine Verbindung zum Roboter',
  'not-received-since-reconnect': 'veraltet, seit der neuen Verbindung nicht empfangen',
  'too-old': 'veraltet',
  'newer-rejected': 'veraltet, die neueste Meldung ist fehlerhaft',
};

/** One value with its age, its mark and why it must not be believed; what is stale needs no further reason. */
function liveTexts<K extends LiveKey, T>(
  key: K,
  value: LiveValue<T>,
  write: (value: T) => string,
  doubt: string | null = null,
  part?: string,
): Record<K | `${K}.age` | `${K}.mark` | `${K}.doubt`, string> {
  const texts = (text: string, age: string, mark: string, why: string) =>
    ({ [key]: text, [`${key}.age`]: age, [`${key}.mark`]: mark, [`${key}.doubt`]: why }) as Record<
      K | `${K}.age` | `${K}.mark` | `${K}.doubt`,
      string
    >;
  if (value.status === 'not-heard') {
    return texts(value.rejected === undefined ? 'noch nicht empfangen' : 'nicht lesbar', '', '', '');
  }
  const standing = (part === undefined ? undefined : value.parts?.[part]) ?? value;
  const stale = value.stale ? staleTexts[value.staleReason ?? 'too-old'] : null;
  const why = [doubt, stale].filter((reason) => reason !== null).join('; ');
  const marked = `${markTextDe(standing)}: ${standing.source}`;
  return texts(write(value.value), `vor ${spanText(value.ageMs)}`, marked, why === '' ? '' : `${why}:`);
}

function batteryWord(status: string): string {
  const words: Readonly<Record<string, string>> = { charging: 'lädt', discharging: 'entlädt', full: 'voll' };
  return Object.hasOwn(words, status) ? (words[status] ?? status) : status;
}

function version(what: string, number: number | null): string {
  return number === null ? '' : `${what} ${number}`;
}

const moveWords: Readonly<Record<string, string>> = {
  none: 'keiner',
  idle: 'keiner',
  moving: 'fährt',
  succeeded: 'am Ziel',
  failed: 'gescheitert',
  cancelled: 'abgebrochen',
};

/** A word that nobody has described stays as the chassis gave it. */
function moveWord(moveState: string): string {
  return Object.hasOwn(moveWords, moveState) ? (moveWords[moveState] ?? moveState) : moveState;
}

const folderWords: Readonly<Record<FolderHealth['status'], string>> = {
  ok: 'in Ordnung',
  low: 'ZU WENIG PLATZ',
  unusable: 'NICHT BENUTZBAR',
  'not-checked': 'nicht geprüft',
};

function folderText(name: string, { path, status, freeBytes, detail, remedy }: FolderHealth): string {
  const room = freeBytes === null ? 'freier Platz nicht bekannt' : `${Math.floor(freeBytes / 1_000_000)} MB frei`;
  const why = status === 'ok' ? '' : `: ${detail} ${remedy ?? ''}`.trimEnd();
  return `${name} ${path}, ${folderWords[status]}, ${room}${why}`;
}

const evidenceWords: Readonly<Record<GatewayHealth['evidence']['status'], string>> = {
  'as-read': 'wie beim Start gelesen',
  'taken-back': 'ZURÜCKGENOMMEN seit dem Start',
  unreadable: 'NICHT LESBAR',
};

function evidenceText({ evidence: { status, detail } }: GatewayHealth): string {
  return `${evidenceWords[status]} (${detail})`;
}
