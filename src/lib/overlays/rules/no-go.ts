import Flatbush from 'flatbush';
import { markText } from '../../evidence/index.ts';
import { plural } from '../../text/index.ts';
import { boundsAround, partsOf, placesOf, type Rings } from '../geometry.ts';
import type { Place } from '../model.ts';
import { type Budget, createBudget, type PointFeature, type RuleInput, type ZoneFeature } from './input.ts';
import { createReader, type NamedReading } from './reading.ts';
import { isInsideZone } from './rings.ts';
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
 * Points inside zones that are read as no-go zones, a MultiPoint with any of its places. A point counts for the first
 * zone that contains it, so that stacked zones cause no more findings than there are points.
 */
export function findNoGoFaults({ overlays: { features }, points, zones, codeBook, steps, report }: RuleInput): void {
  const noGo = createReader(codeBook, /\bno-go\b/i);
  const closed = zones.filter(({ code }) => noGo(code) !== null);
  if (closed.length === 0 || points.length === 0) return;
  const free = new Set(points);
  const search = createSearch(points);
  const budget = createBudget(steps);
  for (const [place, zone] of closed.entries()) {
    const inside = partsOf(zone.shape)
      .flatMap((rings) => takeInside(rings, search, free, budget))
      .sort((a, b) => a - b);
    const read = noGo(zone.code);
    if (inside.length > 0 && read !== null) reportInside(zone, read, inside);
    if (free.size === 0) return;
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

/** A place of a point, which has more than one as a MultiPoint. */
interface Placed {
  readonly point: PointFeature;
  readonly at: Place;
}

/** Returns a search for the points in the box around a polygon, as long as steps are left. */
function createSearch(points: readonly PointFeature[]): (rings: Rings, budget: Budget) => Placed[] {
  const placed = points.flatMap((point) => placesOf(point.shape).map((at): Placed => ({ point, at })));
  const tree = new Flatbush(placed.length);
  const order = scatter(placed.length);
  const placedAt = (nth: number) => placed[order[nth] ?? 0] as Placed;
  for (const nth of order.keys()) {
    // Further coordinates of a place would be read as the far corner of a box.
    const [x, y] = placedAt(nth).at;
    tree.add(x, y);
  }
  tree.finish();
  return (rings, budget) => {
    const box = boundsAround(rings.flat());
    const near: Placed[] = [];
    if (box === null) return near;
    // The return value of the filter ends the search.
    tree.collides(box.minXM, box.minYM, box.maxXM, box.maxYM, (nth) => {
      near.push(placedAt(nth));
      return !budget.spend(1);
    });
    return near;
  };
}

/** Removes the points inside a polygon from `free`, and returns their indices: all, unless the steps run out. */
function takeInside(
  rings: Rings,
  search: ReturnType<typeof createSearch>,
  free: Set<PointFeature>,
  budget: Budget,
): number[] {
  const corners = rings.reduce((sum, ring) => sum + ring.length, 0);
  const inside: number[] = [];
  for (const { point, at } of search(rings, budget)) {
    if (!free.has(point) || !budget.spend(corners) || !isInsideZone(at, rings)) continue;
    free.delete(point);
    inside.push(point.index);
  }
  return inside;
}
