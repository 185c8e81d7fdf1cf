import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Degrees, degrees, normalizeDegrees, parseDegrees, turnBetween } from '../../src/lib/angle/index.ts';
import { decodeTargetOri, decodeTrackedPoseOri, encodePoseOri, encodeTargetOri } from '../../src/lib/chassis/codec.ts';

const anyDegrees = fc.double({ min: -1e6, max: 1e6, noNaN: true }).map(degrees);

describe('the angle fields on the wire', () => {
  it('sends 90 degrees as the 1.5708 of the specification, for pose and for move', () => {
    expect(encodePoseOri(degrees(90))).toBeCloseTo(1.5708, 4);
    expect(encodeTargetOri(degrees(90))).toBeCloseTo(1.5708, 4);
  });

  it('reads the reported 90 of /tracked_pose as 90 degrees, unconverted', () => {
    expect(decodeTrackedPoseOri(90)).toBe(90);
  });

  it('never sends a heading outside (-π, π] (degrees there caused fail_reason 103)', { tags: 'property' }, () => {
    fc.assert(
      fc.property(anyDegrees, (yaw) => {
        expect(Math.abs(encodeTargetOri(yaw))).toBeLessThanOrEqual(Math.PI);
        expect(Math.abs(encodePoseOri(yaw))).toBeLessThanOrEqual(Math.PI);
      }),
    );
  });

  it('round-trips to the same direction over ±10^6 degrees', { tags: 'property' }, () => {
    fc.assert(
      fc.property(anyDegrees, (yaw) => {
        expect(Math.abs(turnBetween(yaw, decodeTargetOri(encodeTargetOri(yaw))))).toBeLessThan(1e-9);
      }),
    );
  });

  it('rejects values that are not finite numbers', () => {
    for (const bad of [Number.NaN, Number.POSITIVE_INFINITY, '90' as unknown as number, null as unknown as number]) {
      expect(() => decodeTargetOri(bad)).toThrow(RangeError);
      expect(() => decodeTrackedPoseOri(bad)).toThrow(RangeError);
      expect(() => degrees(bad)).toThrow(RangeError);
    }
  });
});

describe('degrees', () => {
  it('normalises into (-180, 180] without changing the direction', { tags: 'property' }, () => {
    fc.assert(
      fc.property(anyDegrees, (yaw) => {
        const normal = normalizeDegrees(yaw);
        expect(normal).toBeGreaterThan(-180);
        expect(normal).toBeLessThanOrEqual(180);
        expect(Math.abs((yaw - normal) / 360 - Math.round((yaw - normal) / 360))).toBeLessThan(1e-9);
      }),
    );
    expect([-180, 180, 540, -540, 360, -0].map((yaw) => normalizeDegrees(degrees(yaw)))).toEqual([
      180, 180, 180, 180, 0, 0,
    ]);
  });

  it('returns the shortest turn', () => {
    expect(turnBetween(degrees(170), degrees(-170))).toBe(20);
    expect(turnBetween(degrees(-170), degrees(170))).toBe(-20);
  });
});

describe('parseDegrees', () => {
  it('parses numbers and strings as in overlays', () => {
    expect([90, '90', ' -82.5 ', '+.5', '1e2', '7.'].map(parseDegrees)).toEqual([90, 90, -82.5, 0.5, 100, 7]);
  });

  it('returns undefined for everything else and never throws', { tags: 'property' }, () => {
    for (const bad of ['', ' ', '0x10', '90°', 'NaN', 'Infinity', '1e999', null, {}, [], true, Number.NaN]) {
      expect(parseDegrees(bad)).toBeUndefined();
    }
    fc.assert(
      fc.property(fc.anything(), (input) => {
        const result: Degrees | undefined = parseDegrees(input);
        expect(result === undefined || Number.isFinite(result)).toBe(true);
      }),
    );
  });
});
