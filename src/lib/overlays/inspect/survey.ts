import { factById } from '../../evidence/index.ts';
import { codeFields } from '../kinds.ts';
import type { AngleSurvey, Code, CodeField, Feature, FeatureAngle, Overlays, Survey } from '../model.ts';
import { createMemberCounter } from '../read/members.ts';

/** Bounds the list; a map has some ten names. Project decision. */
const MAX_CARRIED = 200;
/** Tolerance in degrees for angles that were written as decimals. */
const ANGLE_TOLERANCE_DEG = 1e-6;

/** Counts the content of a collection. */
export function surveyOf({ features, topLevel, members }: Overlays): Survey {
  const kinds = { point: 0, lane: 0, zone: 0, other: 0 };
  const codes = new Map<Code, number>();
  const yaw = angleCounter();
  const iconYaw = angleCounter();
  const icons = { withBoth: 0, withOffset: 0, offsetDeg: iconOffsetDeg() };
  let withId = 0;
  for (const feature of features) {
    kinds[feature.kind] += 1;
    if (feature.id !== null) withId += 1;
    for (const code of feature.codes) codes.set(code, (codes.get(code) ?? 0) + 1);
    if (feature.yaw !== null) yaw.add(feature.yaw);
    if (feature.iconYaw !== null) {
      iconYaw.add(feature.iconYaw);
      if (hasOffset(feature, icons.offsetDeg)) icons.withOffset += 1;
      if (feature.iconYaw.deg !== null && feature.yaw !== null && feature.yaw.deg !== null) icons.withBoth += 1;
    }
  }
  const collection = createMemberCounter('collection');
  collection.add(topLevel, null);
  const carried = [...collection.rows(), ...members];
  carried.sort((a, b) => b.count - a.count || (a.name < b.name ? -1 : 1));
  return {
    kinds,
    withId,
    codes: codeRows(codes),
    yaw: yaw.row,
    iconYaw: iconYaw.row,
    icons,
    carried: carried.slice(0, MAX_CARRIED),
    carriedMore: Math.max(0, carried.length - MAX_CARRIED),
  };
}

/** Whether `iconYaw` differs from `yaw` by the observed offset, modulo full turns. */
export function hasOffset({ yaw, iconYaw }: Pick<Feature, 'yaw' | 'iconYaw'>, offsetDeg: number): boolean {
  if (yaw === null || iconYaw === null || yaw.deg === null || iconYaw.deg === null) return false;
  const rest = Math.abs((iconYaw.deg - yaw.deg - offsetDeg) % 360);
  return rest <= ANGLE_TOLERANCE_DEG || 360 - rest <= ANGLE_TOLERANCE_DEG;
}

/** In degrees, from the ledger (BELEGT, unexplained). */
export function iconOffsetDeg(): number {
  return Number(factById('overlays.icon-yaw-offset').value);
}

function codeRows(counts: ReadonlyMap<Code, number>): Survey['codes'] {
  const rows = new Map<string, { field: CodeField; number: number | null; count: number }>();
  // '11' and 11 are two written forms of one number.
  for (const [{ field, number }, count] of counts) {
    const key = `${field} ${number}`;
    const row = rows.get(key);
    if (row) row.count += count;
    else rows.set(key, { field, number, count });
  }
  return [...rows.values()].sort(
    (a, b) =>
      codeFields.indexOf(a.field) - codeFields.indexOf(b.field) ||
      (a.number ?? Number.POSITIVE_INFINITY) - (b.number ?? Number.POSITIVE_INFINITY),
  );
}

function angleCounter() {
  const row = { asString: 0, asNumber: 0, unreadable: 0 };
  return {
    row: row as AngleSurvey,
    add({ deg, written }: FeatureAngle): void {
      if (typeof written === 'string') row.asString += 1;
      else if (typeof written === 'number') row.asNumber += 1;
      if (deg === null) row.unreadable += 1;
    },
  };
}
