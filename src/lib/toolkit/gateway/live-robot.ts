import { z } from 'zod';
import type { OperatorAccess } from '../operator/access.ts';

const absent = z.looseObject({ status: z.literal('not-received') });
const seen = <T extends z.ZodType>(value: T) =>
  z.discriminatedUnion('status', [
    absent,
    z.looseObject({ status: z.literal('received'), ageMs: z.number(), stale: z.boolean(), value }),
  ]);

/** What `GET /api/chassis/state` says of a robot that is watched while it moves or is told where it stands. */
const stateSchema = z.looseObject({
  values: z.looseObject({
    pose: seen(z.looseObject({ xM: z.number(), yM: z.number(), yawDeg: z.number() })),
    planning: seen(z.looseObject({ moveState: z.string() })),
  }),
});

/** Metres on the map and degrees, as the gateway reports them. */
export interface ReportedPose {
  readonly xM: number;
  readonly yM: number;
  readonly yawDeg: number;
}

export interface LiveRobot {
  /** The pose received last over the connection of now, with its age; null when there is none. */
  readonly pose: (ReportedPose & { readonly ageMs: number }) | null;
  /** The chassis' own word for its move; null when none was received over the connection of now. */
  readonly moveState: string | null;
}

/** Asks the gateway once. Throws what the access throws. */
export async function readLiveRobot(operator: Pick<OperatorAccess, 'ask'>): Promise<LiveRobot> {
  const { pose, planning } = (await operator.ask('GET', '/api/chassis/state', stateSchema)).values;
  return {
    pose: pose.status === 'received' && !pose.stale ? { ...onlyPose(pose.value), ageMs: pose.ageMs } : null,
    moveState: planning.status === 'received' && !planning.stale ? planning.value.moveState : null,
  };
}

export function onlyPose({ xM, yM, yawDeg }: ReportedPose): ReportedPose {
  return { xM, yM, yawDeg };
}

export function formatPose({ xM, yM, yawDeg }: ReportedPose): string {
  return `${xM.toFixed(2)} m, ${yM.toFixed(2)} m, ${yawDeg.toFixed(1)}°`;
}
