import type { PoseSample } from '../pose-sample.ts';

/** Two legs of this length, one after the other, make a course. Project decision: well above the noise of positions. */
const LEG_M = 0.25;
/** Project decision: a larger distance between two samples, beyond the speed below, is a relocalisation. */
const NOISE_M = 0.1;
const MAX_SPEED_M_S = 3;
/** Project decision: a leg that takes longer is not driving. */
const MAX_LEG_MS = 10_000;
/** Minimum samples of a leg: one alone may be a jump. Project decision. */
const MIN_LEG_SAMPLES = 2;
/** Project decision: legs that differ by more are not a straight course. */
const STRAIGHT_RAD = 0.2;
/** Project decisions: a heading fits a course within 10 degrees, and does not fit it from 20 degrees on. */
const FIT_RAD = 0.175;
const MISFIT_RAD = 0.35;
/**
 * Project decisions: a course is a different one when it differs by 30 degrees from the one counted before, and the
 * heading by 20 degrees. A robot that is pushed back and forth without a turn adds no evidence.
 */
const OTHER_COURSE_RAD = 0.52;
const OTHER_HEADING_RAD = 0.35;
/**
 * Project decision: a heading read in the wrong unit fits one course in nine by chance, so six in a row have a chance
 * of one in half a million. Two are enough for a doubt.
 */
const PROVING_COURSES = 6;
const DOUBTFUL_COURSES = 2;
/** Project decision: as many courses that fit neither reading are a doubt; fewer may be a push or a relocalisation. */
const MISFITTING_COURSES = 6;

export interface CourseSigns {
  /** The reading that fits. */
  readonly unit: 'degrees' | 'radians' | 'neither';
  readonly isProof: boolean;
  /** One sentence. */
  readonly reason: string;
}

interface Leg {
  readonly from: PoseSample;
  readonly to: PoseSample;
  readonly course: number;
}

/**
 * Compares the direction of travel with the heading, read as degrees and as radians. The robot may drive backwards, so
 * a heading fits in both directions. 0 along +x and counter-clockwise angles are HINWEIS (vendor); where that does not
 * hold neither reading fits for long, which is a sign of its own: an order with a heading is not to be trusted then,
 * whichever of the two is the reason.
 */
export function createCourses() {
  let start: PoseSample | null = null;
  let last: PoseSample | null = null;
  let samples = 0;
  let leg: Leg | null = null;
  const runs = { degrees: newRun(), radians: newRun(), neither: newRun() };

  function begin(sample: PoseSample): null {
    start = sample;
    last = sample;
    samples = 0;
    leg = null;
    return null;
  }

  function count(unit: 'degrees' | 'radians', course: number, heading: number): CourseSigns | null {
    const run = runs[unit];
    if (run.count > 0) {
      if (Math.abs(shortWay(course - run.course, 2 * Math.PI)) < OTHER_COURSE_RAD) return null;
      if (Math.abs(shortWay(heading - run.heading, 2 * Math.PI)) < OTHER_HEADING_RAD) return null;
    }
    run.count += 1;
    run.course = course;
    run.heading = heading;
    const isProof = run.count >= PROVING_COURSES;
    if (!isProof && (unit === 'degrees' || run.count < DOUBTFUL_COURSES)) return null;
    const other = unit === 'degrees' ? 'radians' : 'degrees';
    if (isProof && unit === 'degrees') runs.neither.count = 0;
    const reason = `the robot drove ${run.count} different courses in a row that fit its heading read as ${unit} and not as ${other}`;
    if (isProof) run.count = 0;
    return { unit, isProof, reason };
  }

  /** A course that fits neither reading: a robot that is pushed aside with one heading counts once. */
  function countMisfit(course: number, ori: number): CourseSigns | null {
    const run = runs.neither;
    if (run.count > 0) {
      if (Math.abs(shortWay(course - run.course, 2 * Math.PI)) < OTHER_COURSE_RAD) return null;
      const changeDeg = Math.abs(shortWay(ori - run.heading, 360));
      const isSmall = Math.max(Math.abs(ori), Math.abs(run.heading)) <= 2 * Math.PI;
      const changeRad = isSmall ? Math.abs(shortWay(ori - run.heading, 2 * Math.PI)) : 0;
      if ((changeDeg * Math.PI) / 180 < OTHER_HEADING_RAD && changeRad < OTHER_HEADING_RAD) return null;
    }
    run.count += 1;
    run.course = course;
    run.heading = ori;
    if (run.count < MISFITTING_COURSES) return null;
    return {
      unit: 'neither',
      isProof: false,
      reason:
        `the robot drove ${run.count} different courses that fit its heading read neither as degrees nor as radians: ` +
        'it is in another unit, or it grows clockwise, or its 0 is not along +x',
    };
  }

  function judge(first: Leg, second: Leg): CourseSigns | null {
    if (Math.abs(shortWay(second.course - first.course, 2 * Math.PI)) > STRAIGHT_RAD) return null;
    const course = Math.atan2(second.to.yM - first.from.yM, second.to.xM - first.from.xM);
    const headings = [first.from.ori, first.to.ori, second.to.ori];
    const degrees = readingOf(headings, course, Math.PI / 180);
    const radians = readingOf(headings, course, 1);
    if (degrees === 'misfits') runs.degrees.count = 0;
    if (radians === 'misfits') runs.radians.count = 0;
    // Radians fit one course in nine by chance; only degrees, which were measured, end the run.
    if (degrees === 'fits') runs.neither.count = 0;
    if (degrees === 'fits' && radians === 'misfits') return count('degrees', course, (second.to.ori * Math.PI) / 180);
    if (radians === 'fits' && degrees === 'misfits') return count('radians', course, second.to.ori);
    if (degrees === 'misfits' && radians === 'misfits') return countMisfit(course, second.to.ori);
    return null;
  }

  return {
    add(sample: PoseSample): CourseSigns | null {
      if (start === null || last === null) return begin(sample);
      const seconds = (sample.atMs - last.atMs) / 1_000;
      const way = Math.hypot(sample.xM - last.xM, sample.yM - last.yM);
      if (way > NOISE_M + MAX_SPEED_M_S * seconds || sample.atMs - start.atMs > MAX_LEG_MS) return begin(sample);
      last = sample;
      if (way > 0) samples += 1;
      const [dx, dy] = [sample.xM - start.xM, sample.yM - start.yM];
      if (samples < MIN_LEG_SAMPLES || dx * dx + dy * dy < LEG_M * LEG_M) return null;
      const next: Leg = { from: start, to: sample, course: Math.atan2(dy, dx) };
      const before = leg;
      leg = next;
      start = sample;
      samples = 0;
      return before === null ? null : judge(before, next);
    },
    /** The next sample does not continue the previous ones; counted courses are kept. */
    interrupt(): void {
      start = null;
    },
    /** The unit is decided for now: no earlier course counts for it. Those that fit neither reading still do. */
    forget(): void {
      start = null;
      runs.degrees.count = 0;
      runs.radians.count = 0;
    },
  };
}

