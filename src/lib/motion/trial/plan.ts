import { degrees } from '../../angle/index.ts';
import { GwError } from '../../error/index.ts';
import { chosen } from '../../evidence/index.ts';
import type { PlaceMap, Site } from '../../site/index.ts';
import type { Order } from '../model.ts';
import { dockOrder } from '../run/tours.ts';
import { trialKinds } from '../verify-remedy.ts';
import { MAX_STOP_WAY_M, MAX_WAY_M } from './gate.ts';
import { type Place, shortWay, TURN_DEG } from './judge/numbers.ts';
import type { TrialRequest } from './model.ts';

/**
 * Final headings at which degrees, gradians and radians cannot be confused: no value in radians is near them, and the number
 * of the same heading in gradians (135° are 150 gon) is farther away than an arrival may be. Project decision.
 */
const unambiguousDeg: readonly number[] = [135, -135, 120, -120, 150, -150];
/**
 * On a course of 90 degrees a heading that counts clockwise reads as that of a robot that drives backwards, so courses are
 * diagonal. Project decision.
 */
const coursesDeg: readonly number[] = [135, -135, 45, -45];
/** Minimum distance of a requested course from 0 and 180, and from ±90 degrees. */
const MIN_FROM_AXIS_DEG = 30;
const MIN_FROM_SIDE_DEG = 20;
/** Turn from the course to the final heading: large enough to measure, and less than a half turn, which is ambiguous. */
const [MIN_TURN_DEG, MAX_TURN_DEG] = [80, 140];
const DEFAULT_DISTANCE_M = 0.8;
const MIN_DISTANCE_M = 0.3;
const MAX_WHO = 100;

/** Reported pose of the standing robot, on its current map. */
export interface Stance extends Place {
  readonly ori: number;
  readonly map: PlaceMap | null;
}

/**
 * The order of a trial from the present pose. Without a requested course a move takes the nearest diagonal one, and
 * a stop goes straight ahead. Throws SITE_FILE_INVALID without a dock in the site file.
 */
export function planTrial(
  request: TrialRequest,
  from: Stance,
  site: Pick<Site, 'dock' | 'path' | 'maps' | 'chassis'>,
): Order {
  const source = `trial of ${request.kind}, by ${request.who}`;
  const { map } = from;
  switch (request.kind) {
    case 'stop':
      return {
        kind: 'move',
        goal: chosen({ ...ahead(from, request.towardsDeg ?? from.ori, request.distanceM ?? MAX_WAY_M), map }, source),
      };
    case 'move': {
      const course = request.towardsDeg ?? nearest(coursesDeg, from.ori);
      const place = ahead(from, course, request.distanceM ?? DEFAULT_DISTANCE_M);
      return { kind: 'move', goal: chosen({ ...place, map, yawDeg: degrees(finalHeading(course, from.ori)) }, source) };
    }
    case 'pose':
      return {
        kind: 'pose',
        pose: chosen({ ...placeOf(from), map, yawDeg: degrees(headingsToSet(from.ori)[0]) }, source),
      };
    case 'dock': {
      const order = dockOrder(site);
      if (order !== undefined) return order;
      throw new GwError('SITE_FILE_INVALID', `${site.path} has no dock, so docking cannot be verified.`, {
        remedy: 'Measure the pose of the dock, and enter it as `dock` in the site file.',
      });
    }
  }
}

/** Throws USAGE with all problems of a request. */
export function checkRequest({ kind, who, towardsDeg, distanceM }: TrialRequest): void {
  const problems: string[] = [];
  if (!trialKinds.includes(kind)) problems.push(`unknown trial kind '${String(kind).slice(0, 50)}'`);
  if (who.trim() === '' || who.length > MAX_WHO || /\p{Cc}/u.test(who)) {
    problems.push(`the person beside the robot must be named, in at most ${MAX_WHO} characters`);
  }
  if (towardsDeg !== undefined) {
    if (kind !== 'move' && kind !== 'stop') problems.push(`a trial of ${kind} takes no course`);
    else if (!Number.isFinite(towardsDeg) || Math.abs(towardsDeg) > TURN_DEG)
      problems.push(`the course must be within ±${TURN_DEG}°`);
    else if (kind === 'move' && Math.abs(shortWay(towardsDeg, 180)) < MIN_FROM_AXIS_DEG) {
      problems.push(
        `on the course ${towardsDeg}° degrees and radians cannot be distinguished; choose one at least ${MIN_FROM_AXIS_DEG}° from 0 and 180`,
      );
    } else if (kind === 'move' && Math.abs(shortWay(towardsDeg - 90, 180)) < MIN_FROM_SIDE_DEG) {
      problems.push(
        `on the course ${towardsDeg}° a heading that counts clockwise cannot be distinguished from a robot that drives backwards; choose one at least ${MIN_FROM_SIDE_DEG}° from 90 and -90, such as 45`,
      );
    }
  }
  if (distanceM !== undefined) {
    const [minM, maxM] = kind === 'stop' ? [MAX_WAY_M, MAX_STOP_WAY_M] : [MIN_DISTANCE_M, MAX_WAY_M];
    if (kind !== 'move' && kind !== 'stop') problems.push(`a trial of ${kind} takes no distance`);
    else if (!(distanceM >= minM && distanceM <= maxM)) {
      problems.push(`the distance of a trial of ${kind} must be ${minM} to ${maxM} m`);
    }
  }
  if (problems.length > 0) throw new GwError('USAGE', `Invalid trial: ${problems.join('; ')}.`);
}

/** Two opposite headings, unlike any value in radians, and in gradians 10 off each; the one farther from the present heading first. */
export function headingsToSet(presentDeg: number): readonly [number, number] {
  return Math.abs(shortWay(presentDeg - 90, TURN_DEG)) >= 90 ? [90, -90] : [-90, 90];
}

function placeOf({ xM, yM }: Place): Place {
  return { xM, yM };
}

/** A place ahead, rounded to millimetres. */
function ahead({ xM, yM }: Place, courseDeg: number, wayM: number): Place {
  const course = (courseDeg * Math.PI) / 180;
  const round = (value: number) => Math.round(value * 1_000) / 1_000;
  return { xM: round(xM + wayM * Math.cos(course)), yM: round(yM + wayM * Math.sin(course)) };
}

function nearest(headings: readonly number[], to: number): number {
  const off = (heading: number) => Math.abs(shortWay(heading - to, TURN_DEG));
  return headings.toSorted((a, b) => off(a) - off(b))[0] ?? 45;
}

/** An unambiguous heading with a clear turn from the course, as far as possible from the present heading. */
function finalHeading(course: number, before: number): number {
  const off = (heading: number) => Math.abs(shortWay(heading - before, TURN_DEG));
  const candidates = unambiguousDeg.filter((heading) => {
    const turn = Math.abs(shortWay(heading - course, TURN_DEG));
    return turn >= MIN_TURN_DEG && turn <= MAX_TURN_DEG;
  });
  return candidates.toSorted((a, b) => off(b) - off(a))[0] ?? 135;
}
