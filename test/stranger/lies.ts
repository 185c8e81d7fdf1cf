import type { Lies, MapNow, Moment, Published } from './chassis.ts';

/** What a lie must not pass as: a stop seen to stand, a robot at rest, an arrival, a verified trial. */
export type Green = 'stop' | 'idle' | 'arrival' | 'verify stop' | 'verify move';

export interface FalseReport {
  readonly lies: () => Lies;
  readonly never: readonly Green[];
  /** It has lied from the beginning of its connection, so that nothing had shown its unit. */
  readonly isFromStart?: true;
  /** Heading of the goal of an arrival, in degrees; 90 by default. */
  readonly goalDeg?: number;
}

const sinceCancel = (now: Moment) => (now.cancelledMs === null ? Number.NEGATIVE_INFINITY : now.ms - now.cancelledMs);
const sinceEnd = (now: Moment) => (now.endedMs === null ? Number.NEGATIVE_INFINITY : now.ms - now.endedMs);
const sinceOrder = (now: Moment) => (now.orderedMs === null ? Number.NEGATIVE_INFINITY : now.ms - now.orderedMs);
const isUnderWay = (now: Moment) => sinceOrder(now) > 0 && now.drivenM > 0.8;
const short = (deg: number) => deg - 360 * Math.round(deg / 360);
const from0 = (deg: number) => ((deg % 360) + 360) % 360;
const rad = (deg: number) => (deg * Math.PI) / 180;

type Moves = ReturnType<NonNullable<Lies['moves']>>;
/** So moves it from this time after its cancel on. */
const afterCancel = (moves: Moves, fromMs = 2_000, untilMs = Number.POSITIVE_INFINITY): NonNullable<Lies['moves']> => {
  return (now) => (sinceCancel(now) >= fromMs && sinceCancel(now) < untilMs ? moves : {});
};

/** Publishes a new pose only where it is due. */
function renewed(
  isDue: (pose: Published, last: Published, sinceMs: number) => boolean,
): NonNullable<Lies['publishes']> {
  let last: Published | null = null;
  let atMs = 0;
  return (pose, { ms }) => {
    if (last === null || isDue(pose, last, ms - atMs)) {
      last = pose;
      atMs = ms;
    }
    return last;
  };
}
const heldFor = (heldMs: number) => renewed((_pose, _last, sinceMs) => sinceMs >= heldMs);
const deadBand = (wayM: number, deg: number) =>
  renewed(
    (pose, last) =>
      Math.hypot(pose.xM - last.xM, pose.yM - last.yM) >= wayM || Math.abs(short(pose.ori - last.ori)) >= deg,
  );
const grid = (cellM: number, cellDeg: number): NonNullable<Lies['publishes']> => {
  const round = (value: number, cell: number) => cell * Math.round(value / cell);
  return ({ xM, yM, ori }) => ({ xM: round(xM, cellM), yM: round(yM, cellM), ori: round(ori, cellDeg) });
};
const creeping = afterCancel({ alongMS: 0.04 });

/** It goes where its own number of the heading is the number that was ordered. */
const misread = (encodes: NonNullable<Lies['encodes']>, trueDeg: (deg: number) => number): Lies => ({
  encodes,
  goesTo: (goal) => ({ ...goal, deg: goal.deg === null ? null : trueDeg(goal.deg) }),
});
const units: Readonly<Record<string, { readonly lies: Lies; readonly goalDeg: number }>> = {
  'radians within π': {
    lies: misread(
      (deg) => rad(short(deg)),
      (deg) => (deg * 180) / Math.PI,
    ),
    goalDeg: 1.5,
  },
  'radians from 0 to 2π': {
    lies: misread(
      (deg) => rad(from0(deg)),
      (deg) => (deg * 180) / Math.PI,
    ),
    goalDeg: 4,
  },
  'radians that are not wrapped': {
    lies: misread(
      (deg) => rad(deg) + 40 * Math.PI,
      (deg) => ((deg - 40 * Math.PI) * 180) / Math.PI,
    ),
    goalDeg: 127,
  },
  'whole turns': {
    lies: misread(
      (deg) => from0(deg) / 360,
      (deg) => deg * 360,
    ),
    goalDeg: 0.3,
  },
  'half degrees': {
    lies: misread(
      (deg) => short(deg) / 2,
      (deg) => deg * 2,
    ),
    goalDeg: 60,
  },
  'degrees that count clockwise': {
    lies: misread(
      (deg) => -short(deg),
      (deg) => -deg,
    ),
    goalDeg: 90,
  },
  'degrees from another axis': {
    lies: misread(
      (deg) => short(deg - 90),
      (deg) => deg + 90,
    ),
    goalDeg: 90,
  },
  'one heading for ever': {
    lies: misread(
      () => 45,
      (deg) => deg + 120,
    ),
    goalDeg: 45,
  },
};

