import { z } from 'zod';
import { createChassisClient, moveProgress } from '../../chassis/index.ts';
import { asGwError, formatTried } from '../../error/index.ts';
import { type Clock, systemClock } from '../../lifecycle/index.ts';
import { cancelAtChassis } from '../../motion/index.ts';
import { directDialer, type Ssh } from '../../net/index.ts';
import { localSocketPath, type Site } from '../../site/index.ts';
import { type ChassisAccess, chassisAccess } from '../chassis/access.ts';
import { readLiveRobot } from '../gateway/live-robot.ts';
import { type OperatorAccess, type OperatorPlace, steadyOperatorAccess } from '../operator/access.ts';
import { localOperatorAccess } from '../operator/local-access.ts';
import type { CheckContext, Toolkit } from '../toolkit.ts';
import type { MotionStop } from './motion.result.ts';
import { awaitStandstill, STANDSTILL_WITHIN_MS } from './standstill.ts';

/** Target of a stop. A site file is not required, since it may not be available in an emergency. */
export interface StopPlace extends Pick<Toolkit, 'dialer' | 'clock' | 'ssh'> {
  /** Absent: this machine, where the socket for local commands is tried as well. */
  readonly host?: string | undefined;
  readonly port: number;
  /** Of the site file; null without one. */
  readonly stateDir: Site['stateDir'] | null;
  /** The chassis of the site file, for a cancel without the gateway; null without one. */
  readonly chassis: ChassisAccess | null;
  /** Serial number of the robot of the site file; null without one. Nothing is refused for it. */
  readonly robot?: string | null | undefined;
}

export interface StopContext extends CheckContext {
  /** Called when a gateway has confirmed the stop, before the move state is read. */
  readonly onLatched?: (() => void) | undefined;
}

type Way = MotionStop['ways'][number];
type Access = Pick<OperatorAccess, 'ask'>;

/** After this time without an answer of the gateway, the chassis is cancelled directly as well. */
const CHASSIS_AFTER_MS = 1_000;
/** Every way is retried for so long; a hanging request ends by its own timeout of five seconds. */
const TRY_FOR_MS = 5_000;
const AGAIN_MS = 250;
/** How long the chassis may take to report the end of its move. */
const MOVE_ENDS_WITHIN_MS = 3_000;
const POLL_MS = 100;

/** Only `latched` is required in the response. */
const optionalText = z.string().nullable().catch(null);
const stopSchema = z.looseObject({
  robot: optionalText,
  stop: z.looseObject({
    latched: z.boolean(),
    saved: z
      .union([z.boolean(), z.literal('pending')])
      .nullable()
      .catch(null),
    unsavedBecause: optionalText,
    reason: optionalText,
    by: optionalText,
    since: optionalText,
    disobeyed: optionalText,
  }),
});
type Latch = z.output<typeof stopSchema>['stop'] & { readonly robot: string | null };

/**
 * Stops the robot through its running gateway, over every way concurrently; then reads the reported move state and
 * whether the poses show that the robot stands, since a latched stop, and an acknowledged cancel, are words. When the gateway does not answer at once, the move is also
 * cancelled at the chassis, which latches nothing. Needs no sign-in. Never throws: a stop that could not be delivered is
 * a result, with everything that was tried.
 */
export async function stopTheRobot(
  place: StopPlace,
  { reason }: { readonly reason: string },
  context: StopContext,
): Promise<MotionStop> {
  const { clock } = place;
  const beganMs = clock.monotonicMs();
  const { latch, access, ways } = await latchOverAnyWay(place, reason, context);
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
          note('not-there', 'no such socket, or no permission to open it', null);
        } else {
          const { stop, robot } = await access.ask('POST', '/api/stopp', stopSchema, { reason });
          if (isOver) return;
          if (stop.latched) {
            note('latched', 'confirmed that the stop is latched', tookMs());
            resolve({ latch: { ...stop, robot }, access });
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
        note('cancelled', 'accepted a cancel; nothing is latched by that', Math.round(clock.monotonicMs() - beganMs));
        return;
      } catch (error) {
        note('failed', asGwError(error).message, Math.round(clock.monotonicMs() - beganMs));
      }
      await clock.sleep(AGAIN_MS).catch(() => {});
    }
  }

  const { host, port, stateDir, ssh } = place;
  const network: OperatorPlace = { dialer: place.dialer, clock, site: { operator: { port } } };
  const all = [
    tryWay('network', `${host ?? '127.0.0.1'}:${port}`, async () => steadyOperatorAccess(network, context, host)),
  ];
  if (host === undefined && stateDir !== null && ssh === undefined) {
    // Its requests end by their own timeout: an interruption must not abort a stop that is being sent.
    const steady = { ...context, signal: new AbortController().signal };
    all.push(
      tryWay('local-socket', localSocketPath({ stateDir }), () =>
        localOperatorAccess({ site: { stateDir }, clock }, steady),
      ),
    );
  }
  if (place.chassis !== null) all.push(cancelWithoutGateway(place.chassis));
  void Promise.all(all).then(() => resolve(null));
  const found = await first;
  isOver = true;
  return { latch: found?.latch ?? null, access: found?.access ?? null, ways: [...ways.values()] };
}

const unanswered = {
  move: 'not-known',
  moveDetail: 'the gateway did not answer',
  standstill: 'not-known',
  standstillDetail: 'the gateway did not answer',
} as const;

/** State after the stop: whether it is on disk, the reported move state, and what the poses show. */
async function afterStop(access: Access, latch: Latch, { signal, onProgress }: CheckContext, clock: Clock) {
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
async function moveAfterStop(access: Access, clock: Clock): Promise<Pick<MotionStop, 'move' | 'moveDetail'>> {
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
