import { describe, expectTypeOf, it } from 'vitest';
import { degrees } from '../../src/lib/angle/index.ts';
import {
  type Actionable,
  type Basis,
  chosen,
  type FactIdMarked,
  type Known,
  known,
  type Mark,
  type VerifiedHere,
} from '../../src/lib/evidence/index.ts';
import { factsOfOrder, type Goal, type Motion, type ReliableFactId } from '../../src/lib/motion/index.ts';
import type { PlaceMap } from '../../src/lib/site/index.ts';

declare const motion: Motion;
declare const map: PlaceMap;
declare const anyMark: Known<Goal>;
declare const anyBasis: Known<Goal, 'BELEGT'>;
declare const eitherMark: Known<Goal, 'BELEGT' | 'VORSICHT'>;
const goal: Goal = { xM: 1, yM: 2, yawDeg: degrees(90), map };

describe('a value that may lead to movement', () => {
  it('is measured, chosen by a person, or verified on this device', () => {
    void motion.execute({ kind: 'move', goal: known(goal, 'BELEGT', 'measured', 'test') });
    void motion.execute({ kind: 'move', goal: chosen(goal, 'site file, stations.A') });
    const verified: VerifiedHere<Goal> = {
      value: goal,
      mark: 'VERIFIED',
      source: 'test',
      serial: 'S1',
      software: '2.1',
    };
    void motion.execute({ kind: 'move', goal: verified });
  });

  it('is never VORSICHT, OFFEN, or a vendor note', () => {
    // @ts-expect-error assumed
    void motion.execute({ kind: 'move', goal: known(goal, 'VORSICHT', 'assumed', 'test') });
    // @ts-expect-error open
    void motion.execute({ kind: 'move', goal: known(goal, 'OFFEN', 'not-shown', 'test') });
    // @ts-expect-error not verified here
    void motion.execute({ kind: 'move', goal: known(goal, 'HINWEIS', 'vendor', 'test') });
    // @ts-expect-error of any mark
    void motion.execute({ kind: 'move', goal: anyMark });
    // @ts-expect-error possibly assumed
    void motion.execute({ kind: 'move', goal: eitherMark });
    // @ts-expect-error without any mark
    void motion.execute({ kind: 'move', goal });
    // @ts-expect-error verified, without a device
    void motion.execute({ kind: 'move', goal: { value: goal, mark: 'VERIFIED', source: 'test' } });
  });

  it('holds for poses and docks alike', () => {
    const pose = { xM: 1, yM: 2, yawDeg: degrees(90), map };
    void motion.execute({ kind: 'pose', pose: chosen(pose, 'test') });
    void motion.execute({ kind: 'dock', goal: chosen(pose, 'test') });
    // @ts-expect-error assumed
    void motion.execute({ kind: 'pose', pose: known(pose, 'VORSICHT', 'assumed', 'test') });
    // @ts-expect-error not verified here
    void motion.execute({ kind: 'dock', goal: known(pose, 'HINWEIS', 'vendor', 'test') });
  });

  it('is not a BELEGT value that was not measured on a device', () => {
    void motion.execute({ kind: 'move', goal: known(goal, 'BELEGT', 'here', 'measured here') });
    // @ts-expect-error stated by the specification, not measured
    void motion.execute({ kind: 'move', goal: known(goal, 'BELEGT', 'stated', 'test') });
    // @ts-expect-error measured on a simulator
    void motion.execute({ kind: 'move', goal: known(goal, 'BELEGT', 'simulated', 'test') });
    // @ts-expect-error whatever it rests on
    void motion.execute({ kind: 'move', goal: anyBasis });
  });

  it('has BELEGT as its only mark', () => {
    expectTypeOf<Known<number, 'BELEGT', 'measured' | 'here'>>().toExtend<Actionable<number>>();
    expectTypeOf<Known<number, 'BELEGT', Exclude<Basis, 'measured' | 'here'>>>().not.toExtend<Actionable<number>>();
    expectTypeOf<Known<number, Exclude<Mark, 'BELEGT'>>>().not.toExtend<Actionable<number>>();
  });
});

describe('a fact that an order relies on', () => {
  it('is a fact marked BELEGT or HINWEIS', () => {
    const measured: ReliableFactId = 'angles.tracked-pose-ori';
    const noted: ReliableFactId = 'vendor.move.request';
    expectTypeOf([measured, noted]).toBeArray();
    expectTypeOf<(typeof factsOfOrder)['move'][number]>().toExtend<ReliableFactId>();
    expectTypeOf(factsOfOrder).toHaveProperty('dock');
  });

  it('is never a VORSICHT or an OFFEN fact', () => {
    // @ts-expect-error point type 11 is VORSICHT
    const assumed: ReliableFactId = 'overlays.point-type-11';
    // @ts-expect-error open
    const open: ReliableFactId = 'vendor.move.second-order';
    // @ts-expect-error no fact at all
    const unknown: ReliableFactId = 'vendor.move.anything';
    expectTypeOf([assumed, open, unknown]).toBeArray();
    expectTypeOf<Extract<ReliableFactId, FactIdMarked<'VORSICHT' | 'OFFEN'>>>().toBeNever();
    const facts = { move: ['overlays.point-type-11'], dock: [], pose: [] } as const;
    // @ts-expect-error the table of the gate takes none of them either
    facts satisfies Record<keyof typeof factsOfOrder, readonly ReliableFactId[]>;
  });
});
