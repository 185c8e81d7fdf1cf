import fc from 'fast-check';
import type { PoseSample } from '../../src/lib/chassis/index.ts';

/** One part of a drive. Headings in degrees, counter-clockwise; this file shares no angle code with gw. */
export type Doing =
  | { readonly kind: 'stand'; readonly seconds: number }
  | { readonly kind: 'turn'; readonly seconds: number; readonly degPerS: number }
  /** Backwards when the speed is negative; an arc when it turns as well. */
  | { readonly kind: 'drive'; readonly seconds: number; readonly mPerS: number; readonly degPerS: number }
  | { readonly kind: 'rock'; readonly seconds: number; readonly deg: number; readonly hz: number }
  /** The localisation jumps to another pose, or a person sets one. */
  | { readonly kind: 'leap'; readonly deg: number; readonly xM: number; readonly yM: number; readonly resets: boolean };

const encodings = {
  'degrees ±180': (deg) => around(deg, 360, -180),
  'degrees 0 to 360': (deg) => around(deg, 360, 0),
  'degrees unwrapped': (deg) => deg,
  'radians ±π': (deg) => around(rad(deg), 2 * Math.PI, -Math.PI),
  'radians 0 to 2π': (deg) => around(rad(deg), 2 * Math.PI, 0),
  'radians unwrapped': (deg) => rad(deg),
} as const satisfies Record<string, (deg: number) => number>;
export type Encoding = keyof typeof encodings;
export const inDegrees = ['degrees ±180', 'degrees 0 to 360', 'degrees unwrapped'] as const;
export const inRadians = ['radians ±π', 'radians 0 to 2π', 'radians unwrapped'] as const;

function rad(deg: number): number {
  return (deg / 180) * Math.PI;
}

function around(value: number, circle: number, low: number): number {
  return low + ((((value - low) % circle) + circle) % circle);
}

/** The timing of the messages. */
export interface Delivery {
  readonly hz: number;
  /** Maximum error of a heading, in degrees, and of a position, in metres; a fixed cycle of small numbers. */
  readonly noiseDeg: number;
  readonly noiseM: number;
  readonly dice: readonly number[];
  /** Messages sent in this interval are delayed and arrive together at its end. Seconds since the start. */
  readonly stalls: readonly { readonly fromS: number; readonly seconds: number }[];
  /** Messages sent in this interval are lost. */
  readonly gaps: readonly { readonly fromS: number; readonly seconds: number }[];
  /** Maximum network delay of one message, in milliseconds. */
  readonly jitterMs: number;
  /** Decimal places. */
  readonly digits: number;
}

export const calm = (hz: number): Delivery => ({
  hz,
  noiseDeg: 0.3,
  noiseM: 0.005,
  dice: [0.3, -0.7, 0.9, -0.1, 0.5, -0.9, 0.2],
  stalls: [],
  gaps: [],
  jitterMs: 5,
  digits: 6,
});

export interface Start {
  readonly deg: number;
  /** Whole turns since it was switched on: only unwrapped headings show them. */
  readonly turns: number;
}

