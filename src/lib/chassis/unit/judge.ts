import type { PoseUnitVerdict } from '../model.ts';
import { createCourses } from './course.ts';
import type { PoseSample } from './sample.ts';
import { createSwiftTurn } from './swift.ts';
import { createSteadyTurn, createTurnInRange, radianRanges } from './turn.ts';

export interface UnitJudge {
  /** One sample. False when one of its numbers is not finite; it was not counted then. */
  add(sample: PoseSample): boolean;
  /** The samples that follow do not continue those before: a connection was lost. Proofs and doubts stand. */
  interrupt(): void;
  verdict(): PoseUnitVerdict;
}

/**
 * Judges in which unit `/tracked_pose` carries `ori`, by what cannot be otherwise. A chassis may report degrees, or
 * radians within ±π, within 0 to 2π, or unwrapped, which may be many turns away from 0 since its start; so one value
 * alone decides nothing.
 * - Degrees: a change that continuous radians could not have reached, or a row of courses that fit degrees only.
 * - Radians: a seam of one radian range passed twice in one direction, or a row of courses that fit radians only.
 * - Otherwise nothing is decided. Signs of radians that prove nothing are a doubt, which takes degrees back until
 *   they are proven again.
 *
 * Radians contradict the measured fact and win over everything else.
 * @source specification, 'Angles (critical rule)' (BELEGT: degrees); the rules of judging are project decisions
 */
export function createUnitJudge(): UnitJudge {
  const swift = createSwiftTurn();
  const turns = radianRanges.map(createTurnInRange);
  const steady = createSteadyTurn();
  const courses = createCourses();
  let samples = 0;
  let largest: number | null = null;
  let degrees: string | null = null;
  let radians: string | null = null;
  let doubt: string | null = null;
  /** Degrees were proven over the connection of now. */
  let isProvenHere = false;

  function degreesProven(reason: string): void {
    degrees = reason;
    doubt = null;
    isProvenHere = true;
    for (const turn of turns) turn.forget();
    steady.forget();
    courses.forget();
  }

  return {
    add(sample) {
      const { ori, xM, yM, atMs } = sample;
      if (!(Number.isFinite(ori) && Number.isFinite(xM) && Number.isFinite(yM) && Number.isFinite(atMs))) return false;
      samples += 1;
      largest = Math.max(largest ?? 0, Math.abs(ori));
      // Nothing takes this back.
      if (radians !== null) return true;
      const change = swift.add(sample);
      if (change !== null) {
        degreesProven(change);
        return true;
      }
      for (const turn of turns) {
        const signs = turn.add(sample);
        radians ??= signs.proof;
        doubt ??= signs.doubt;
      }
      const creep = steady.add(sample);
      // Over a connection that has proven degrees, a slow change in place is a robot that creeps by a few of them.
      if (!isProvenHere) doubt ??= creep;
      const course = courses.add(sample);
      if (course === null) return true;
      if (course.unit === 'degrees') degreesProven(course.reason);
      else if (course.isProof) radians ??= course.reason;
      else doubt ??= course.reason;
      return true;
    },
    interrupt() {
      isProvenHere = false;
      swift.restart();
      for (const turn of turns) turn.forget();
      steady.forget();
      courses.interrupt();
    },
    verdict() {
      return { samples, largest, ...judge({ samples, largest, degrees, radians, doubt }) };
    },
  };
}

interface Found {
  readonly samples: number;
  readonly largest: number | null;
  readonly degrees: string | null;
  readonly radians: string | null;
  readonly doubt: string | null;
}

function judge(found: Found): Pick<PoseUnitVerdict, 'verdict' | 'reason' | 'doubt'> {
  const { samples, largest, degrees, radians, doubt } = found;
  if (radians !== null) {
    const also = degrees === null ? '' : `; degrees had been taken for proven before: ${degrees}`;
    return { verdict: 'radians', reason: `${radians}${also}`, doubt: null };
  }
  if (doubt !== null) return { verdict: 'not-decided', reason: doubt, doubt };
  if (degrees !== null) return { verdict: 'degrees', reason: degrees, doubt: null };
  const reason =
    samples === 0
      ? 'no pose was received'
      : `the heading did not change in a way that only degrees or only radians can (largest ${(largest ?? 0).toFixed(3)})`;
  return { verdict: 'not-decided', reason, doubt: null };
}
