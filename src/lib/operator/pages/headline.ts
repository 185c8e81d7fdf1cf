import { type ChassisSnapshot, moveProgress, type Obstacle, obstaclesIn } from '../../chassis/index.ts';
import type { MotionStatus } from '../../motion/index.ts';
import type { GatewayHealth } from '../health.ts';
import { conditionGaps, conditionProblems } from './condition-text.ts';
import { linkDetail, linkText } from './link-text.ts';
import { spanText } from './number-text.ts';

/** The headline of the pages: green only when nothing prevents a drive and every value was reported. */
export interface Headline {
  readonly level: 'good' | 'attention' | 'bad';
  readonly text: string;
  /** The reasons why it is not green, one sentence each. */
  readonly reasons: readonly string[];
}

/** How long a malformed message keeps the headline from being green. Project decision. */
const COMPLAINT_COUNTS_MS = 300_000;

export function headlineOf(snapshot: ChassisSnapshot, motion: MotionStatus, health: GatewayHealth): Headline {
  const { link } = snapshot;
  const { latched } = motion.stop;
  if (link.kind !== 'connected') {
    return { level: 'bad', text: linkText(link), reasons: latched ? [`Der Stopp ist gesetzt. ${NOT_KNOWN}`] : [] };
  }
  const others = [...unownedMove(motion), ...obstacles(snapshot), ...hints(snapshot, health)];
  if (latched) return stoppedHeadline(stoppedState(snapshot, motion), [...droveOn(motion), ...others]);
  const reasons = [...disobedience(motion), ...others];
  if (!motion.gate.open) {
    // The reasons of the closed gate come first, before unrelated hints.
    const why = gateText(snapshot, motion).split('\n');
    return { level: 'bad', text: 'Verbunden – Fahrt gesperrt', reasons: [...why, ...hints(snapshot, health)] };
  }
  if (reasons.length > 0) return { level: 'attention', text: 'Verbunden – mit Einschränkungen', reasons };
  return { level: 'good', text: 'Verbunden – fahrbereit', reasons };
}

const NOT_KNOWN = 'Ob der Roboter steht, ist nicht bekannt: im Zweifel den Not-Halt am Roboter drücken.';

const PRESS = 'Den Not-Halt am Roboter drücken.';

/**
 * A latched stop does not prove standstill: the robot has stopped where its poses show it, and the chassis reports the end
 * of its move.
 */
export function stoppedState(
  snapshot: ChassisSnapshot,
  { standstill }: Pick<MotionStatus, 'standstill'>,
): 'stopped' | 'drives-on' | 'moves' | 'not-known' {
  if (standstill.verdict !== 'stands') return standstill.verdict;
  return moveProgressOf(snapshot) === 'ended' ? 'stopped' : 'not-known';
}

function stoppedHeadline(state: ReturnType<typeof stoppedState>, reasons: readonly string[]): Headline {
  switch (state) {
    case 'stopped':
      return { level: 'bad', text: 'Verbunden – angehalten', reasons };
    case 'drives-on': {
      const press = `Der Roboter hält trotz Abbruch nicht an. ${PRESS}`;
      return { level: 'bad', text: 'Stopp gesetzt – ROBOTER HÄLT NICHT AN', reasons: [press, ...reasons] };
    }
    case 'moves': {
      const press = `Der Roboter bewegt sich noch. Hält er nicht an: ${PRESS.charAt(0).toLowerCase()}${PRESS.slice(1)}`;
      return { level: 'bad', text: 'Stopp gesetzt – Roboter bewegt sich noch', reasons: [press, ...reasons] };
    }
    case 'not-known':
      return { level: 'bad', text: 'Stopp gesetzt – Stillstand nicht bekannt', reasons: [NOT_KNOWN, ...reasons] };
  }
}

