import { type ChassisSnapshot, moveProgress, obstaclesIn } from '../../chassis/index.ts';
import type { MotionStatus } from '../../motion/index.ts';
import type { FailedRun, Note, PageState, Run } from '../../pages/index.ts';
import type { FolderHealth, GatewayHealth } from '../health.ts';
import { conditionGaps, conditionProblems } from './conditions.ts';

export type Headline = PageState['headline'];

/** How long a malformed message keeps the headline from being green. Project decision. */
const COMPLAINT_COUNTS_MS = 300_000;
/** The same for an answer that did not come in time: by then fifteen questions were answered. Project decision. */
const LATE_COUNTS_MS = 30_000;
/** A robot that starts, or a link that is begun, for longer than this needs a technician. Project decision. */
const STARTS_WITHIN_MS = 300_000;
/** By then a robot whose run has ended stands, and its poses show it; later its movement has no cause. Project decision. */
const RESTS_WITHIN_MS = 15_000;

/**
 * The headline of the pages: green only when nothing prevents a drive, every value was reported, and a person has seen how
 * every run failed that did. While gw drives the robot, that it drives is said first.
 */
export function headlineOf(
  snapshot: ChassisSnapshot,
  motion: MotionStatus,
  health: GatewayHealth,
  run: Run | null,
  failed: FailedRun | null,
): Headline {
  const { link } = snapshot;
  const { latched } = motion.stop;
  if (link.kind !== 'connected') {
    const notes: Note[] = latched ? [{ code: 'stop-latched' }, { code: 'standing-not-known' }] : [awayNote(snapshot)];
    return { level: 'bad', code: link.kind, notes };
  }
  const others = [...unownedMove(motion), ...obstacles(snapshot), ...hints(snapshot, health)];
  if (latched) return stoppedHeadline(stoppedState(snapshot, motion), [...droveOn(motion), ...others]);
  const notes = [...disobedience(motion), ...others];
  const isUnderWay = run?.state === 'running' || run?.state === 'paused';
  const hasFailed = failed !== null && !isUnderWay;
  if (!motion.gate.open) {
    // The reasons of the closed gate come first, before unrelated hints.
    const reasons = [...gateNotes(snapshot, motion), ...hints(snapshot, health)];
    const drivesOn = motion.standstill.verdict === 'drives-on';
    if (hasFailed && !drivesOn) return { level: 'bad', code: 'failed', notes: reasons };
    if (comesToRest(snapshot, motion, run)) return { level: 'attention', code: 'comes-to-rest', notes: reasons };
    return { level: 'bad', code: 'locked', notes: reasons };
  }
  if (hasFailed) return { level: 'attention', code: 'failed', notes };
  // A person must drive it on or end it: no state to be left alone in green.
  if (motion.tour?.state === 'paused') return { level: 'attention', code: 'paused', notes };
  const isRunning = motion.tour?.state === 'running' || motion.drive?.state === 'running';
  const code = motion.trial !== null ? 'trial' : isRunning ? 'drives' : null;
  if (notes.length > 0 || failed !== null) return { level: 'attention', code: code ?? 'limited', notes };
  return { level: 'good', code: code ?? 'ready', notes };
}

/**
 * A latched stop does not prove standstill: the robot has stopped where its poses show it, and the chassis reports the end
 * of its move.
 */
export function stoppedState(
  snapshot: ChassisSnapshot,
  { standstill }: Pick<MotionStatus, 'standstill'>,
): PageState['stop']['state'] {
  if (standstill.verdict !== 'stands') return standstill.verdict;
  return moveProgressOf(snapshot) === 'ended' ? 'stopped' : 'not-known';
}

function stoppedHeadline(state: PageState['stop']['state'], notes: readonly Note[]): Headline {
  switch (state) {
    case 'stopped':
      return { level: 'bad', code: 'stopped', notes: [...notes] };
    case 'drives-on':
      return { level: 'bad', code: 'does-not-stop', notes: [{ code: 'does-not-stop' }, ...notes] };
    case 'moves':
      return { level: 'bad', code: 'still-moves', notes: [{ code: 'still-moves' }, ...notes] };
    case 'not-known':
      return { level: 'bad', code: 'standing-not-known', notes: [{ code: 'standing-not-known' }, ...notes] };
  }
}

/** The gate is closed by nothing but the last movement of a run that has just ended, or was just paused. */
function comesToRest(snapshot: ChassisSnapshot, motion: MotionStatus, run: Run | null): boolean {
  const isOver = run !== null && run.state !== 'running' && run.state !== 'failed';
  if (!isOver || run.forMs >= RESTS_WITHIN_MS || movement(motion).length === 0) return false;
  return gateNotes(snapshot, motion).every((note) => resting.has(note.code) || closesNothing(note));
}

const resting: ReadonlySet<Note['code']> = new Set(['moves', 'standing-awaited']);

/** Conditions that are named beside the reasons of a closed gate. */
function closesNothing(note: Note): boolean {
  if (note.code === 'positioning') return note.state === 'poor';
  return note.code === 'battery' || note.code === 'battery-contradictory';
}

/** Why there is no connection, for people: a robot that starts is waited for, and not repaired. */
function awayNote({ link, linkForMs }: ChassisSnapshot): Note {
  if (linkForMs >= STARTS_WITHIN_MS || link.kind === 'not-connected') return { code: 'not-connected' };
  return { code: link.kind === 'booting' ? 'robot-starting' : 'link-starting' };
}

/** The state of the move, as the chassis reported it over the current connection. */
function moveProgressOf({ link, values: { planning } }: ChassisSnapshot): ReturnType<typeof moveProgress> {
  const isCurrent = link.kind === 'connected' && planning.status === 'received' && !planning.stale;
  return moveProgress(isCurrent ? planning.value.moveState : null);
}

