import { z } from 'zod';
import { createChassisClient, moveStanding } from '../../chassis/index.ts';
import { asGwError, formatTried } from '../../error/index.ts';
import type { Clock } from '../../lifecycle/index.ts';
import { cancelAtChassis } from '../../motion/index.ts';
import { localSocketPath, type Site } from '../../site/index.ts';
import type { ChassisAccess } from '../chassis/access.ts';
import { readLiveRobot } from '../gateway/live-robot.ts';
import {
  localOperatorAccess,
  type OperatorAccess,
  type OperatorPlace,
  steadyOperatorAccess,
} from '../operator/access.ts';
import type { CheckContext, Toolkit } from '../toolkit.ts';
import type { MotionStop } from './motion.result.ts';

/** Where a stop is sent. A site file is not needed: whoever must stop a robot may have none at hand. */
export interface StopPlace extends Pick<Toolkit, 'dialer' | 'clock' | 'ssh'> {
  /** Absent: this machine, where the socket for local commands is tried as well. */
  readonly host?: string | undefined;
  readonly port: number;
  /** Of the site file; null without one. */
  readonly stateDir: Site['stateDir'] | null;
  /** The chassis of the site file, for a cancel without the gateway; null without one. */
  readonly chassis: ChassisAccess | null;
}

type Way = MotionStop['ways'][number];
type Access = Pick<OperatorAccess, 'ask'>;

/** A gateway that has not answered by then is no longer waited for alone. */
const CHASSIS_AFTER_MS = 1_000;
/** Every way is tried again for so long; a request that hangs ends by its own time of five seconds. */
const TRY_FOR_MS = 5_000;
const AGAIN_MS = 250;
/** So long the chassis may take to say that its move has ended. */
const MOVE_ENDS_WITHIN_MS = 3_000;
const POLL_MS = 100;

/** An answer that says 'latched' is one, whatever else it says or leaves out. */
const word = z.string().nullable().catch(null);
const stopSchema = z.looseObject({
  stop: z.looseObject({
    latched: z.boolean(),
    saved: z
      .union([z.boolean(), z.literal('pending')])
      .nullable()
      .catch(null),
    unsavedBecause: word,
    reason: word,
    by: word,
    since: word,
  }),
});
type Latch = z.output<typeof stopSchema>['stop'];

/**
 * Stops the robot through its running gateway, over every way at once; then looks what the chassis reports of its move,
 * for a stop can be latched while the chassis is away. When the gateway does not answer at once, the chassis is asked to
 * cancel its move as well, which latches nothing. Asks for no sign-in. Never throws: a stop that could not be
 * delivered is a result, with everything that was tried.
 */
export async function stopTheRobot(
  place: StopPlace,
  { reason }: { readonly reason: string },
  context: CheckContext,
): Promise<MotionStop> {
  const { clock } = place;
  const beganMs = clock.monotonicMs();
  const { latch, access, ways } = await latchOverAnyWay(place, reason, context);
  const after =
    latch === null || access === null
      ? { latch, move: 'not-known' as const, moveDetail: 'the gateway could not be asked' }
      : await afterStop(access, latch, clock);
  return {
    delivered: latch !== null,
    cancelledAtChassis: ways.some(({ answer }) => answer === 'cancelled'),
    saved: after.latch?.saved ?? null,
    unsavedBecause: after.latch?.unsavedBecause ?? null,
    reason: latch?.reason ?? null,
    by: latch?.by ?? null,
    since: latch?.since ?? null,
    move: after.move,
    moveDetail: after.moveDetail,
    ways,
    tookMs: Math.round(clock.monotonicMs() - beganMs),
  };
}

