import { z } from 'zod';
import { createChassisClient } from '../../chassis/index.ts';
import { asGwError, formatTried } from '../../error/index.ts';
import { cancelAtChassis } from '../../motion/index.ts';
import { localSocketPath, type Site } from '../../site/index.ts';
import type { ChassisAccess } from '../chassis/access.ts';
import { type OperatorAccess, type OperatorPlace, steadyOperatorAccess } from '../operator/access.ts';
import { localOperatorAccess } from '../operator/local-access.ts';
import type { CheckContext, Toolkit } from '../toolkit.ts';
import type { MotionStop } from './motion.result.ts';
import { NOT_STOPPED } from './not-stopped.ts';

type Way = MotionStop['ways'][number];
export type StopAccess = Pick<OperatorAccess, 'ask'>;

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

/** Only `latched` is required in the response. */
const optionalText = z.string().nullable().catch(null);
export const stopSchema = z.looseObject({
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
export type Latch = z.output<typeof stopSchema>['stop'] & { readonly robot: string | null };

/** After this time without an answer of the gateway, the chassis is cancelled directly as well, again and again. */
const CHASSIS_AFTER_MS = 1_000;
/** A hanging request ends by its own timeout of five seconds. */
const AGAIN_MS = 250;
const CANCEL_AGAIN_MS = 1_000;
const SAY_EVERY_MS = 1_000;

/**
 * Tries every way to the gateway at once, each again and again, until one has latched the stop or the time is over. Says each
 * second what it tries, and that the robot is not stopped. After an interruption no attempt is begun.
 */
export async function latchOverAnyWay(place: StopPlace, reason: string, timeoutMs: number, context: CheckContext) {
  const { clock } = place;
  const ways = new Map<Way['way'], Way>();
  const { promise: first, resolve } = Promise.withResolvers<{ latch: Latch; access: StopAccess } | null>();
  const untilMs = clock.monotonicMs() + timeoutMs;
  let isOver = false;
  const goesOn = () => !isOver && clock.monotonicMs() < untilMs && !context.signal.aborted;

  async function tryWay(way: Way['way'], address: string, open: () => Promise<StopAccess | null>): Promise<void> {
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
    } while (goesOn());
  }

  /** A robot that has been cancelled once may drive on, and whoever reaches its chassis may order the next move. */
  async function cancelWithoutGateway(chassis: ChassisAccess): Promise<void> {
    const { host, port } = chassis.endpoint;
    let cancels = 0;
    const note = (answer: Way['answer'], detail: string, tookMs: number | null) =>
      ways.set('chassis', { way: 'chassis', address: `${host}:${port}`, answer, detail, tookMs });
    await clock.sleep(CHASSIS_AFTER_MS, context.signal).catch(() => {});
    if (isOver) return;
    note('not-awaited', 'no answer yet', null);
    await using client = createChassisClient(chassis);
    do {
      const beganMs = clock.monotonicMs();
      const tookMs = () => Math.round(clock.monotonicMs() - beganMs);
      try {
        await cancelAtChassis(client);
        cancels += 1;
        const count = cancels === 1 ? 'a cancel' : `${cancels} cancels`;
        note('cancelled', `accepted ${count}; nothing is latched by that`, tookMs());
      } catch (error) {
        const { message } = asGwError(error);
        if (cancels === 0) note('failed', message, tookMs());
        else note('cancelled', `accepted a cancel before, nothing is latched by that; then: ${message}`, tookMs());
      }
      await clock.sleep(cancels === 0 ? AGAIN_MS : CANCEL_AGAIN_MS, context.signal).catch(() => {});
    } while (goesOn());
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
  using _saying = clock.every(SAY_EVERY_MS, () => {
    const tried = [...ways.values()].map(({ way, address, detail }) => `${way} ${address}: ${detail}`).join('; ');
    const leftS = Math.max(0, Math.ceil((untilMs - clock.monotonicMs()) / 1_000));
    context.onProgress(
      `${NOT_STOPPED} yet, trying for ${leftS} s more. Press the emergency stop of the robot now. ${tried}`,
    );
  });
  const found = await first;
  isOver = true;
  return { latch: found?.latch ?? null, access: found?.access ?? null, ways: [...ways.values()] };
}