/** Why orders are refused, for people at the robot; a reason that staff cannot act on calls the technician. */
export function gateNotes(snapshot: ChassisSnapshot, motion: MotionStatus): Note[] {
  const { gate, stop, keepingTrouble } = motion;
  if (gate.open) return [];
  const { link } = snapshot;
  const unverified = gate.unverified?.length ?? 0;
  const known: Note[] = [
    ...(stop.latched ? [{ code: 'stop-latched' } as const] : []),
    ...droveOn(motion),
    ...(keepingTrouble === null ? [] : [{ code: 'stop-not-kept' } as const]),
    ...(motion.poseAlarm == null ? [] : [{ code: 'pose-alarm', map: motion.poseAlarm.map?.title ?? null } as const]),
    ...elsewhere(snapshot, motion),
    ...unownedMove(motion),
    ...(stop.latched ? [] : movement(motion)),
    ...(link.kind === 'connected' ? obstacles(snapshot) : [awayNote(snapshot)]),
    ...(unverified === 0 ? [] : [{ code: 'facts', count: unverified } as const]),
  ];
  return known.length === 0 ? [{ code: 'gate-closed' }] : known;
}

/** The places of the site file are those of another map. */
function elsewhere({ link }: ChassisSnapshot, { frame }: MotionStatus): Note[] {
  if (link.kind !== 'connected' || frame == null) return [];
  const { code } = frame;
  const map = frame.map ?? '';
  switch (code) {
    case 'other-map':
      return [{ code, map, measured: frame.measured ?? '' }];
    case 'map-changed':
    case 'other-robot':
      return [{ code, map }];
    default:
      return [{ code }];
  }
}

function unownedMove({ unownedMove: move }: MotionStatus): Note[] {
  if (move === null) return [];
  return [{ code: 'unowned-move', moveId: move.moveId, isBeingCancelled: move.isBeingCancelled }];
}

/** What remains to be said of it when it stands. */
function droveOn({ stop, standstill }: MotionStatus): Note[] {
  return stop.disobeyed === undefined || standstill.verdict === 'drives-on' ? [] : [{ code: 'drove-on' }];
}

/** A robot that does not obey a cancel is said first of all, also beside a latched stop. */
function disobedience({ standstill }: MotionStatus): Note[] {
  return standstill.verdict === 'drives-on' ? [{ code: 'does-not-stop' }] : [];
}

/** Why a robot that moves, or has not been seen to stand since a cancel, takes no order. */
function movement(motion: MotionStatus): Note[] {
  const { verdict, isOwed } = motion.standstill;
  if (verdict === 'moves') return [{ code: 'moves' }];
  if (verdict === 'not-known' && isOwed) return [{ code: 'standing-awaited' }];
  return disobedience(motion);
}

function obstacles(snapshot: ChassisSnapshot): Note[] {
  const { pose } = snapshot.values;
  const noPose = pose.status === 'not-received' || pose.stale;
  return [
    ...unitProblems(snapshot),
    ...conditionProblems(snapshot),
    ...obstaclesIn(snapshot.values).flatMap((obstacle): Note[] =>
      obstacle.kind === 'unreadable' ? [{ code: 'unreadable', topic: obstacle.topic }] : [],
    ),
    ...(noPose ? [{ code: 'no-pose' } as const] : []),
  ];
}

function hints(snapshot: ChassisSnapshot, health: GatewayHealth): Note[] {
  const recent = snapshot.complaints.filter(
    ({ ageMs, isLate }) => ageMs < (isLate ? LATE_COUNTS_MS : COMPLAINT_COUNTS_MS),
  );
  const faulty = recent.filter(({ isLate }) => !isLate).length;
  return [
    ...conditionGaps(snapshot),
    ...(faulty === 0 ? [] : [{ code: 'complaints', count: faulty } as const]),
    ...(faulty === recent.length ? [] : [{ code: 'late-answers' } as const]),
    ...gatewayHints(health),
  ];
}

function gatewayHints({ status, services, disk, evidence, cloud, support }: GatewayHealth): Note[] {
  const found: readonly (false | Note)[] = [
    evidence.status === 'revoked' && { code: 'evidence-revoked' },
    evidence.status === 'unreadable' && { code: 'evidence-unreadable' },
    services.some((service) => service.status !== 'running') && { code: 'service-down' },
    ...[...new Set(Object.values(disk).map(diskCode))].map((code): false | Note => code !== null && { code }),
    support.records === 'failing' && { code: 'support-not-recorded' },
    // Below the minute that degrades the gateway, a lost link is no news for the people at the robot.
    status !== 'ok' && cloud.status === 'not-connected' && { code: 'cloud-away' },
  ];
  const notes = found.filter((note) => note !== false);
  return status !== 'ok' && notes.length === 0 ? [{ code: 'gateway-degraded' }] : notes;
}

/** What is wrong with a folder. A disk that is slow, or was not looked at yet, is not a full one. */
function diskCode({ status, remedy }: FolderHealth): Extract<Note['code'], `disk${string}`> | null {
  switch (status) {
    case 'ok':
      return null;
    case 'low':
      return 'disk';
    case 'unusable':
      return 'disk-unwritable';
    case 'not-checked':
      return remedy === null ? 'disk-not-checked' : 'disk-silent';
  }
}

/** @source specification, 'Angles (critical rule)': degrees; a device with other values contradicts it */
function unitProblems({ unitContradicted, poseUnit }: ChassisSnapshot): Note[] {
  if (unitContradicted || poseUnit.verdict === 'radians') return [{ code: 'unit-radians' }];
  if (poseUnit.doubt === null) return [];
  return poseUnit.misfit === true ? [{ code: 'heading-misfit' }] : [{ code: 'unit-doubtful' }];
}
