import { z } from 'zod';
import { degrees, turnBetween } from '../../angle/index.ts';
import type { Finding } from '../finding.result.ts';
import { notChecked } from '../finding.ts';
import type { OperatorAccess } from '../operator/access.ts';
import type { CheckContext, Toolkit } from '../toolkit.ts';
import type { EndPose } from './end-pose.result.ts';

/** Tolerance of the reported pose. Project decision. */
const NEAR_M = 0.3;
const NEAR_DEG = 5;
const POLL_MS = 100;
/** How long a pose after the end is awaited; a chassis at rest may publish none. */
const POSE_WITHIN_MS = 2_000;

const stateSchema = z.looseObject({
  values: z.looseObject({
    pose: z.discriminatedUnion('status', [
      z.looseObject({ status: z.literal('not-received') }),
      z.looseObject({
        status: z.literal('received'),
        ageMs: z.number(),
        stale: z.boolean(),
        value: z.looseObject({ xM: z.number(), yM: z.number(), yawDeg: z.number() }),
      }),
    ]),
  }),
});

/** A named place; without `yawDeg` any heading is accepted. */
export interface NamedPlace {
  readonly name: string;
  readonly xM: number;
  readonly yM: number;
  readonly yawDeg?: number | undefined;
}

/** The reported pose compared with the place; null without a fresh pose. */
export async function compareEnd(
  operator: Pick<OperatorAccess, 'ask'>,
  place: NamedPlace,
  { clock }: Pick<Toolkit, 'clock'>,
  { signal }: CheckContext,
): Promise<EndPose | null> {
  const began = clock.monotonicMs();
  for (;;) {
    const { pose } = (await operator.ask('GET', '/api/chassis/state', stateSchema)).values;
    const waitedMs = clock.monotonicMs() - began;
    const isLate = waitedMs >= POSE_WITHIN_MS;
    if (pose.status === 'received' && !pose.stale && (pose.ageMs < waitedMs || isLate)) {
      const { xM, yM, yawDeg } = pose.value;
      const turn = place.yawDeg === undefined ? null : turnBetween(degrees(place.yawDeg), degrees(yawDeg));
      return {
        station: place.name,
        expected: { xM: place.xM, yM: place.yM, yawDeg: place.yawDeg ?? null },
        reported: { xM, yM, yawDeg },
        distanceM: Math.hypot(xM - place.xM, yM - place.yM),
        turnDeg: turn === null ? null : Math.abs(turn),
      };
    }
    if (isLate) return null;
    await clock.sleep(POLL_MS, signal);
  }
}

/** Null and `hasArrived`: no fresh pose was reported. These findings detect a wrong angle unit in site file, order or report. */
export function endFindings(end: EndPose | null, hasArrived: boolean): Finding[] {
  const place = { id: 'place', title: 'Final position matches the target', spec: 'Map and overlays' };
  const heading = { id: 'heading', title: 'Final heading matches the target', spec: 'Angles (critical rule)' };
  if (end === null) {
    const detail = hasArrived ? 'no fresh pose received at the end' : 'the robot did not arrive';
    return [place, heading].map((base) => notChecked(base, detail));
  }
  const { station, distanceM, turnDeg, expected, reported } = end;
  const isNear = distanceM <= NEAR_M;
  const isTurned = turnDeg !== null && turnDeg <= NEAR_DEG;
  return [
    {
      ...place,
      verdict: isNear ? 'ok' : 'wrong',
      detail: `${distanceM.toFixed(2)} m from ${station} (up to ${NEAR_M} m)`,
      remedy: isNear ? null : 'Compare the place in the site file with the position of the robot.',
    },
    turnDeg === null
      ? notChecked(heading, `${station} has no heading`)
      : {
          ...heading,
          verdict: isTurned ? 'ok' : 'wrong',
          detail: `${reported.yawDeg.toFixed(1)}° reported, ${expected.yawDeg?.toFixed(1)}° ordered: ${turnDeg.toFixed(1)}° off (up to ${NEAR_DEG}°)`,
          remedy: isTurned ? null : 'Do not continue: an angle unit may be wrong. Run `gw chassis probe`.',
        },
  ];
}
