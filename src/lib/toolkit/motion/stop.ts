import { moveProgress } from '../../chassis/index.ts';
import { asGwError } from '../../error/index.ts';
import { type Clock, systemClock } from '../../lifecycle/index.ts';
import { directDialer, type Ssh } from '../../net/index.ts';
import { chassisAccess } from '../chassis/access.ts';
import { readLiveRobot } from '../gateway/live-robot.ts';
import type { CheckContext } from '../toolkit.ts';
import type { MotionStop } from './motion.result.ts';
import { awaitStandstill, STANDSTILL_WITHIN_MS } from './standstill.ts';
import { type Latch, latchOverAnyWay, type StopAccess, type StopPlace, stopSchema } from './stop-ways.ts';

export interface StopContext extends CheckContext {
  /** Called when a gateway has confirmed the stop, before the move state is read. */
  readonly onLatched?: (() => void) | undefined;
}

/** How long the chassis may take to report the end of its move. */
const MOVE_ENDS_WITHIN_MS = 3_000;
const POLL_MS = 100;

/**
 * Stops the robot through its running gateway, over every way concurrently, each tried until it is answered or the time is
 * over; then reads the reported move state and whether the poses show that the robot stands, since a latched stop, and an
 * acknowledged cancel, are words. When the gateway does not answer at once, the move is also cancelled at the chassis, which
 * latches nothing. Needs no sign-in. Never throws: a stop that could not be delivered is a result, with everything that was
 * tried.
 */
export async function stopTheRobot(
  place: StopPlace,
  { reason, timeoutMs }: { readonly reason: string; readonly timeoutMs: number },
  context: StopContext,
): Promise<MotionStop> {
  const { clock } = place;
  const beganMs = clock.monotonicMs();
  const { latch, access, ways } = await latchOverAnyWay(place, reason, timeoutMs, context);
  if (latch !== null) context.onLatched?.();
  const after =
    latch === null || access === null ? { latch, ...unanswered } : await afterStop(access, latch, context, clock);
  return {
    delivered: latch !== null,
    cancelledAtChassis: ways.some(({ answer }) => answer === 'cancelled'),
    saved: after.latch?.saved ?? null,
    unsavedBecause: after.latch?.unsavedBecause ?? null,
    reason: latch?.reason ?? null,
    by: latch?.by ?? null,
    since: latch?.since ?? null,
    disobeyed: latch?.disobeyed ?? null,
    robot: latch?.robot ?? null,
    meantRobot: place.robot ?? null,
    move: after.move,
    moveDetail: after.moveDetail,
    standstill: after.standstill,
    standstillDetail: after.standstillDetail,
    ways,
    tookMs: Math.round(clock.monotonicMs() - beganMs),
  };
}

const unanswered = {
  move: 'not-known',
  moveDetail: 'the gateway did not answer',
  standstill: 'not-known',
  standstillDetail: 'the gateway did not answer',
} as const;

/** State after the stop: whether it is on disk, the reported move state, and what the poses show. */
async function afterStop(access: StopAccess, latch: Latch, { signal, onProgress }: CheckContext, clock: Clock) {
  onProgress(
    `The stop is latched and the cancel sent. Verifying that the robot stands, up to ${STANDSTILL_WITHIN_MS / 1_000} s: press its emergency stop if it moves.`,
  );
  const [reported, seen] = await Promise.all([moveAfterStop(access, clock), awaitStandstill(access, clock, signal)]);
  const move = { ...reported, standstill: seen.verdict, standstillDetail: seen.reason };
  const now = await access.ask('GET', '/api/stopp', stopSchema).then(
    ({ stop, robot }): Latch => ({ ...stop, robot }),
    () => latch,
  );
  if (now.latched) return { latch: now, ...move };
  const cleared = 'the stop was cleared meanwhile: orders may pass';
  return { latch, ...unanswered, moveDetail: cleared, standstillDetail: cleared };
}

/** The gateway latches also without a chassis connection: only the chassis can report the end of its move. */
async function moveAfterStop(access: StopAccess, clock: Clock): Promise<Pick<MotionStop, 'move' | 'moveDetail'>> {
  const untilMs = clock.monotonicMs() + MOVE_ENDS_WITHIN_MS;
  let last: string | null = null;
  let wasMoving = false;
  do {
    try {
      last = (await readLiveRobot(access)).moveState;
    } catch (error) {
      return { move: 'not-known', moveDetail: `not reported by the gateway: ${asGwError(error).message}` };
    }
    // A robot that continued to its goal stands still there as well.
    if (wasMoving && (last === 'succeeded' || last === 'failed')) {
      return { move: 'drove-on', moveDetail: `after the stop the chassis reported 'moving', then '${last}'` };
    }
    wasMoving ||= last === 'moving';
    if (moveProgress(last) === 'ended') {
      return { move: 'ended', moveDetail: `the chassis reports its move as '${last}'` };
    }
    await clock.sleep(POLL_MS);
  } while (clock.monotonicMs() < untilMs);
  if (moveProgress(last) === 'under-way') {
    return {
      move: 'under-way',
      moveDetail: `the chassis still reports 'moving' after ${MOVE_ENDS_WITHIN_MS / 1000} s`,
    };
  }
  const moveDetail =
    last === null
      ? 'the chassis reports no move state: it may be disconnected'
      : `unknown move state '${last}' reported`;
  return { move: 'not-known', moveDetail };
}

/** @source specification, 'Operator server' */
const DEFAULT_PORT = 5173;

export interface StopPlaceOptions {
  readonly sitePath: string;
  readonly host?: string | undefined;
  readonly port?: number | undefined;
}

/**
 * Target of a stop, from the site file if there is one: a missing or invalid file must not prevent a stop. `trouble`:
 * why it was not used.
 */
export async function openStopPlace(
  { sitePath, host, port }: StopPlaceOptions,
  ssh?: Ssh,
): Promise<{ readonly place: StopPlace; readonly trouble: string | null }> {
  const ways = { clock: systemClock, dialer: ssh?.dialer ?? directDialer, ssh, host };
  try {
    const { loadSite } = await import('../../site/index.ts');
    const site = await loadSite(sitePath);
    const { operator, stateDir } = site;
    const chassis = await chassisAccess({ site, ...ways }).catch(() => null);
    return {
      place: { ...ways, port: port ?? operator.port, stateDir, chassis, robot: site.chassis.serial },
      trouble: null,
    };
  } catch (error) {
    return {
      place: { ...ways, port: port ?? DEFAULT_PORT, stateDir: null, chassis: null, robot: null },
      trouble: asGwError(error).message,
    };
  }
}
