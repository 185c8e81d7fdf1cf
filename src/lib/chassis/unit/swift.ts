import type { PoseSample } from './sample.ts';

/**
 * Project decision: no robot turns faster than once a second, in radians a second. Delivery robots turn at 20 to 120
 * degrees a second, by motor and by hand.
 */
const MAX_TURN_RATE = 2 * Math.PI;
/**
 * Project decision: samples arrive late by at most this long and then all at once. The heartbeat of the topic stream
 * ends a connection that is silent for longer than 1.4 s; the rest is for pauses of this program.
 */
const MAX_STALL_S = 5;
/**
 * Project decision: however far the heading leaps from one sample to the next, it counts for at most four turns. A
 * position found again or set by a person makes one leap; unwrapped radians may fall back by many turns then.
 */
const MAX_LEAP = 4 * 2 * Math.PI;
/** Project decision: so many such leaps in the same direction, shortly after each other, are still no proof. */
const ALLOWED_LEAPS = 2;
/**
 * Project decision: a sample that arrives sooner after another one was held up on its way, and the time between the
 * two says nothing.
 */
const MIN_GAP_MS = 10;
/** What a heading in radians may be ahead of its fastest turn at most. */
const MAX_AHEAD = MAX_TURN_RATE * MAX_STALL_S + ALLOWED_LEAPS * MAX_LEAP;

/**
 * Looks for a change of the heading that radians could not reach, normalised or unwrapped: one that stays ahead of
 * the fastest turn by more than stalls and leaps explain. A seam of normalised radians takes back in one leap what
 * the turn brought, so it brings nothing here.
 */
export function createSwiftTurn() {
  let last: PoseSample | null = null;
  const ahead = [newCourse(1), newCourse(-1)] as const;

  return {
    /** One sentence when the change just proved degrees, otherwise null. The next proof begins anew. */
    add(sample: PoseSample): string | null {
      if (last === null) {
        last = sample;
        for (const course of ahead) course.sinceMs = sample.atMs;
        return null;
      }
      const gapMs = sample.atMs - last.atMs;
      if (gapMs < MIN_GAP_MS) return null;
      // The short way round a circle of degrees: a heading in radians has no seam that this could hide.
      const step = shortWay(sample.ori - last.ori);
      const counted = Math.max(-MAX_LEAP, Math.min(MAX_LEAP, step));
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
    /** The next sample does not continue those before. */
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
