import type { PoseUnitVerdict } from '../model.ts';
import type { PoseSample, PoseUnit } from '../pose-sample.ts';
import { createCourses } from './course.ts';
import { createSteadyTurn, createTurnInRange, radianRanges } from './turn.ts';

/**
 * Radians per second. Project decision: no robot turns faster than once a second. Delivery robots turn at 20 to 120
 * degrees per second, by motor and by hand.
 */
const MAX_TURN_RATE = 2 * Math.PI;
/**
 * Project decision: samples are delayed by at most this long and then arrive all at once. The heartbeat of the topic
 * stream ends a connection that is silent for 1.4 s; the rest is for pauses of this process.
 */
const MAX_STALL_S = 5;
/**
 * Project decision: a jump of the heading between two samples counts for at most four turns. A relocalisation or a
 * pose set by a person makes one jump; unwrapped radians may then change by many turns.
 */
const MAX_JUMP = 4 * 2 * Math.PI;
/** Project decision: this many jumps in the same direction, shortly after each other, are still no proof. */
const ALLOWED_JUMPS = 2;
/**
 * Project decision: a sample that arrives sooner after another one was delayed, and the time between the two is
 * meaningless.
 */
const MIN_GAP_MS = 10;
/** How far a heading in radians can be ahead of its fastest turn. */
const MAX_AHEAD = MAX_TURN_RATE * MAX_STALL_S + ALLOWED_JUMPS * MAX_JUMP;
/**
 * Project decisions: what shows degrees again on a connection, where they were proven before on this device. A jump shows
 * nothing, and neither does what arrives after a stall, which may have been measured all through it.
 */
const SHOWN_AHEAD = 20;
const MAX_SHOWN_STEP = 15;
const STALL_MS = 1_200;
/**
 * Project decisions: a heading that leaps by more than this, and faster than any robot turns, was found anew, or comes in
 * another unit from here on.
 */
const LEAP_DEG = 15;
const LEAP_DEG_S = 180;
const AFTER_STALL_MS = 2_000;

export interface UnitJudge {
  /** Adds a sample. False when one of its numbers is not finite; it is not counted then. */
  add(sample: PoseSample): boolean;
  /**
   * The connection was lost: later samples do not continue the earlier ones. Doubts and a proof of radians are kept; a proof
   * of degrees counts again when the next connection shows them.
   */
  interrupt(): void;
  verdict(): PoseUnitVerdict;
}

/**
 * Judges the unit of `ori` in `/tracked_pose` by what only one unit can produce. A chassis may report degrees, or
 * radians within ±π, within 0 to 2π, or unwrapped, which may be many turns away from 0; so one value alone decides
 * nothing.
 * - Degrees: a change that continuous radians could not have reached, or a row of courses that fit degrees only.
 * - Radians: a seam of one radian range passed twice in one direction, or a row of courses that fit radians only.
 * - Otherwise nothing is decided. Indications of radians that prove nothing are a doubt, which revokes degrees until
 *   they are proven again. So is a row of courses that fit neither: only courses that fit degrees end that one, since a
 *   turn on the spot shows neither in which direction the angles grow nor where 0 lies.
 *
 * Radians contradict the measured fact and win over everything else.
 * @source specification, 'Angles (critical rule)' (BELEGT: degrees); the rules of judging are project decisions
 */
export function createUnitJudge(): UnitJudge {
  const swift = createSwiftTurn({ ahead: MAX_AHEAD });
  const again = createSwiftTurn({ ahead: SHOWN_AHEAD, maxStep: MAX_SHOWN_STEP });
  const turns = radianRanges.map(createTurnInRange);
  const steady = createSteadyTurn();
  const courses = createCourses();
  let samples = 0;
  let largest: number | null = null;
  let degrees: string | null = null;
  let radians: string | null = null;
  let doubt: string | null = null;
  /** Courses that fit neither unit. */
  let misfit: string | null = null;
  /** Degrees were proven over the present connection. */
  let isProvenNow = false;
  /** Degrees were proven over an earlier connection. */
  let wasProven: string | null = null;
  /** The present connection shows them, which is a proof only beside an earlier one. */
  let shown: string | null = null;
  let lastMs = Number.POSITIVE_INFINITY;
  let last: PoseSample | null = null;
  let stalledUntilMs = Number.NEGATIVE_INFINITY;

  function showsAgain(sample: PoseSample): string | null {
    if (sample.atMs - lastMs > STALL_MS) {
      again.restart();
      stalledUntilMs = sample.atMs + AFTER_STALL_MS;
    }
    lastMs = sample.atMs;
    return sample.atMs < stalledUntilMs ? null : again.add(sample);
  }

  /** What proves degrees of earlier headings does not hold for the next ones; those have to show them again. */
  function beginAnew(): void {
    wasProven ??= degrees;
    degrees = null;
    isProvenNow = false;
    shown = null;
    swift.restart();
    again.restart();
  }

  function leaps(sample: PoseSample): boolean {
    const before = last ?? sample;
    last = sample;
    return Math.abs(shortWay(sample.ori - before.ori)) > LEAP_DEG + (LEAP_DEG_S * (sample.atMs - before.atMs)) / 1_000;
  }

  function degreesProven(reason: string): void {
    degrees = reason;
    doubt = null;
    isProvenNow = true;
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
      // A proof of radians is final.
      if (radians !== null) return true;
      if (leaps(sample)) beginAnew();
      shown ??= showsAgain(sample);
      const change =
        swift.add(sample) ?? (wasProven !== null && !isProvenNow && doubt === null && misfit === null ? shown : null);
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
      // Over a connection that has proven degrees, a slow change in place is a robot that turns by a few degrees.
      if (!isProvenNow) doubt ??= creep;
      const course = courses.add(sample);
      if (course === null) return true;
      if (course.unit === 'neither') misfit ??= course.reason;
      else if (course.unit === 'degrees') {
        misfit = null;
        degreesProven(course.reason);
      } else if (course.isProof) radians ??= course.reason;
      else doubt ??= course.reason;
      return true;
    },
    interrupt() {
      // The device behind the next connection may have restarted with another unit.
      beginAnew();
      last = null;
      lastMs = Number.POSITIVE_INFINITY;
      for (const turn of turns) turn.forget();
      steady.forget();
      courses.interrupt();
    },
    verdict() {
      return {
        samples,
        largest,
        ...judge({ samples, largest, degrees, wasProven, radians, doubt: doubt ?? misfit }),
        ...(shown !== null && radians === null && { shown: true as const }),
        ...(misfit !== null && radians === null && { misfit: true }),
      };
    },
  };
}

