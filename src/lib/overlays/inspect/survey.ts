import { factById } from '../../evidence/index.ts';
import {
  type AngleSurvey,
  type Code,
  type CodeField,
  codeFields,
  type Feature,
  type FeatureAngle,
  type Overlays,
  type Survey,
} from '../model.ts';
import { createMemberCounter } from '../read/members.ts';

/** Decision of ours: a map has some ten names. A list without end would only hide them. */
const MOST_CARRIED = 200;
/** Angles are decimals of a text: two of them differ by -82 as far as their digits can tell. */
const SAME_ANGLE = 1e-6;

/** Counts what a collection holds. */
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
    carried: carried.slice(0, MOST_CARRIED),
    carriedMore: Math.max(0, carried.length - MOST_CARRIED),
  };
}

/** Whether its icon is turned against its heading by the offset that was seen again and again, whole turns aside. */
export function hasOffset({ yaw, iconYaw }: Pick<Feature, 'yaw' | 'iconYaw'>, offsetDeg: number): boolean {
  if (yaw === null || iconYaw === null || yaw.deg === null || iconYaw.deg === null) return false;
  const rest = Math.abs((iconYaw.deg - yaw.deg - offsetDeg) % 360);
  return rest <= SAME_ANGLE || 360 - rest <= SAME_ANGLE;
}

/** In degrees, out of the ledger (BELEGT, unexplained). */
export function iconOffsetDeg(): number {
  return Number(factById('overlays.icon-yaw-offset').value);
}

function codeRows(counts: ReadonlyMap<Code, number>): Survey['codes'] {
  const rows = new Map<string, { field: CodeField; number: number | null; count: number }>();
  // '11' and 11 are two codes as written and one number.
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
  const row = { asText: 0, asNumber: 0, unreadable: 0 };
  return {
    row: row as AngleSurvey,
    add({ deg, written }: FeatureAngle): void {
      if (typeof written === 'string') row.asText += 1;
      else if (typeof written === 'number') row.asNumber += 1;
      if (deg === null) row.unreadable += 1;
    },
  };
}
