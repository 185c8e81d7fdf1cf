import { describe, expectTypeOf, it } from 'vitest';
import { type Degrees, degrees, type Radians, radians } from '../../src/lib/angle/index.ts';
import { decodeTargetOri, decodeTrackedPoseOri, encodePoseOri, encodeTargetOri } from '../../src/lib/chassis/codec.ts';
import type { Pose } from '../../src/lib/chassis/index.ts';
import type { ChassisMoves } from '../../src/lib/chassis/moves.ts';
import { chosen } from '../../src/lib/evidence/index.ts';
import type { Goal, Motion, Order } from '../../src/lib/motion/index.ts';
import type { PlaceMap } from '../../src/lib/site/index.ts';

declare const plain: number;
declare const moves: ChassisMoves;
declare const motion: Motion;
declare const map: PlaceMap;

describe('an angle is a type of its own', () => {
  it('accepts no plain number for degrees or radians', () => {
    // @ts-expect-error a number says no unit
    expectTypeOf<Degrees>(plain);
    // @ts-expect-error a literal says no unit
    const literal: Degrees = 90;
    // @ts-expect-error a number says no unit
    const alsoNot: Radians = plain;
    const said: Degrees = degrees(90);
    expectTypeOf(said).toEqualTypeOf<Degrees>();
    expectTypeOf([literal, alsoNot]).toBeArray();
  });

  it('accepts neither unit for the other', () => {
    // @ts-expect-error radians are not degrees
    const yaw: Degrees = radians(1.5708);
    // @ts-expect-error degrees are not radians
    const ori: Radians = degrees(90);
    expectTypeOf([yaw, ori]).toBeArray();
  });

  it('is not a number alias: arithmetic drops the unit', () => {
    const twice = degrees(90) * 2;
    expectTypeOf(twice).toEqualTypeOf<number>();
    // @ts-expect-error the product must be said to be degrees again
    const yaw: Degrees = twice;
    expectTypeOf(yaw).not.toBeAny();
  });
});

describe('the codec of the chassis', () => {
  it('writes degrees and nothing else', () => {
    encodeTargetOri(degrees(90));
    encodePoseOri(degrees(90));
    // @ts-expect-error a number says no unit
    encodeTargetOri(plain);
    // @ts-expect-error radians would be converted a second time
    encodeTargetOri(radians(1.5708));
    // @ts-expect-error a number says no unit
    encodePoseOri(1.5708);
    // @ts-expect-error radians would be converted a second time
    encodePoseOri(radians(1.5708));
  });

  it('reads into degrees', () => {
    expectTypeOf(decodeTargetOri).returns.toEqualTypeOf<Degrees>();
    expectTypeOf(decodeTrackedPoseOri).returns.toEqualTypeOf<Degrees>();
  });
});

describe('the calls that move the robot', () => {
  it('accept degrees only', () => {
    void moves.move({ type: 'standard', xM: 1, yM: 2, yawDeg: degrees(90) });
    void moves.move({ type: 'standard', xM: 1, yM: 2 });
    // @ts-expect-error a number says no unit
    void moves.move({ type: 'charge', xM: 1, yM: 2, yawDeg: 90 });
    // @ts-expect-error radians are not degrees
    void moves.move({ type: 'charge', xM: 1, yM: 2, yawDeg: radians(1.5708) });
    void moves.setPose({ xM: 1, yM: 2, yawDeg: degrees(90), adjust: true });
    // @ts-expect-error a number says no unit
    void moves.setPose({ xM: 1, yM: 2, yawDeg: plain, adjust: true });
  });
});

describe('an order', () => {
  it('accepts degrees only', () => {
    const goal: Goal = { xM: 1, yM: 2, yawDeg: degrees(90), map };
    const pose: Pose & { map: PlaceMap } = { xM: 1, yM: 2, yawDeg: degrees(90), map };
    const order: Order = { kind: 'move', goal: chosen(goal, 'test') };
    void motion.execute(order);
    void motion.execute({ kind: 'pose', pose: chosen(pose, 'test') });
    // @ts-expect-error a number says no unit
    void motion.execute({ kind: 'move', goal: chosen({ xM: 1, yM: 2, yawDeg: 90, map }, 'test') });
    // @ts-expect-error radians are not degrees
    void motion.execute({ kind: 'move', goal: chosen({ xM: 1, yM: 2, yawDeg: radians(1.5708), map }, 'test') });
    // @ts-expect-error a number says no unit
    void motion.execute({ kind: 'dock', goal: chosen({ xM: 1, yM: 2, yawDeg: 90, map }, 'test') });
    // @ts-expect-error a dock has a heading
    void motion.execute({ kind: 'dock', goal: chosen({ xM: 1, yM: 2, map }, 'test') });
    // @ts-expect-error a number says no unit
    void motion.execute({ kind: 'pose', pose: chosen({ xM: 1, yM: 2, yawDeg: plain, map }, 'test') });
  });
});
