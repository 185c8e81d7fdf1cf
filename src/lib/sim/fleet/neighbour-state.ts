/** The state in a heartbeat of a neighbour. */
export interface NeighbourState {
  readonly moving: boolean;
  readonly stopped: boolean;
  readonly batteryPercent: number;
  readonly xM: number;
  readonly yM: number;
  readonly yawDeg: number;
}

/** Random parameters of one neighbour. */
export interface NeighbourTraits {
  readonly radiusM: number;
  /** Uptime when the simulator started. */
  readonly headStartS: number;
  readonly batteryAtStart: number;
}

/** One cycle: driving, standing, then a latched stop. */
const DRIVING_S = 60;
const STANDING_S = 20;
const STOPPED_S = 10;
const CYCLE_S = DRIVING_S + STANDING_S + STOPPED_S;
const SPEED_MS = 0.5;
const DISCHARGE_S_PER_PERCENT = 60;
const MIN_PERCENT = 5;

export function randomTraits(random: () => number): NeighbourTraits {
  return {
    radiusM: 1 + 4 * random(),
    headStartS: 10_000 * random(),
    batteryAtStart: 60 + Math.floor(41 * random()),
  };
}

/** A robot that drives in a circle, counter-clockwise, `ageS` after the start of the simulator. */
export function neighbourState({ radiusM, headStartS, batteryAtStart }: NeighbourTraits, ageS: number): NeighbourState {
  const upS = headStartS + ageS;
  const cycles = Math.floor(upS / CYCLE_S);
  const inCycleS = upS - cycles * CYCLE_S;
  const drivenM = SPEED_MS * (cycles * DRIVING_S + Math.min(inCycleS, DRIVING_S));
  const turns = drivenM / (2 * Math.PI * radiusM);
  const angleDeg = 360 * (turns - Math.floor(turns));
  const angleRad = (angleDeg * Math.PI) / 180;
  // The heading is tangential, a quarter turn ahead of the position; reported in (-180, 180].
  const aheadDeg = angleDeg + 90;
  return {
    moving: inCycleS < DRIVING_S,
    stopped: inCycleS >= DRIVING_S + STANDING_S,
    batteryPercent: Math.max(MIN_PERCENT, batteryAtStart - Math.floor(ageS / DISCHARGE_S_PER_PERCENT)),
    xM: radiusM * Math.cos(angleRad),
    yM: radiusM * Math.sin(angleRad),
    yawDeg: aheadDeg > 180 ? aheadDeg - 360 : aheadDeg,
  };
}
