import type { PoseSample } from '../pose-sample.ts';

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
 * Detects a change of the heading that radians could not reach, normalised or unwrapped: one that exceeds the fastest
 * turn by more than stalls and jumps explain. A seam of normalised radians reverses the turn in one jump, so it adds
 * nothing here.
 */
export function createSwiftTurn() {
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
      for (const course of ahead) {
        course.excess += course.direction * counted - (MAX_TURN_RATE * gapMs) / 1_000;
        if (course.excess <= 0) {
          course.excess = 0;
          course.changed = 0;
          course.sinceMs = sample.atMs;
          continue;
        }
        course.changed += course.direction * step;
        if (course.excess <= MAX_AHEAD) continue;
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
