import { z } from 'zod';
import type { Finding, Line } from '../finding.result.ts';
import { notApplicable, notChecked } from '../finding.ts';
import type { EndPose, StationArrival } from './motion.result.ts';

const pose = z.looseObject({ xM: z.number(), yM: z.number(), yawDeg: z.number() });

/** The judgement of the gateway (`Arrival` of the motion module). */
const reportedArrival = z.looseObject({
  verdict: z.enum(['at-goal', 'elsewhere', 'moves', 'not-known']),
  reason: z.string(),
  goal: z.looseObject({ xM: z.number(), yM: z.number(), yawDeg: z.number().nullable() }),
  pose: pose.nullable(),
  distanceM: z.number().nullable(),
  turnDeg: z.number().nullable(),
  isAtPlace: z.boolean().nullable(),
  isAtHeading: z.boolean().nullable(),
});
type ReportedArrival = z.output<typeof reportedArrival>;

/** Outcome of one move, as the gateway reports it; one of an older version has no `arrival`. */
export const outcomeSchema = z.looseObject({
  state: z.string().optional(),
  arrival: reportedArrival.nullable().default(null),
});

/** A named place of the site file; without `yawDeg` any heading is accepted. */
export interface NamedPlace {
  readonly name: string;
  readonly xM: number;
  readonly yM: number;
  readonly yawDeg?: number | undefined;
}

/** The compared pose for the result; null where the gateway did not compare it. */
export function endOf(station: string, arrival: ReportedArrival | null): EndPose | null {
  if (arrival === null || arrival.pose === null || arrival.distanceM === null) return null;
  const { goal, pose: at, distanceM, turnDeg } = arrival;
  return {
    station,
    expected: { xM: goal.xM, yM: goal.yM, yawDeg: goal.yawDeg },
    reported: { xM: at.xM, yM: at.yM, yawDeg: at.yawDeg },
    distanceM,
    turnDeg,
  };
}

export function arrivalOf(station: string, arrival: ReportedArrival | null): StationArrival | null {
  if (arrival === null) return null;
  const { verdict, reason, distanceM, turnDeg } = arrival;
  return { station, verdict, reason, distanceM, turnDeg };
}

const placeStart = { id: 'place', title: 'Final position matches the target', spec: 'Map and overlays' };
const headingStart = { id: 'heading', title: 'Final heading matches the target', spec: 'Angles (critical rule)' };

/** Place and heading where nothing was compared. */
export function notCompared(detail: string): Finding[] {
  return [placeStart, headingStart].map((start) => notChecked(start, detail));
}

/**
 * The gateway's judgement of the arrival as findings. A wrong heading detects a wrong angle unit in site file, order or
 * report. `place`: as the site file of this command has it; undefined where it has none.
 */
export function endFindings(name: string, arrival: ReportedArrival, place: NamedPlace | undefined): Line[] {
  const { goal, pose: at, distanceM, turnDeg, isAtPlace, isAtHeading, reason } = arrival;
  if (at === null || distanceM === null || isAtPlace === null) return notCompared(reason);
  const isOther = place !== undefined && !isSame(goal, place);
  const other = `; the site file of this command has another place for ${name} than that of the gateway`;
  return [
    {
      ...placeStart,
      verdict: isAtPlace && !isOther ? 'ok' : 'wrong',
      detail: `${distanceM.toFixed(2)} m from ${name}, at rest${isOther ? other : ''}`,
      remedy: isOther
        ? 'Use the site file of the gateway, or restart `gw serve` after a change of it.'
        : isAtPlace
          ? null
          : 'Compare the place in the site file with the position of the robot.',
    },
    turnDeg === null || isAtHeading === null
      ? notApplicable(headingStart, `${name} has no heading: any is right`)
      : {
          ...headingStart,
          verdict: isAtHeading ? 'ok' : 'wrong',
          detail: `${at.yawDeg.toFixed(1)}° reported, ${goal.yawDeg?.toFixed(1)}° ordered: ${turnDeg.toFixed(1)}° off`,
          remedy: isAtHeading ? null : 'Do not continue: an angle unit may be wrong. Run `gw chassis probe`.',
        },
  ];
}

function isSame(goal: ReportedArrival['goal'], { xM, yM, yawDeg }: NamedPlace): boolean {
  return goal.xM === xM && goal.yM === yM && goal.yawDeg === (yawDeg ?? null);
}
