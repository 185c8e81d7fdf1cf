import Flatbush from 'flatbush';
import { markText } from '../../evidence/index.ts';
import { plural } from '../../text/index.ts';
import { boundsAround, partsOf } from '../geometry.ts';
import type { Place } from '../model.ts';
import { insideTest } from './edges.ts';
import { type Budget, createBudget, type PointFeature, type RuleInput, type ZoneFeature } from './input.ts';
import { createReader, type NamedReading } from './reading.ts';
import { naming, namingAll } from './wording.ts';

/** Up to this count even the worst order costs the spatial index a few seconds only, and usual ones nothing. */
const MAX_UNSHUFFLED = 100_000;

/**
 * The numbers from 0 to `count` - 1, shuffled where there are many. The spatial index takes quadratic time to sort certain
 * input orders, such as combs and rows with an outlier; a shuffled order avoids that. Deterministic.
 */
export function scatter(count: number): Uint32Array {
  const order = new Uint32Array(count);
  if (count <= MAX_UNSHUFFLED) return order.map((_, nth) => nth);
  let state = 1;
  for (let last = 0; last < count; last += 1) {
    // A linear congruential generator (Numerical Recipes); its high bits are the usable ones.
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    const other = Math.floor((state / 2 ** 32) * (last + 1));
    order[last] = order[other] ?? 0;
    order[other] = last;
  }
  return order;
}

/**
 * Points inside zones that are read as no-go zones. A point counts for the first zone that contains it, so that stacked
 * zones cause no more findings than there are points.
 */
export function findNoGoFaults({ overlays: { features }, points, zones, codeBook, steps, report }: RuleInput): void {
  const noGo = createReader(codeBook, /\bno-go\b/i);
  const closed = zones.filter(({ code }) => noGo(code) !== null);
  if (closed.length === 0 || points.length === 0) return;
  const unassigned = createUnassignedPoints(points);
  const budget = createBudget(steps);
  for (const [place, zone] of closed.entries()) {
    const inside = unassigned.assignInside(zone, budget);
    const read = noGo(zone.code);
    if (inside.length > 0 && read !== null) reportInside(zone, read, inside);
    if (unassigned.left === 0) return;
    if (!budget.isSpent) continue;
    const unfinished = closed.slice(place).map(({ index }) => index);
    report('not-finished', unfinished, () => {
      const these = plural(
        unfinished.length,
        'zone that is read as a no-go zone',
        'zones that are read as no-go zones',
      );
      return `Not checked to the end which points lie inside ${these}: ${namingAll(features, unfinished)}.`;
    });
    return;
  }

  function reportInside(zone: ZoneFeature, read: NamedReading, inside: readonly number[]): void {
    const all = [zone.index, ...inside].sort((a, b) => a - b);
    report(
      'point-in-no-go-zone',
      all,
      () => {
        const lie = plural(inside.length, 'point lies', 'points lie');
        const reading = `regionType ${read.number} is read as '${read.meaning}' (${markText(read)}, ${read.source})`;
        return `${lie} inside ${naming(zone)}, whose ${reading}: ${namingAll(features, inside)}.`;
      },
      read,
    );
  }
}

/** The points of a map that are not yet assigned to a zone. */
function createUnassignedPoints(points: readonly PointFeature[]) {
  const tree = new Flatbush(points.length);
  const order = scatter(points.length);
  for (const nth of order) {
    const at = points[nth]?.shape.at;
    if (at !== undefined) tree.add(at[0], at[1]);
  }
  tree.finish();
  const isAssigned = new Uint8Array(points.length);
  let left = points.length;
  /** Adds the points inside a polygon; false when the budget is spent. */
  function assignWithin(rings: readonly (readonly Place[])[], inside: number[], budget: Budget): boolean {
    const box = boundsAround(rings.length === 1 ? (rings[0] ?? []) : rings.flat());
    if (box === null) return true;
    const near: number[] = [];
    // The return value of the filter ends the search.
    tree.collides(box.minXM, box.minYM, box.maxXM, box.maxYM, (nth) => {
      const point = order[nth];
      if (point !== undefined && isAssigned[point] === 0) near.push(point);
      return !budget.spend(1);
    });
    if (near.length === 0) return !budget.isSpent;
    const isInside = insideTest(rings, near.length, budget);
    for (const nth of near) {
      const point = points[nth];
      const answer = point === undefined ? false : isInside(point.shape.at);
      if (answer === null) return false;
      if (!answer || point === undefined) continue;
      isAssigned[nth] = 1;
      left -= 1;
      inside.push(point.index);
    }
    return true;
  }

  return {
    get left() {
      return left;
    },
    /** Assigns the points inside a zone to it; returns their indices. */
    assignInside({ shape }: ZoneFeature, budget: Budget): number[] {
      const inside: number[] = [];
      for (const rings of partsOf(shape)) {
        if (left > 0 && !assignWithin(rings, inside, budget)) break;
      }
      return inside.sort((a, b) => a - b);
    },
  };
}
