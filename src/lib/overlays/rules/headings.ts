import type { Feature, FeatureAngle } from '../model.ts';
import type { RuleInput } from './input.ts';
import { MAX_YAW_DEG } from './table.ts';
import { naming, rounded, wording } from './wording.ts';

/** `yaw` and `iconYaw` that are not numbers, likely radians, or beyond a full turn. */
export function findHeadingFaults({ overlays: { features }, report }: RuleInput): void {
  for (const feature of features) {
    if (feature.yaw !== null) checkAngle(feature, 'yaw', feature.yaw);
    if (feature.iconYaw !== null) checkAngle(feature, 'iconYaw', feature.iconYaw);
  }

  function checkAngle(feature: Feature, field: 'yaw' | 'iconYaw', { deg, written }: FeatureAngle): void {
    if (deg === null) {
      report('yaw-not-a-number', [feature.index], () => {
        return `${field} of ${naming(feature)} is ${wording(written)}, which is not a number of degrees.`;
      });
      return;
    }
    if (Math.abs(deg) > MAX_YAW_DEG) {
      report('yaw-beyond-turn', [feature.index], () => {
        return `${field} of ${naming(feature)} is ${rounded(deg, 3)} degrees, more than a full turn.`;
      });
      return;
    }
    const turn = likelyTurnDeg(deg, written);
    if (turn === null) return;
    report('yaw-like-radians', [feature.index], () => {
      const meant = `${deg} rad equals ${turn} degrees to the written digits`;
      return `${field} of ${naming(feature)} may be in radians: ${meant}.`;
    });
  }
}

/**
 * The common angle, in degrees, of a number read as radians; null when it looks like degrees. Common are multiples of 15
 * degrees with at least three decimals; with two decimals, which match too much, only multiples of 45. Whole numbers are
 * not multiples of π, and 0 is 0 in both units.
 */
export function likelyTurnDeg(value: number, written: unknown): number | null {
  if (Number.isInteger(value) || Math.abs(value) > 2 * Math.PI + 0.001) return null;
  const digits = decimalsOf(String(written));
  if (digits < 2) return null;
  const step = digits === 2 ? 45 : 15;
  const turn = Math.round((value * 180) / Math.PI / step) * step;
  if (turn === 0) return null;
  // Rounded to two decimals; rounded or truncated to three; never finer than single precision.
  const slack = digits === 2 ? 0.005 : digits === 3 ? 0.001 : 0.0001;
  return Math.abs(value - (turn * Math.PI) / 180) <= slack + 1e-9 ? turn : null;
}

function decimalsOf(text: string): number {
  const [, fraction = '', exponent = '0'] = /\.(\d+)(?:e([+-]?\d{1,4}))?\s*$/i.exec(text) ?? [];
  return fraction.length - Number(exponent);
}
