import { z } from 'zod';
import { asGwError, GwError } from '../../error/index.ts';
import { mapOfPlace, type PlaceMap } from '../../site/index.ts';
import { type GatewayWay, signedInAccess } from '../operator/signed-in-access.ts';
import type { CheckContext, Toolkit } from '../toolkit.ts';
import type { MotionPose } from './motion.result.ts';
import { isBeforeOrder, notStarted } from './not-started.ts';
import { orderOnceItStands } from './standstill.ts';

/** Pose of the robot: metres on its map and degrees, or a place of the site file with a heading. */
export type StandsAt =
  | { readonly xM: number; readonly yM: number; readonly yawDeg: number }
  | { readonly station: string }
  | { readonly dock: true };

const answerSchema = z.looseObject({
  outcome: z.looseObject({
    state: z.enum(['succeeded', 'failed', 'cancelled', 'unknown']),
    reason: z.string().nullable(),
  }),
});

/**
 * Sets the pose of the standing robot through the gate, as after a restore of its map. It does not drive, but its next
 * order starts from there: THE CALLER HAS THE CONFIRMATION OF A PERSON. Throws STATION_UNKNOWN, NOT_SIGNED_IN, SIGN_IN_FAILED,
 * OPERATOR_NOT_REACHABLE, and why the gate refused it.
 */
export async function setPose(
  toolkit: Toolkit,
  { at, ...way }: GatewayWay & { readonly at: StandsAt },
  context: CheckContext,
): Promise<MotionPose> {
  const { clock } = toolkit;
  const beganMs = clock.monotonicMs();
  const { pose, from, map } = poseAt(toolkit, at);
  // Without the signal of the command: the result of the request must be known.
  const steady = { ...context, signal: new AbortController().signal };
  await using access = await signedInAccess(toolkit, way, steady).catch((error: unknown) => {
    throw notStarted(asGwError(error), 'set');
  });
  context.signal.throwIfAborted();
  const order = () => access.ask('POST', '/api/pose', answerSchema, { ...pose, ...(map && { map }) });
  const { outcome } = await orderOnceItStands(order, access, toolkit, context).catch((thrown: unknown) => {
    const error = asGwError(thrown);
    throw isBeforeOrder(error, 'pose') ? notStarted(error, 'set') : error;
  });
  const { state, reason } = outcome;
  return { pose, from, state, reason, tookMs: Math.round(clock.monotonicMs() - beganMs) };
}

function poseAt(
  { site }: Toolkit,
  at: StandsAt,
): Pick<MotionPose, 'pose' | 'from'> & { readonly map: PlaceMap | null } {
  // A person who types metres means the current map.
  if ('xM' in at) return { map: null, pose: { xM: at.xM, yM: at.yM, yawDeg: at.yawDeg }, from: 'command line' };
  const isDock = 'dock' in at;
  const key = isDock ? 'dock' : `stations.${at.station}`;
  const found = isDock ? site.dock : Object.hasOwn(site.stations, at.station) ? site.stations[at.station] : undefined;
  if (found === undefined) {
    const names = Object.keys(site.stations).join(', ');
    throw new GwError('STATION_UNKNOWN', `No ${isDock ? 'dock' : `station '${at.station}'`} in the site file.`, {
      remedy: isDock || names === '' ? 'Give the pose with --x, --y and --yaw.' : `Name one of: ${names}.`,
    });
  }
  const { xM, yM, yawDeg } = found;
  if (yawDeg === undefined) {
    throw new GwError('STATION_UNKNOWN', `${key} of the site file has no heading, and a pose needs one.`, {
      remedy: 'Give the pose with --x, --y and --yaw, or enter yawDeg for the station.',
    });
  }
  const map = mapOfPlace(site, found);
  if (map === null) {
    throw new GwError('STATION_UNKNOWN', `The site file does not say in which map ${key} was measured.`, {
      remedy: 'Run `gw site map --measured-on-it` on that map, or give the pose with --x, --y and --yaw.',
    });
  }
  return { pose: { xM, yM, yawDeg }, from: `site file, ${key}`, map };
}
