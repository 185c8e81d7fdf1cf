import { z } from 'zod';
import type { PoseUnitVerdict } from '../../chassis/index.ts';
import type { OperatorAccess } from '../operator/access.ts';

const absent = z.looseObject({ status: z.literal('not-received') });
const seen = <T extends z.ZodType>(value: T) =>
  z.discriminatedUnion('status', [
    absent,
    z.looseObject({ status: z.literal('received'), ageMs: z.number(), stale: z.boolean(), value }),
  ]);

/** The part of `GET /api/chassis/state` that checks of motion and pose use. */
const stateSchema = z.looseObject({
  values: z.looseObject({
    pose: seen(z.looseObject({ xM: z.number(), yM: z.number(), yawDeg: z.number() })),
    planning: seen(z.looseObject({ moveState: z.string() })),
  }),
  poseUnit: z.looseObject({ verdict: z.enum(['degrees', 'radians', 'not-decided']) }).optional(),
  standing: z.looseObject({ verdict: z.enum(['stands', 'moves', 'not-known']), reason: z.string() }).optional(),
});

/** Metres on the map and degrees, as the gateway reports them. */
export interface ReportedPose {
  readonly xM: number;
  readonly yM: number;
  readonly yawDeg: number;
}

export interface LiveRobot {
  /** The last pose received over the current connection, with its age; null when there is none. */
  readonly pose: (ReportedPose & { readonly ageMs: number }) | null;
  /** The move state as the chassis reports it; null when none was received over the current connection. */
  readonly moveState: string | null;
  /** Of the heading, as the gateway judges it; 'not-decided' where the gateway does not report it. */
  readonly poseUnit: PoseUnitVerdict['verdict'];
  /** Why the robot moves by the poses of the gateway; null where they do not say that it does. */
  readonly moves: string | null;
}

/** Reads the state once. Throws the errors of the access. */
export async function readLiveRobot(operator: Pick<OperatorAccess, 'ask'>): Promise<LiveRobot> {
  const { values, poseUnit, standing } = await operator.ask('GET', '/api/chassis/state', stateSchema);
  const { pose, planning } = values;
  return {
    pose: pose.status === 'received' && !pose.stale ? { ...onlyPose(pose.value), ageMs: pose.ageMs } : null,
    moveState: planning.status === 'received' && !planning.stale ? planning.value.moveState : null,
    poseUnit: poseUnit?.verdict ?? 'not-decided',
    moves: standing?.verdict === 'moves' ? standing.reason : null,
  };
}

export function onlyPose({ xM, yM, yawDeg }: ReportedPose): ReportedPose {
  return { xM, yM, yawDeg };
}

export function formatPose({ xM, yM, yawDeg }: ReportedPose): string {
  return `${xM.toFixed(2)} m, ${yM.toFixed(2)} m, ${yawDeg.toFixed(1)}°`;
}
