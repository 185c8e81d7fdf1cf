import type { PlanSample, PoseSample } from '../../../src/lib/motion/trial/samples.ts';

/**
 * A robot model of this test only: it turns in place, drives straight, turns again. It shares no code with the
 * simulator. Headings are true degrees; an encoding converts them into reports.
 */
export const encodings = {
  'degrees within 180': (deg: number) => deg - 360 * Math.round(deg / 360),
  'degrees from 0 to 360': (deg: number) => ((deg % 360) + 360) % 360,
  'degrees unwrapped': (deg: number, turns: number) => deg + 360 * turns,
  'clockwise degrees': (deg: number) => -(deg - 360 * Math.round(deg / 360)),
  'radians within pi': (deg: number) => rad(deg - 360 * Math.round(deg / 360)),
  'radians from 0 to 2 pi': (deg: number) => rad(((deg % 360) + 360) % 360),
  'radians unwrapped': (deg: number, turns: number) => rad(deg) + 2 * Math.PI * turns,
  'gradians within 200': (deg: number) => (deg - 360 * Math.round(deg / 360)) / 0.9,
  'gradians from 0 to 400': (deg: number) => (((deg % 360) + 360) % 360) / 0.9,
} as const satisfies Record<string, (deg: number, turns: number) => number>;
export type Encoding = keyof typeof encodings;

const rad = (deg: number) => (deg / 180) * Math.PI;

export interface RobotModel {
  readonly encoding: Encoding;
  readonly appliesTarget: 'radians' | 'degrees' | 'not at all';
  /** Full turns since power-on, for unwrapped encodings. */
  readonly turns: number;
  readonly xM: number;
  readonly yM: number;
  /** Its true heading before. */
  readonly startDeg: number;
  readonly isBackwards: boolean;
  readonly speedMS: number;
  readonly turnDegS: number;
  /** Between two messages. */
  readonly everyMs: number;
  /** Messages that are delayed and arrive together: start and duration; null for none. */
  readonly stall: { readonly atMs: number; readonly forMs: number } | null;
  readonly noiseM: number;
  readonly noiseDeg: number;
  /** The localisation jumps during the drive by this offset and angle; null: it does not. */
  readonly jump: { readonly atMs: number; readonly byM: number; readonly byDeg: number; readonly turns: number } | null;
  /** How far from the heading that it applies it ends. */
  readonly endsOffDeg: number;
  readonly drives: 'to the goal' | 'not at all' | 'half the way';
}

export interface Wish {
  readonly xM: number;
  readonly yM: number;
  readonly yawDeg: number;
  /** What was sent. */
  readonly sent: number;
}

const MOVE = 7;
/** Its rest before and after. */
const REST_MS = 9_000;

/** The messages of this robot at a gateway, from some seconds before the order until some seconds after its end. */
export function samplesOf(robot: RobotModel, wish: Wish, chance: () => number) {
  const sentAtMs = REST_MS;
  const short = (deg: number) => deg - 360 * Math.round(deg / 360);
  const truth: { atMs: number; xM: number; yM: number; deg: number }[] = [];
  const state = { atMs: 0, xM: robot.xM, yM: robot.yM, deg: robot.startDeg };
  const stepMs = 10;
  const step = () => {
    truth.push({ ...state });
    state.atMs += stepMs;
  };
  const pause = (ms: number) => {
    for (let left = ms; left > 0; left -= stepMs) step();
  };
  const turnTo = (deg: number) => {
    for (let rest = short(deg - state.deg); Math.abs(rest) > 1e-6; rest = short(deg - state.deg)) {
      const maxTurnDeg = (robot.turnDegS * stepMs) / 1_000;
      state.deg += Math.max(-maxTurnDeg, Math.min(maxTurnDeg, rest));
      step();
    }
  };
  pause(sentAtMs);
  const wayM = Math.hypot(wish.xM - state.xM, wish.yM - state.yM);
  const course = (Math.atan2(wish.yM - state.yM, wish.xM - state.xM) * 180) / Math.PI;
  if (robot.drives !== 'not at all') {
    turnTo(robot.isBackwards ? course + 180 : course);
    const toM = robot.drives === 'half the way' ? wayM / 2 : wayM;
    for (let drivenM = 0; drivenM < toM; ) {
      const by = Math.min((robot.speedMS * stepMs) / 1_000, toM - drivenM);
      drivenM += by;
      state.xM += by * Math.cos(rad(course));
      state.yM += by * Math.sin(rad(course));
      step();
    }
    if (robot.appliesTarget !== 'not at all') {
      const applied = robot.appliesTarget === 'radians' ? (wish.sent * 180) / Math.PI : wish.sent;
      turnTo(applied + robot.endsOffDeg);
    }
  } else pause(2_000);
  const endedAtMs = state.atMs + 30;
  pause(REST_MS);

  const noise = (by: number) => (chance() * 2 - 1) * by;
  const poses: PoseSample[] = [];
  for (let atMs = 0; atMs < state.atMs; atMs += robot.everyMs) {
    const now = truth[Math.floor(atMs / stepMs)];
    if (now === undefined) break;
    const { jump, stall } = robot;
    const jumped = jump !== null && atMs >= jump.atMs ? jump : { byM: 0, byDeg: 0, turns: 0 };
    const held = stall !== null && atMs >= stall.atMs && atMs < stall.atMs + stall.forMs;
    const deg = now.deg + jumped.byDeg + noise(robot.noiseDeg);
    poses.push({
      atMs: held && stall !== null ? stall.atMs + stall.forMs + poses.length * 1e-3 : atMs,
      xM: now.xM + jumped.byM + noise(robot.noiseM),
      yM: now.yM + noise(robot.noiseM),
      ori: encodings[robot.encoding](deg, robot.turns + jumped.turns),
    });
  }
  const plan = (atMs: number, moveState: string): PlanSample => ({ atMs, actionId: MOVE, moveState, failReason: 0 });
  const plans = [plan(sentAtMs + 20, 'moving'), plan(endedAtMs - 10, 'succeeded')];
  return { poses, plans, sentAtMs, endedAtMs, moveId: MOVE };
}
