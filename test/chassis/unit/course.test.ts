import { describe, expect, it } from 'vitest';
import { createUnitJudge, type PoseSample } from '../../../src/lib/chassis/index.ts';
import { type CourseSigns, createCourses, headingOnCourse } from '../../../src/lib/chassis/unit/course.ts';

/** One metre straight on in 2 s. Course in degrees, heading as received. */
function leg(courseDeg: number, ori: number): PoseSample[] {
  const course = (courseDeg * Math.PI) / 180;
  return Array.from({ length: 21 }, (_, i) => ({
    ori,
    xM: i * 0.05 * Math.cos(course),
    yM: i * 0.05 * Math.sin(course),
    atMs: i * 100,
  }));
}

/** Courses whose headings fit in one unit and not in the other. */
const headings = [65, 110, 145, 210, 245, 290, 330];
const inDegrees = headings.map((deg) => leg(deg, deg));
const inRadians = headings.map((deg) => leg(deg, (deg * Math.PI) / 180));
/** 40 degrees beside the course in either reading. */
const misfit = leg(40, 80);

function signsOf(courses: ReturnType<typeof createCourses>, legs: readonly (readonly PoseSample[])[]): CourseSigns[] {
  return legs.flatMap((samples) => {
    courses.interrupt();
    return samples.flatMap((sample) => courses.add(sample) ?? []);
  });
}
const sentence = (count: number, unit: string, other: string) =>
  `the robot drove ${count} different courses in a row that fit its heading read as ${unit} and not as ${other}`;

describe('courses of a robot', () => {
  it('name the unit that they fit and the other one, with their count', () => {
    expect(signsOf(createCourses(), inDegrees.slice(0, 6))).toEqual([
      { unit: 'degrees', isProof: true, reason: sentence(6, 'degrees', 'radians') },
    ]);
    expect(signsOf(createCourses(), inRadians.slice(0, 6))).toEqual([
      ...[2, 3, 4, 5].map((n) => ({ unit: 'radians', isProof: false, reason: sentence(n, 'radians', 'degrees') })),
      { unit: 'radians', isProof: true, reason: sentence(6, 'radians', 'degrees') },
    ]);
  });

  it('are counted from the beginning after one that does not fit', () => {
    const courses = createCourses();
    expect(signsOf(courses, [...inDegrees.slice(0, 5), misfit, ...inDegrees.slice(0, 5)])).toEqual([]);
    expect(signsOf(courses, [inDegrees[5] ?? []])).toHaveLength(1);
    const others = createCourses();
    expect(signsOf(others, [...inRadians.slice(0, 5), misfit]).at(-1)?.reason).toContain(' 5 different');
    expect(signsOf(others, [inRadians[5] ?? []])).toEqual([]);
    expect(signsOf(others, [inRadians[6] ?? []])).toMatchObject([{ reason: sentence(2, 'radians', 'degrees') }]);
  });

  it('that were counted before a decision do not count after it', () => {
    const courses = createCourses();
    signsOf(courses, inRadians.slice(0, 5));
    courses.forget();
    expect(signsOf(courses, [inRadians[5] ?? []])).toEqual([]);
  });
});

describe('a heading on the newest straight course', () => {
  it.each<[string, readonly PoseSample[], string]>([
    ['of a robot that drives along it', leg(65, 65), 'fits'],
    ['of one that drives backwards', leg(65, -115), 'fits'],
    ['that counts clockwise', leg(65, -65), 'misfits'],
    ['in radians', leg(65, 1.13), 'misfits'],
    ['from another axis', leg(65, -25), 'misfits'],
    ['15 degrees beside it', leg(65, 80), 'unclear'],
    ['of a robot at rest', leg(65, 65).map((pose) => ({ ...pose, xM: 0, yM: 0 })), 'unclear'],
  ])('%s', (_what, poses, expected) => {
    expect(headingOnCourse(poses)).toBe(expected);
  });

  it('is that of the newest one, and of none across a jump', () => {
    const later = (poses: readonly PoseSample[], xM: number) =>
      poses.map((pose) => ({ ...pose, xM: pose.xM + xM, atMs: pose.atMs + 2_100 }));
    expect(headingOnCourse([...leg(0, 0), ...later(leg(0, 40), 1)])).toBe('misfits');
    expect(headingOnCourse([...leg(0, 0).slice(0, 8), ...later(leg(0, 90).slice(0, 8), 30)])).toBe('unclear');
  });
});

describe('the judge', () => {
  const judgeAfter = (...parts: readonly (readonly PoseSample[])[]) => {
    const judge = createUnitJudge();
    for (const samples of parts) {
      judge.interrupt();
      for (const sample of samples) judge.add(sample);
    }
    return judge;
  };
  /** Two circles in degrees, within 6 s, on the spot. */
  const circles = Array.from({ length: 121 }, (_, i) => ({ ori: 6 * i, xM: 0, yM: 0, atMs: i * 50 }));

  it('counts no course twice: those before a proof of degrees are settled by it', () => {
    expect(judgeAfter(...inRadians.slice(0, 5)).verdict().doubt).not.toBeNull();
    expect(judgeAfter(...inRadians.slice(0, 5), circles, inRadians[5] ?? []).verdict().doubt).toBeNull();
  });

  it('counts the samples after a proof of radians, and still refuses those that are not finite', () => {
    const judge = judgeAfter(...inRadians);
    const { samples, verdict } = judge.verdict();
    expect(verdict).toBe('radians');
    expect(judge.add({ ori: 500, xM: 0, yM: 0, atMs: 0 })).toBe(true);
    expect(judge.add({ ori: Number.NaN, xM: 0, yM: 0, atMs: 0 })).toBe(false);
    expect(judge.verdict()).toMatchObject({ verdict: 'radians', samples: samples + 1, largest: 500 });
  });
});
