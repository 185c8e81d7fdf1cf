import type { Feature, FeatureAngle } from '../model.ts';
import type { RuleInput } from './input.ts';
import { WIDEST_YAW_DEG } from './table.ts';
import { naming, rounded, wording } from './wording.ts';

/** `yaw` and `iconYaw`: no number, likely radians, beyond a turn. */
export function findHeadingFaults({ overlays: { features }, report }: RuleInput): void {
  for (const feature of features) {
    if (feature.yaw !== null) look(feature, 'yaw', feature.yaw);
    if (feature.iconYaw !== null) look(feature, 'iconYaw', feature.iconYaw);
  }

  function look(feature: Feature, field: 'yaw' | 'iconYaw', { deg, written }: FeatureAngle): void {
    if (deg === null) {
      report('yaw-not-a-number', [feature.index], () => {
        return `${field} of ${naming(feature)} is ${wording(written)}, which is no number of degrees.`;
      });
      return;
    }
    if (Math.abs(deg) > WIDEST_YAW_DEG) {
      report('yaw-beyond-turn', [feature.index], () => {
        return `${field} of ${naming(feature)} is ${rounded(deg, 3)} degrees, more than a full turn.`;
      });
      return;
    }
    const turn = likelyTurnDeg(deg, written);
    if (turn === null) return;
    report('yaw-like-radians', [feature.index], () => {
      const meant = `${deg} as radians is ${turn} degrees to the digits written; as degrees it is ${deg}`;
      return `${field} of ${naming(feature)} may be in radians: ${meant}.`;
    });
  }
}

/**
 * The usual turn, in degrees, that a number would be if it were in radians; null when it looks like degrees. Usual are
 * multiples of 15 degrees, written with three digits behind the point or more; two digits fit so much that only
 * multiples of 45 count. Whole numbers are no multiples of π, and a heading of 0 is 0 in either unit.
 */
export function likelyTurnDeg(value: number, written: unknown): number | null {
  if (Number.isInteger(value) || Math.abs(value) > 2 * Math.PI + 0.001) return null;
  const digits = digitsBehindPoint(String(written));
  if (digits < 2) return null;
  const step = digits === 2 ? 45 : 15;
  const turn = Math.round((value * 180) / Math.PI / step) * step;
  if (turn === 0) return null;
  // Rounded to two digits; rounded or cut off with three; never closer than numbers of single precision are.
  const slack = digits === 2 ? 0.005 : digits === 3 ? 0.001 : 0.0001;
  return Math.abs(value - (turn * Math.PI) / 180) <= slack + 1e-9 ? turn : null;
}

function digitsBehindPoint(text: string): number {
  const [, fraction = '', exponent = '0'] = /\.(\d+)(?:e([+-]?\d{1,4}))?\s*$/i.exec(text) ?? [];
  return fraction.length - Number(exponent);
}
