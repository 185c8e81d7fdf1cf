import { type ChassisSnapshot, moveProgress } from '../../chassis/index.ts';
import type { MotionStatus } from '../../motion/index.ts';
import type { SupportView } from '../../tunnel/index.ts';
import type { GatewayHealth } from '../health.ts';
import { type CloudKey, type CloudNow, cloudTexts } from './cloud-text.ts';
import { alertText, positionDoubt, positioningWord } from './condition-text.ts';
import {
  evidenceText,
  folderText,
  gatewayText,
  isRunning,
  overallText,
  runText,
  serviceTexts,
} from './gateway-text.ts';
import { complaintsText, gateText, headingDoubt, headlineOf, stoppedState } from './headline.ts';
import { linkDetail, linkText, triedText } from './link-text.ts';
import { type LiveKey, liveTexts } from './live-texts.ts';
import { num, spanText, timeText } from './number-text.ts';
import { type SupportKey, supportTexts } from './support-text.ts';

/** The texts of the pages: the server renders them into the page, live events update them in place. */
export interface PageView {
  /** Flags for the style sheet and the script of the pages. */
  readonly flags: Readonly<Record<Flag, string>>;
  /** Texts by the key of their place on the page. */
  readonly texts: Readonly<Record<TextKey, string>>;
}

/**
 * `go` is 'yes' while a tour may start, `pass` while only alerts prevent it that a signed-in person may pass, `run` 'running' while gw drives the robot, `support` 'running' during a session of
 * remote support; `headline` is its level.
 */
type Flag = 'link' | 'stop' | 'run' | 'gate' | 'go' | 'pass' | 'support' | 'headline';

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
  | 'tour.alerts'
  | 'gate'
  | 'gate.reasons'
  | 'gateway'
  | 'overall'
  | 'folders'
  | 'evidence'
  | CloudKey
  | SupportKey
  | `${LiveKey}`
  | `${LiveKey}.age`
  | `${LiveKey}.mark`
  /** Why the value is not reliable; it is struck out while this is not empty. */
  | `${LiveKey}.doubt`
  /** By the name of the service. */
  | `service.${string}.${'status' | 'restarts' | 'detail'}`;

export function pageView(
  snapshot: ChassisSnapshot,
  motion: MotionStatus,
  health: GatewayHealth,
  cloud: CloudNow,
  support: SupportView,
): PageView {
  const { link, values, identity } = snapshot;
  const headline = headlineOf(snapshot, motion, health);
  // Another device may have the address by now.
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
      pass: isPassable(motion) ? 'yes' : 'no',
      support: support.status === 'running' ? 'running' : 'none',
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
      'tour.alerts': passableText(snapshot, motion),
      gate: gateText(snapshot, motion),
      'gate.reasons': motion.gate.reasons.join('\n'),
      gateway: gatewayText(health),
      ...serviceTexts(health),
      folders: `${folderText('Zustand', health.disk.state)}\n${folderText('Medien', health.disk.media)}`,
      evidence: evidenceText(health),
      ...cloudTexts(cloud),
      ...supportTexts(support, cloud),
      overall: overallText(headline, { health, cloud: cloud.view, support }),
      ...liveTexts('pose', values.pose, ({ xM, yM }) => `x ${num(xM, 2)} m, y ${num(yM, 2)} m`, poseDoubt, 'xM'),
      ...liveTexts(
        'heading',
        values.pose,
        ({ yawDeg }) => `${num(yawDeg, 1)}°`,
        headingDoubt(snapshot) ?? poseDoubt,
        'yawDeg',
      ),
      // A fact that this robot contradicts does not apply to it.
      ...(snapshot.unitContradicted && { 'heading.mark': 'widersprochen: BELEGT sind Grad, siehe Einheit' }),
      ...liveTexts(
        'battery',
        values.battery,
        ({ percent, orPercent, status }) =>
          `${num(percent, 0)} %${orPercent === undefined ? '' : ` oder ${num(orPercent, 1)} %`} (${batteryWord(status)})`,
        batteryDoubt(values.battery),
      ),
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
            remainingDistanceM === null || moveProgress(moveState) === 'ended'
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
        [name, version('Stand', mapVersion), version('Overlays', overlaysVersion)].filter(Boolean).join(', '),
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

function isPassable({ gate, tour, drive, trial }: MotionStatus): boolean {
  const isFree = tour?.state !== 'running' && drive?.state !== 'running' && trial === null;
  return isFree && (gate.passableAlerts ?? []).length > 0;
}

/** The alerts that a signed-in person may pass, with the texts of the robot. */
function passableText(
  { values: { alerts } }: ChassisSnapshot,
  { gate: { passableAlerts = [] } }: MotionStatus,
): string {
  if (alerts.status !== 'received') return '';
  return alerts.value
    .filter(({ code }) => passableAlerts.includes(code))
    .map(alertText)
    .join('; ');
}

function poseUnitText({ poseUnit, unitContradicted }: ChassisSnapshot): string {
  const { verdict, samples, reason, doubt } = poseUnit;
  if (!unitContradicted && verdict === 'not-decided' && doubt === null) {
    const why = samples === 0 ? 'keine Pose empfangen' : 'bisher keine Drehung, die nur in einer Einheit möglich ist';
    return `nicht entschieden (${samples} Werte): ${why}.`;
  }
  const words = { degrees: 'Grad, wie gemessen', radians: 'Bogenmaß: WIDERSPRUCH', 'not-decided': 'nicht entschieden' };
  // Proven radians hold until gw is restarted, whatever the samples of a later connection show.
  const word = unitContradicted ? words.radians : doubt === null ? words[verdict] : 'zweifelhaft';
  const latched = unitContradicted ? ' Fahren bleibt gesperrt, bis gw serve neu gestartet ist.' : '';
  return `${word} (${samples} Werte): ${doubt ?? reason}.${latched}`;
}

function stopText(snapshot: ChassisSnapshot, motion: MotionStatus): string {
  const { stop } = motion;
  if (!stop.latched) return 'Nicht angehalten';
  const unsaved = {
    true: '',
    false: ' (NICHT gespeichert: nach einem Neustart des Gateways wäre dieser Stopp vergessen)',
    pending: ' (wird noch gespeichert)',
  }[`${stop.saved}`];
  const word = stoppedState(snapshot, motion) === 'stopped' ? 'Angehalten' : 'Stopp gesetzt';
  return `${stop.reason === null ? word : `${word}: ${stop.reason}`}${unsaved}`;
}

function stopByText({ stop: { by, since, repeated } }: MotionStatus): string {
  if (by === null) return '';
  const again = repeated === null ? '' : `; noch ${repeated.count} × angefordert, zuletzt von ${repeated.last.by}`;
  return `von ${by}${since === null ? '' : `, ${timeText(since)}`}${again}`;
}

function batteryDoubt(battery: ChassisSnapshot['values']['battery']): string | null {
  return battery.status === 'received' && battery.value.orPercent !== undefined
    ? 'nicht entschieden, ob der Roboter bis 1 oder bis 100 zählt'
    : null;
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

/** An unknown word is shown as the chassis reported it. */
function moveWord(moveState: string): string {
  return Object.hasOwn(moveWords, moveState) ? (moveWords[moveState] ?? moveState) : moveState;
}