/** The state of the move, as the chassis reported it over the current connection. */
function moveProgressOf({ link, values: { planning } }: ChassisSnapshot): ReturnType<typeof moveProgress> {
  const isCurrent = link.kind === 'connected' && planning.status === 'received' && !planning.stale;
  return moveProgress(isCurrent ? planning.value.moveState : null);
}

/** Why orders are refused, for people at the robot; reasons without a German sentence keep the text of the gate. */
export function gateText(snapshot: ChassisSnapshot, motion: MotionStatus): string {
  const { gate, stop, keepingTrouble } = motion;
  if (gate.open) return 'Fahrbefehle sind möglich.';
  const { link } = snapshot;
  const known = [
    ...(stop.latched ? ['Der Stopp ist gesetzt.'] : []),
    ...droveOn(motion),
    ...(keepingTrouble === null
      ? []
      : [
          'Ein Stopp kann zurzeit nicht gespeichert werden. Bis das Gateway wieder speichern kann, bleibt die Fahrt gesperrt.',
        ]),
    ...(motion.poseAlarm == null
      ? []
      : [
          'Die Position des Roboters ist falsch oder nicht bekannt. Bis sie gesetzt ist (gw motion pose), bleibt die Fahrt gesperrt.',
        ]),
    ...unownedMove(motion),
    ...(stop.latched ? [] : movement(motion)),
    ...(link.kind === 'connected' ? obstacles(snapshot) : [`${linkText(link)}. ${linkDetail(link)}`.trim()]),
  ];
  if (known.length === 0) return gate.reasons.join('\n') || 'Die Fahrt ist gesperrt.';
  return known.join('\n');
}

/** All faults in the data of the robot, for the technician; unchecked items are listed and never count as 'none'. */
export function complaintsText(snapshot: ChassisSnapshot): string {
  const { link, complaints } = snapshot;
  const lines = [
    ...unitProblems(snapshot),
    ...conditionProblems(snapshot),
    ...complaints.map(({ what, count, ageMs }) => `${what} (${count} ×, vor ${spanText(ageMs)})`),
  ];
  const gaps = link.kind === 'connected' ? conditionGaps(snapshot) : 'Nicht geprüft: keine Verbindung zum Roboter.';
  return [...lines, ...(gaps === null ? [] : [gaps])].join('\n') || 'keine';
}

function unownedMove({ unownedMove: move }: MotionStatus): string[] {
  if (move === null) return [];
  const then = move.isBeingCancelled ? ' Er wird abgebrochen.' : ' Bis zu seinem Ende sind andere Fahrten gesperrt.';
  return [
    `Der Roboter fährt nach einem Auftrag (Nr. ${move.moveId}), den dieses Gateway nicht erteilt hat oder nicht mehr verfolgt.${then}`,
  ];
}

/** What remains to be said of it when it stands. */
function droveOn({ stop, standstill }: MotionStatus): string[] {
  if (stop.disobeyed === undefined || standstill.verdict === 'drives-on') return [];
  return ['Der Roboter ist nach dem Stopp weitergefahren. Vor der nächsten Fahrt muss ein Techniker den Stopp prüfen.'];
}

/** A robot that does not obey a cancel is said first of all, also beside a latched stop. */
function disobedience({ standstill }: MotionStatus): string[] {
  return standstill.verdict === 'drives-on' ? [`Der Roboter hält trotz Abbruch nicht an. ${PRESS}`] : [];
}

/** Why a robot that moves, or has not been seen to stand since a cancel, takes no order. */
function movement(motion: MotionStatus): string[] {
  const { verdict, isOwed } = motion.standstill;
  if (verdict === 'moves') return ['Der Roboter bewegt sich. Erst wenn er steht, nimmt er eine Fahrt an.'];
  if (verdict === 'not-known' && isOwed) return ['Ob der Roboter seit dem letzten Abbruch steht, wird noch geprüft.'];
  return disobedience(motion);
}