/** The `/tracked_pose` messages of this drive, as they arrive. */
export function samplesOf(
  encoding: Encoding,
  start: Start,
  doings: readonly Doing[],
  delivery: Delivery,
): PoseSample[] {
  const { hz, dice } = delivery;
  let roll = 0;
  const die = () => dice[roll++ % dice.length] ?? 0;
  const samples: PoseSample[] = [];
  let deg = start.deg + 360 * start.turns;
  let [xM, yM, sentS, arrivedMs] = [0, 0, 0, 0];
  const send = (shownDeg: number) => {
    sentS += 1 / hz;
    const isIn = ({ fromS, seconds }: { fromS: number; seconds: number }) => sentS >= fromS && sentS < fromS + seconds;
    if (delivery.gaps.some(isIn)) return;
    const stall = delivery.stalls.find(isIn);
    const freeMs = (stall ? stall.fromS + stall.seconds : sentS) * 1_000 + delivery.jitterMs * Math.abs(die());
    arrivedMs = Math.max(arrivedMs + 0.05, freeMs);
    const ori = encodings[encoding](shownDeg + delivery.noiseDeg * die());
    const factor = 10 ** delivery.digits;
    samples.push({
      ori: Math.round(ori * factor) / factor,
      xM: xM + delivery.noiseM * die(),
      yM: yM + delivery.noiseM * die(),
      atMs: arrivedMs,
    });
  };
  for (const doing of doings) {
    if (doing.kind === 'leap') {
      deg = doing.resets ? around(deg + doing.deg, 360, -180) : deg + doing.deg;
      xM += doing.xM;
      yM += doing.yM;
      continue;
    }
    const count = Math.round(doing.seconds * hz);
    const middle = deg;
    for (let i = 1; i <= count; i += 1) {
      if (doing.kind === 'rock') {
        send(middle + doing.deg * Math.sin((2 * Math.PI * doing.hz * i) / hz));
        continue;
      }
      const degPerS = doing.kind === 'stand' ? 0 : doing.degPerS;
      const mPerS = doing.kind === 'drive' ? doing.mPerS : 0;
      // In small steps, so that an arc is smooth at one message a second too.
      const parts = Math.ceil(10 / hz);
      for (let part = 0; part < parts; part += 1) {
        deg += degPerS / hz / parts;
        xM += (mPerS / hz / parts) * Math.cos(rad(deg));
        yM += (mPerS / hz / parts) * Math.sin(rad(deg));
      }
      send(deg);
    }
  }
  return samples;
}

/** Uniform, unlike fc.double, which prefers numbers close to 0. */
const number = (min: number, max: number) =>
  fc.integer({ min: 0, max: 1_000_000 }).map((part) => min + ((max - min) * part) / 1_000_000);

export const anyDoing: fc.Arbitrary<Doing> = fc.oneof(
  fc.record({ kind: fc.constant('stand' as const), seconds: number(0.2, 8) }),
  fc.record({ kind: fc.constant('turn' as const), seconds: number(0.5, 20), degPerS: number(-150, 150) }),
  fc.record({
    kind: fc.constant('drive' as const),
    seconds: number(0.5, 12),
    mPerS: fc.oneof(number(0.1, 1.5), number(-0.5, -0.1)),
    degPerS: fc.oneof(fc.constant(0), number(-40, 40)),
  }),
  fc.record({ kind: fc.constant('rock' as const), seconds: number(2, 15), deg: number(0.1, 6), hz: number(0.05, 3) }),
  fc.record({
    kind: fc.constant('leap' as const),
    deg: number(-180, 180),
    xM: number(-5, 5),
    yM: number(-5, 5),
    resets: fc.boolean(),
  }),
);

/** A robot whose heading stays within some degrees of 0: its degrees are in the range of radians. */
export const nearZero: fc.Arbitrary<Doing> = fc.oneof(
  fc.record({ kind: fc.constant('stand' as const), seconds: number(0.2, 8) }),
  fc.record({ kind: fc.constant('turn' as const), seconds: number(0.5, 8), degPerS: number(-4, 4) }),
  fc.record({ kind: fc.constant('rock' as const), seconds: number(2, 15), deg: number(0.1, 6), hz: number(0.02, 3) }),
  fc.record({
    kind: fc.constant('drive' as const),
    seconds: number(0.5, 12),
    mPerS: fc.oneof(number(0.1, 1.5), number(-0.5, -0.1)),
    degPerS: number(-1.5, 1.5),
  }),
  fc.record({
    kind: fc.constant('leap' as const),
    deg: number(-7, 7),
    xM: number(-0.3, 0.3),
    yM: number(-0.3, 0.3),
    resets: fc.constant(false),
  }),
);

const spans = (most: number) =>
  fc.array(fc.record({ fromS: number(0, 60), seconds: number(0.3, most) }), { maxLength: 3 });

export const anyDelivery: fc.Arbitrary<Delivery> = fc.record({
  hz: number(1, 20),
  noiseDeg: number(0, 3),
  noiseM: number(0, 0.03),
  dice: fc.array(number(-1, 1), { minLength: 7, maxLength: 61 }),
  stalls: spans(12),
  gaps: spans(20),
  jitterMs: number(0, 200),
  digits: fc.constantFrom(2, 3, 6, 15),
});

export const anyStart: fc.Arbitrary<Start> = fc.record({
  deg: number(-180, 180),
  turns: fc.integer({ min: -60, max: 60 }),
});