async function latchOverAnyWay(place: StopPlace, reason: string, context: CheckContext) {
  const { clock } = place;
  const ways = new Map<Way['way'], Way>();
  const { promise: first, resolve } = Promise.withResolvers<{ latch: Latch; access: Access } | null>();
  const untilMs = clock.monotonicMs() + TRY_FOR_MS;
  let isOver = false;

  async function tryWay(way: Way['way'], address: string, open: () => Promise<Access | null>): Promise<void> {
    const beganMs = clock.monotonicMs();
    const note = (answer: Way['answer'], detail: string, tookMs: number | null) =>
      ways.set(way, { way, address, answer, detail, tookMs: tookMs === null ? null : Math.round(tookMs) });
    note('not-awaited', 'no answer yet', null);
    do {
      const tookMs = () => clock.monotonicMs() - beganMs;
      try {
        const access = await open();
        if (access === null) {
          note('not-there', 'there is no such socket that this user may open', null);
        } else {
          const { stop } = await access.ask('POST', '/api/stopp', stopSchema, { reason });
          if (isOver) return;
          if (stop.latched) {
            note('latched', 'answered that the stop is latched', tookMs());
            resolve({ latch: stop, access });
            return;
          }
          note('failed', 'answered, but the stop is NOT latched', tookMs());
        }
      } catch (error) {
        const { message, tried } = asGwError(error);
        if (isOver) return;
        note('failed', tried === undefined ? message : `${message} (${formatTried(tried)})`, tookMs());
      }
      await clock.sleep(AGAIN_MS, context.signal).catch(() => {});
    } while (!isOver && clock.monotonicMs() < untilMs && !context.signal.aborted);
  }

  async function cancelWithoutGateway(chassis: ChassisAccess): Promise<void> {
    const { host, port } = chassis.endpoint;
    const note = (answer: Way['answer'], detail: string, tookMs: number | null) =>
      ways.set('chassis', { way: 'chassis', address: `${host}:${port}`, answer, detail, tookMs });
    await clock.sleep(CHASSIS_AFTER_MS, context.signal).catch(() => {});
    if (isOver) return;
    note('not-awaited', 'no answer yet', null);
    await using client = createChassisClient(chassis);
    while (!isOver && clock.monotonicMs() < untilMs) {
      const beganMs = clock.monotonicMs();
      try {
        await cancelAtChassis(client);
        note('cancelled', 'took a cancel; nothing is latched by that', Math.round(clock.monotonicMs() - beganMs));
        return;
      } catch (error) {
        note('failed', asGwError(error).message, Math.round(clock.monotonicMs() - beganMs));
      }
      await clock.sleep(AGAIN_MS).catch(() => {});
    }
  }

  const { host, port, stateDir, ssh } = place;
  const network: OperatorPlace = { dialer: place.dialer, site: { operator: { port } } };
  const all = [
    tryWay('network', `${host ?? '127.0.0.1'}:${port}`, async () => steadyOperatorAccess(network, context, host)),
  ];
  if (host === undefined && stateDir !== null && ssh === undefined) {
    // Its requests end by their own time: an interruption of the command must not cut a stop that is on its way.
    const steady = { ...context, signal: new AbortController().signal };
    all.push(
      tryWay('local-socket', localSocketPath({ stateDir }), () => localOperatorAccess({ site: { stateDir } }, steady)),
    );
  }
  if (place.chassis !== null) all.push(cancelWithoutGateway(place.chassis));
  void Promise.all(all).then(() => resolve(null));
  const found = await first;
  isOver = true;
  return { latch: found?.latch ?? null, access: found?.access ?? null, ways: [...ways.values()] };
}

/** What became of the stop until now: whether the disk has it, and whether the chassis reports a move. */
async function afterStop(access: Access, latch: Latch, clock: Clock) {
  const move = await moveAfterStop(access, clock);
  const now = await access.ask('GET', '/api/stopp', stopSchema).then(
    ({ stop }) => stop,
    () => latch,
  );
  if (now.latched) return { latch: now, ...move };
  return { latch, move: 'not-known' as const, moveDetail: 'the stop has been cleared since: orders may pass' };
}

/** The gateway latches also while the chassis is away: only the chassis can say that its move has ended. */
async function moveAfterStop(access: Access, clock: Clock): Promise<Pick<MotionStop, 'move' | 'moveDetail'>> {
  const untilMs = clock.monotonicMs() + MOVE_ENDS_WITHIN_MS;
  let last: string | null = null;
  let wasMoving = false;
  do {
    try {
      last = (await readLiveRobot(access)).moveState;
    } catch (error) {
      return { move: 'not-known', moveDetail: `the gateway did not say: ${asGwError(error).message}` };
    }
    // A robot that drove on to its goal stands there as well.
    if (wasMoving && (last === 'succeeded' || last === 'failed')) {
      return { move: 'drove-on', moveDetail: `after the stop the chassis reported 'moving', then '${last}'` };
    }
    wasMoving ||= last === 'moving';
    if (moveStanding(last) === 'ended') {
      return { move: 'ended', moveDetail: `the chassis reports its move as '${last}'` };
    }
    await clock.sleep(POLL_MS);
  } while (clock.monotonicMs() < untilMs);
  if (moveStanding(last) === 'under-way') {
    return {
      move: 'under-way',
      moveDetail: `the chassis still reports 'moving' after ${MOVE_ENDS_WITHIN_MS / 1000} s`,
    };
  }
  const word = last === null ? 'nothing of its move: it may be away' : `'${last}' of its move, which gw does not know`;
  return { move: 'not-known', moveDetail: `the chassis reports ${word}` };
}
