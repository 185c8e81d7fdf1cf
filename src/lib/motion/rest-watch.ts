import {
  type ChassisSnapshot,
  judgeAfterStop,
  judgeStanding,
  type Obstacle,
  obstaclesIn,
  shownUnit,
} from '../chassis/index.ts';
import type { Clock } from '../lifecycle/index.ts';

/** Watches a robot that a verdict of gw has said to stand: for a while it must not drive without an order. */
export interface RestWatch {
  /** It was seen to stand just now. */
  begin(): void;
  /** An order, or a person, has the robot from here on. */
  end(): void;
  /** That it drives, from the poses of this snapshot: since when it rested, and why, as a clause. The watch ends with it. */
  driveOff(snapshot: ChassisSnapshot): { readonly restedFromMs: number; readonly reason: string } | null;
}

/** Project decision. Later, whoever moves it has nothing to do with the stop or the trial. */
const WATCHED_MS = 60_000;

/**
 * A robot that has gone less has not driven off. A turn on the spot is no way at all: checklists ask a person to turn the
 * robot by hand, also soon after a trial, and whether its wheels have to be released for that is not known. Project decision.
 */
const LEFT_M = 0.3;

/** With one of these a person moves it, or its poses do not say where it is. Project decision. */
const explainsMovement: readonly Obstacle['kind'][] = [
  ...(['emergency-stop', 'wheels-released', 'control-mode', 'mapping', 'position-lost'] as const),
];

interface Rest {
  /** Movement before is explained. */
  fromMs: number;
  readonly untilMs: number;
  /** Since when its poses show that it drives; null: they do not. */
  drivesSinceMs: number | null;
}

export function createRestWatch(clock: Clock): RestWatch {
  let rest: Rest | null = null;

  return {
    begin() {
      const fromMs = clock.monotonicMs();
      rest = { fromMs, untilMs: fromMs + WATCHED_MS, drivesSinceMs: null };
    },
    end() {
      rest = null;
    },
    driveOff(snapshot) {
      const nowMs = clock.monotonicMs();
      if (rest !== null && rest.drivesSinceMs === null && nowMs > rest.untilMs) rest = null;
      if (rest === null || !isDriving(rest, snapshot, nowMs)) return null;
      const { fromMs: restedFromMs } = rest;
      rest = null;
      return { restedFromMs, reason: `it drives without an order, after it had stood: ${snapshot.standing.reason}` };
    },
  };
}

function isDriving(rest: Rest, { values, standing, poses, poseUnit }: ChassisSnapshot, nowMs: number): boolean {
  if (obstaclesIn(values).some(({ kind }) => explainsMovement.includes(kind))) rest.fromMs = nowMs;
  if (standing.verdict !== 'moves') {
    rest.drivesSinceMs = null;
    return false;
  }
  const shown = shownUnit(poseUnit);
  // In radians the noise of a heading in degrees is a turn: both readings have to show it.
  const readings = shown === 'not-decided' ? (['degrees', 'radians'] as const) : [shown];
  const since = { poses, nowMs, acknowledgedAtMs: rest.fromMs, orderedAtMs: null };
  if (!readings.every((unit) => judgeAfterStop({ ...since, unit }).verdict === 'drives-on')) return false;
  rest.drivesSinceMs ??= nowMs;
  const { drivesSinceMs: sinceMs } = rest;
  // A jump, of a localisation or of a pose that another client sets, is over with it.
  if (!readings.every((unit) => judgeStanding({ poses, nowMs, unit, sinceMs }).verdict === 'moves')) return false;
  const [from, newest] = [poses.find(({ atMs }) => atMs >= sinceMs), poses.at(-1)];
  return from !== undefined && newest !== undefined && Math.hypot(newest.xM - from.xM, newest.yM - from.yM) > LEFT_M;
}