const other: MapNow = { name: 'Other', uid: 'map-other', map_version: 1, overlays_version: 1 };
const elsewhere = (by: (now: Moment) => boolean) => ({
  /** Its position is false by a metre, and the robot is where its position says. */
  publishes: (pose: Published, now: Moment) => (by(now) ? { ...pose, xM: pose.xM + 1 } : pose),
  goesTo: (goal: { xM: number; yM: number; deg: number | null }) => ({ ...goal, xM: goal.xM - 1 }),
});

const everyStop: readonly Green[] = ['stop', 'verify stop'];
const atStop: readonly Green[] = ['stop'];
const atArrival: readonly Green[] = ['arrival'];

export const lies: Readonly<Record<string, FalseReport>> = {
  // Movement.
  'obeys its cancel four seconds later': { lies: () => ({ obeysAfterMs: 4_000 }), never: everyStop },
  'obeys its cancel ten seconds later': { lies: () => ({ obeysAfterMs: 10_000 }), never: everyStop },
  'acknowledges its cancel and goes on': { lies: () => ({ obeysAfterMs: Number.POSITIVE_INFINITY }), never: everyStop },
  'refuses its cancel': {
    lies: () => ({ cancelStatus: 500, obeysAfterMs: Number.POSITIVE_INFINITY }),
    never: everyStop,
  },
  'obeys and rolls on': { lies: () => ({ moves: afterCancel({ alongMS: 0.3 }, 500, 6_000) }), never: everyStop },
  'creeps ahead': { lies: () => ({ moves: afterCancel({ alongMS: 0.03 }) }), never: everyStop },
  'creeps aside': { lies: () => ({ moves: afterCancel({ asideMS: 0.05 }) }), never: everyStop },
  'creeps backwards': { lies: () => ({ moves: afterCancel({ alongMS: -0.2 }) }), never: everyStop },
  'drives off after four seconds': { lies: () => ({ moves: afterCancel({ alongMS: 0.3 }, 4_000) }), never: everyStop },
  'drives off after ten seconds': { lies: () => ({ moves: afterCancel({ alongMS: 0.3 }, 10_000) }), never: atStop },
  'drives off after twenty seconds': { lies: () => ({ moves: afterCancel({ alongMS: 0.5 }, 20_000) }), never: atStop },
  'spins slowly on the spot': { lies: () => ({ moves: afterCancel({ turnDegS: 8 }) }), never: everyStop },
  'spins on the spot': { lies: () => ({ moves: afterCancel({ turnDegS: 40 }) }), never: everyStop },
  circles: { lies: () => ({ moves: afterCancel({ alongMS: 0.1, turnDegS: 20 }) }), never: everyStop },
  'sways to and fro': {
    lies: () => ({
      moves: (now) => (sinceCancel(now) > 2_000 ? { alongMS: 0.25 * Math.cos((now.ms / 1_000) * 1.5) } : {}),
    }),
    never: everyStop,
  },
  'says idle while it moves': {
    lies: () => ({ says: () => 'idle', obeysAfterMs: Number.POSITIVE_INFINITY }),
    never: [...everyStop, 'verify move'],
  },
  'says cancelled at once, and drives on': {
    lies: () => ({ says: () => 'cancelled', obeysAfterMs: Number.POSITIVE_INFINITY }),
    never: [...everyStop, 'arrival', 'verify move'],
  },
  'says succeeded at once, and drives on': {
    lies: () => ({ says: () => 'succeeded', obeysAfterMs: Number.POSITIVE_INFINITY }),
    never: ['stop', 'arrival', 'verify stop', 'verify move'],
  },
  'says a state that no text names': {
    lies: () => ({ says: () => 'resting', obeysAfterMs: Number.POSITIVE_INFINITY }),
    never: ['stop', 'arrival', 'verify stop', 'verify move'],
  },
  'creeps without an order': { lies: () => ({ moves: () => ({ asideMS: 0.03 }) }), never: ['idle'] },
  'drifts at 0.2 m/s without an order': { lies: () => ({ moves: () => ({ alongMS: 0.2 }) }), never: ['idle'] },
  'turns without an order': { lies: () => ({ moves: () => ({ turnDegS: 8 }) }), never: ['idle'] },

  // Poses that repeat, jump or are missing.
  'holds each pose for 3.5 s, and drives off': {
    lies: () => ({ publishes: heldFor(3_500), moves: afterCancel({ alongMS: 0.3 }) }),
    never: everyStop,
  },
  'holds each pose for 5 s, and creeps': {
    lies: () => ({ publishes: heldFor(5_000), moves: creeping }),
    never: everyStop,
  },
  'holds each pose for 5 s, and goes on': {
    lies: () => ({ publishes: heldFor(5_000), obeysAfterMs: Number.POSITIVE_INFINITY }),
    never: everyStop,
  },
  'renews its pose after 0.2 m, and creeps': {
    lies: () => ({ publishes: deadBand(0.2, 28.6), moves: creeping }),
    never: everyStop,
  },
  'renews its pose after 0.2 m or half a radian, and spins': {
    lies: () => ({ publishes: deadBand(0.2, 28.6), moves: afterCancel({ turnDegS: 8 }) }),
    never: everyStop,
  },
  'rounds its pose to 10 cm, and creeps': {
    lies: () => ({ publishes: grid(0.1, 5), moves: afterCancel({ alongMS: 0.03 }) }),
    never: everyStop,
  },
  'publishes no pose after its cancel': {
    lies: () => ({ publishes: (pose, now) => (sinceCancel(now) > 0 ? null : pose), moves: creeping }),
    never: everyStop,
  },
  'publishes a pose each four seconds': {
    lies: () => {
      let lastMs = 0;
      const isDue = (ms: number) => ms - lastMs >= 4_000;
      return {
        moves: creeping,
        publishes: (pose, { ms }) => {
          if (!isDue(ms)) return null;
          lastMs = ms;
          return pose;
        },
      };
    },
    never: everyStop,
  },
  'jumps by two metres, and creeps': {
    lies: () => ({
      moves: creeping,
      publishes: (pose, { ms }) => ({ ...pose, xM: pose.xM + 2 * (Math.floor(ms / 2_500) % 2) }),
    }),
    never: everyStop,
  },
  'scatters by half a metre, and creeps': {
    lies: () => ({
      moves: creeping,
      publishes: (pose, { ms }) => ({
        ...pose,
        xM: pose.xM + 0.5 * Math.sin(ms * 12.9),
        yM: pose.yM + 0.5 * Math.sin(ms * 7.7),
      }),
    }),
    never: everyStop,
  },
  'stamps its messages with 1970, and creeps': {
    lies: () => ({ stamp: () => ({ time: '1970-01-01 00:00:00', stamp: 0, secs: 0 }), moves: creeping }),
    never: everyStop,
  },
  'stamps its messages with a clock that jumps back, and goes on': {
    lies: () => ({ stamp: ({ ms }) => ({ stamp: -ms / 1_000 }), obeysAfterMs: Number.POSITIVE_INFINITY }),
    never: everyStop,
  },

  // Arrival.
  'ends a metre before its goal': {
    lies: () => ({ goesTo: (goal) => ({ ...goal, xM: goal.xM - 1 }) }),
    never: atArrival,
  },
  'ends with another heading': {
    lies: () => ({ goesTo: (goal) => ({ ...goal, deg: goal.deg === null ? null : goal.deg + 40 }) }),
    never: atArrival,
  },
  'creeps on after its success': {
    lies: () => ({ moves: (now) => (sinceEnd(now) > 0 ? { alongMS: 0.04 } : {}) }),
    never: atArrival,
  },
  'spins after its success': {
    lies: () => ({ moves: (now) => (sinceEnd(now) > 0 ? { turnDegS: 8 } : {}) }),
    never: atArrival,
  },

  // Units.
  ...Object.fromEntries(
    Object.entries(units).map(([name, { lies: report, goalDeg }]) => [
      `reports its heading in ${name}`,
      { lies: () => report, never: ['arrival', 'verify move'], goalDeg, isFromStart: true } satisfies FalseReport,
    ]),
  ),
  'reports its heading in gradians': {
    lies: () => ({ encodes: (deg) => (short(deg) * 10) / 9 }),
    never: ['verify move'],
    isFromStart: true,
  },
  'changes from degrees to radians under way': {
    lies: () =>
      misread(
        (deg, now) => (isUnderWay(now) ? rad(short(deg)) : short(deg)),
        (deg) => (deg * 180) / Math.PI,
      ),
    never: atArrival,
    goalDeg: 1.5,
  },

  // Map.
  'changes its map under way': {
    lies: () => ({ map: (now, map) => (isUnderWay(now) ? other : map) }),
    never: atArrival,
  },
  'changes the version of its map under way': {
    lies: () => ({ map: (now, map) => (isUnderWay(now) ? { ...map, map_version: 9 } : map) }),
    never: atArrival,
  },
  'changes its map and back': {
    lies: () => ({ map: (now, map) => (isUnderWay(now) && now.drivenM < 1.6 ? other : map) }),
    never: atArrival,
  },
  'loses its map under way': {
    lies: () => ({ map: (now, map) => (isUnderWay(now) ? null : map) }),
    never: atArrival,
  },
  'names no map': { lies: () => ({ map: () => ({ ...other, uid: '' }) }), never: atArrival },
  'uses another map than it publishes': {
    lies: () => ({ mapAsRead: () => other, map: (_now, map) => map }),
    never: atArrival,
  },
  'uses another map from the beginning': { lies: () => ({ map: () => other }), never: atArrival },

  // Localisation.
  'loses its position under way': {
    lies: () => ({ ...elsewhere(isUnderWay), positioning: (now) => (isUnderWay(now) ? { reliable: false } : {}) }),
    never: atArrival,
  },
  'loses the quality of its position, and its flag never changes': {
    lies: () => ({ ...elsewhere(isUnderWay), positioning: (now) => (isUnderWay(now) ? { position_quality: 1 } : {}) }),
    never: atArrival,
  },
  'has a poor position at its goal': {
    lies: () => ({ ...elsewhere(isUnderWay), positioning: (now) => (isUnderWay(now) ? { position_quality: 3 } : {}) }),
    never: atArrival,
  },
  'says that its localisation is inactive, and reliable': {
    lies: () => ({ ...elsewhere(isUnderWay), positioning: (now) => (isUnderWay(now) ? { state: 'inactive' } : {}) }),
    never: atArrival,
  },
  'begins to map under way': {
    lies: () => ({ ...elsewhere(isUnderWay), positioning: (now) => (isUnderWay(now) ? { state: 'slam' } : {}) }),
    never: atArrival,
  },
  'says "false" as a text': {
    lies: () => ({ ...elsewhere(isUnderWay), positioning: (now) => (isUnderWay(now) ? { reliable: 'false' } : {}) }),
    never: atArrival,
  },
  'publishes the pose of another map, and names it later': {
    lies: () => ({
      ...elsewhere(isUnderWay),
      map: (now, map) => (isUnderWay(now) && now.drivenM > 1.5 ? other : map),
    }),
    never: atArrival,
  },
};