function obstacles(snapshot: ChassisSnapshot): string[] {
  const { pose } = snapshot.values;
  const noPose = pose.status === 'not-received' || pose.stale;
  return [
    ...unitProblems(snapshot),
    ...conditionProblems(snapshot),
    ...obstaclesIn(snapshot.values).flatMap((obstacle) =>
      obstacle.kind === 'unreadable' ? [unreadableText(obstacle.topic)] : [],
    ),
    ...(noPose ? ['Die Position ist nicht bekannt: Der Roboter meldet keine aktuelle.'] : []),
  ];
}

function unreadableText(topic: Extract<Obstacle, { kind: 'unreadable' }>['topic']): string {
  const subjects = {
    '/wheel_state': 'Not-Halt und Betriebsart',
    '/slam/state': 'Ortung',
    '/alerts': 'Störungen',
    '/planning_state': 'Fahrt',
  } as const;
  return `Der Roboter meldet etwas Unlesbares zu ${subjects[topic]}: gesperrt, bis eine lesbare Meldung eintrifft.`;
}

function hints(snapshot: ChassisSnapshot, health: GatewayHealth): string[] {
  const { complaints } = snapshot;
  const recent = complaints.filter(({ ageMs }) => ageMs < COMPLAINT_COUNTS_MS).length;
  const gaps = conditionGaps(snapshot);
  return [
    ...(gaps === null ? [] : [gaps]),
    ...(recent === 0 ? [] : [`Beanstandungen an den Meldungen des Roboters: ${recent}, siehe Seite „Technik“.`]),
    ...gatewayHints(health),
  ];
}

function gatewayHints({ status, services, disk, evidence, cloud, support }: GatewayHealth): string[] {
  const hints: string[] = [];
  if (evidence.status === 'revoked') hints.push('Nachweise wurden zurückgenommen');
  if (evidence.status === 'unreadable') hints.push('Die Datei mit den Nachweisen ist nicht lesbar');
  if (services.some((service) => service.status !== 'running')) hints.push('Ein Dienst des Gateways läuft nicht');
  if (Object.values(disk).some((folder) => folder.status !== 'ok')) {
    hints.push('Dem Gateway fehlt Speicherplatz, oder ein Ordner ist nicht verwendbar');
  }
  if (support.records === 'failing') hints.push('Die Fernwartung kann nicht aufgezeichnet werden');
  // Below the minute that degrades the gateway, a lost link is no news for the people at the robot.
  if (status !== 'ok' && cloud.status === 'not-connected') hints.push('Keine Verbindung zur Cloud');
  if (status !== 'ok' && hints.length === 0) hints.push('Das Gateway ist beeinträchtigt');
  return hints.map((hint) => `${hint}, siehe Seite „Technik“.`);
}

/** @source specification, 'Angles (critical rule)': degrees; a device with other values contradicts it */
function unitProblems({ unitContradicted, poseUnit }: ChassisSnapshot): string[] {
  if (unitContradicted || poseUnit.verdict === 'radians') {
    return [
      'Der Roboter meldet seine Ausrichtung im Bogenmaß statt in Grad. Fahren bleibt gesperrt, bis gw serve neu gestartet ist.',
    ];
  }
  if (poseUnit.doubt === null) return [];
  return poseUnit.misfit === true
    ? ['Die gemeldete Ausrichtung passt nicht zur Fahrt: Einheit, Drehsinn oder Nullrichtung sind zweifelhaft.']
    : ['Es ist zweifelhaft, ob der Roboter seine Ausrichtung in Grad meldet.'];
}

/** Why the heading is not reliable; null when its unit is not in doubt. */
export function headingDoubt({ unitContradicted, poseUnit }: ChassisSnapshot): string | null {
  if (unitContradicted || poseUnit.verdict === 'radians') return 'ungültig, Bogenmaß statt Grad';
  if (poseUnit.doubt === null) return null;
  return poseUnit.misfit === true ? 'zweifelhaft, passt nicht zur Fahrt' : 'zweifelhaft, Winkeleinheit unsicher';
}