/**
 * Whether the heading, in degrees, fits the newest straight course in these poses, forwards or backwards. 'unclear' without
 * such a course. A turn on the spot shows neither in which direction headings grow nor where 0 lies.
 */
export function headingOnCourse(poses: readonly PoseSample[]): 'fits' | 'misfits' | 'unclear' {
  let newest: 'fits' | 'misfits' | 'unclear' = 'unclear';
  let before: Leg | null = null;
  let from = poses[0];
  let samples = 0;
  for (const [at, pose] of poses.entries()) {
    const last = poses[at - 1];
    if (from === undefined || last === undefined) continue;
    const isJump = wayM(last, pose) > NOISE_M + (MAX_SPEED_M_S * (pose.atMs - last.atMs)) / 1_000;
    if (isJump || pose.atMs - from.atMs > MAX_LEG_MS) {
      before = null;
      from = pose;
      samples = 0;
      continue;
    }
    samples += 1;
    if (samples < MIN_LEG_SAMPLES || wayM(from, pose) < LEG_M) continue;
    const leg: Leg = { from, to: pose, course: Math.atan2(pose.yM - from.yM, pose.xM - from.xM) };
    if (before !== null && Math.abs(shortWay(leg.course - before.course, 2 * Math.PI)) <= STRAIGHT_RAD) {
      const course = Math.atan2(leg.to.yM - before.from.yM, leg.to.xM - before.from.xM);
      const reading = readingOf([before.from.ori, before.to.ori, leg.to.ori], course, Math.PI / 180);
      if (reading !== 'unclear') newest = reading;
    }
    before = leg;
    from = pose;
    samples = 0;
  }
  return newest;
}

function wayM(a: PoseSample, b: PoseSample): number {
  return Math.hypot(b.xM - a.xM, b.yM - a.yM);
}

function newRun() {
  return { count: 0, course: Number.NaN, heading: Number.NaN };
}

function readingOf(headings: readonly number[], course: number, toRadians: number): 'fits' | 'misfits' | 'unclear' {
  let [least, most] = [Number.POSITIVE_INFINITY, 0];
  for (const heading of headings) {
    const error = Math.abs(shortWay(heading * toRadians - course, Math.PI));
    least = Math.min(least, error);
    most = Math.max(most, error);
  }
  if (most <= FIT_RAD) return 'fits';
  return least >= MISFIT_RAD ? 'misfits' : 'unclear';
}

function shortWay(angle: number, circle: number): number {
  return angle - circle * Math.round(angle / circle);
}