/**
 * Detects a change of the heading that radians could not reach, normalised or unwrapped: one that exceeds the fastest
 * turn by more than `ahead`, which is what stalls and jumps explain. A seam of normalised radians reverses the turn in one
 * jump, so it adds nothing here. A larger jump than `maxStep` begins anew.
 */
function createSwiftTurn({ ahead: maxAhead, maxStep = Number.POSITIVE_INFINITY }: { ahead: number; maxStep?: number }) {
  let last: PoseSample | null = null;
  const ahead = [newCourse(1), newCourse(-1)] as const;

  return {
    /** One sentence when this sample proved degrees, otherwise null. The next proof starts from zero. */
    add(sample: PoseSample): string | null {
      if (last === null) {
        last = sample;
        for (const course of ahead) course.sinceMs = sample.atMs;
        return null;
      }
      const gapMs = sample.atMs - last.atMs;
      if (gapMs < MIN_GAP_MS) return null;
      // The short way round 360 degrees: it cannot hide a seam of a heading in radians.
      const step = shortWay(sample.ori - last.ori);
      const counted = Math.max(-MAX_JUMP, Math.min(MAX_JUMP, step));
      last = sample;
      if (Math.abs(step) > maxStep) {
        for (const course of ahead) Object.assign(course, newCourse(course.direction), { sinceMs: sample.atMs });
        return null;
      }
      for (const course of ahead) {
        course.excess += course.direction * counted - (MAX_TURN_RATE * gapMs) / 1_000;
        if (course.excess <= 0) {
          course.excess = 0;
          course.changed = 0;
          course.sinceMs = sample.atMs;
          continue;
        }
        course.changed += course.direction * step;
        if (course.excess <= maxAhead) continue;
        const seconds = (sample.atMs - course.sinceMs) / 1_000;
        const reason = `the heading changed by ${course.changed.toFixed(0)} in one direction within ${seconds.toFixed(1)} s, faster than radians can`;
        this.restart();
        return reason;
      }
      return null;
    },
    /** The next sample does not continue the previous ones. */
    restart(): void {
      last = null;
      for (const course of ahead) Object.assign(course, newCourse(course.direction));
    },
  };
}

function newCourse(direction: 1 | -1) {
  return { direction, excess: 0, changed: 0, sinceMs: 0 };
}

function shortWay(change: number): number {
  return change - 360 * Math.round(change / 360);
}

/**
 * The unit in which a heading of the present connection is read: also where it shows degrees and does not prove them. Until
 * then both readings have to agree: the device behind a new connection may have restarted with another unit.
 */
export function shownUnit({ verdict, doubt, shown }: PoseUnitVerdict): PoseUnit {
  return verdict === 'not-decided' && doubt === null && shown === true ? 'degrees' : verdict;
}

interface Found {
  readonly samples: number;
  readonly largest: number | null;
  readonly degrees: string | null;
  readonly wasProven: string | null;
  readonly radians: string | null;
  readonly doubt: string | null;
}

function judge(found: Found): Pick<PoseUnitVerdict, 'verdict' | 'reason' | 'doubt'> {
  const { samples, largest, degrees, wasProven, radians, doubt } = found;
  const before = degrees ?? wasProven;
  if (radians !== null) {
    const also = before === null ? '' : `; degrees had been considered proven before: ${before}`;
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
