/** What a neighbour tells of itself beside its counters. */
export interface NeighbourState {
  readonly moving: boolean;
  readonly stopped: boolean;
  readonly batteryPercent: number;
  readonly xM: number;
  readonly yM: number;
  readonly yawDeg: number;
}

/** What makes one neighbour different from another. */
export interface NeighbourHabits {
  readonly radiusM: number;
  /** How long it had been about when the simulator began. */
  readonly headStartS: number;
  readonly batteryAtStart: number;
}

/** It drives for a minute, stands, and somebody stops it for a moment. */
const DRIVES_S = 60;
const STANDS_S = 20;
const IS_STOPPED_S = 10;
const CYCLE_S = DRIVES_S + STANDS_S + IS_STOPPED_S;
const SPEED_MS = 0.5;
const EMPTIES_S_PER_PERCENT = 60;
const LOWEST_PERCENT = 5;

export function inventHabits(random: () => number): NeighbourHabits {
  return {
    radiusM: 1 + 4 * random(),
    headStartS: 10_000 * random(),
    batteryAtStart: 60 + Math.floor(41 * random()),
  };
}

/** A robot that goes round in a circle, counter-clockwise, `ageS` after the simulator began. */
export function neighbourState({ radiusM, headStartS, batteryAtStart }: NeighbourHabits, ageS: number): NeighbourState {
  const aboutS = headStartS + ageS;
  const cycles = Math.floor(aboutS / CYCLE_S);
  const inCycleS = aboutS - cycles * CYCLE_S;
  const drivenM = SPEED_MS * (cycles * DRIVES_S + Math.min(inCycleS, DRIVES_S));
  const turns = drivenM / (2 * Math.PI * radiusM);
  const angleDeg = 360 * (turns - Math.floor(turns));
  const angleRad = (angleDeg * Math.PI) / 180;
  // It looks along its way, which is a quarter turn ahead of where it stands; told within half a turn.
  const aheadDeg = angleDeg + 90;
  return {
    moving: inCycleS < DRIVES_S,
    stopped: inCycleS >= DRIVES_S + STANDS_S,
    batteryPercent: Math.max(LOWEST_PERCENT, batteryAtStart - Math.floor(ageS / EMPTIES_S_PER_PERCENT)),
    xM: radiusM * Math.cos(angleRad),
    yM: radiusM * Math.sin(angleRad),
    yawDeg: aheadDeg > 180 ? aheadDeg - 360 : aheadDeg,
  };
}
