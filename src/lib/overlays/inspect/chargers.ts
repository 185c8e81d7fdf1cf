import type { ChargerPair, Code, CodeBook, Feature, Overlays } from '../model.ts';
import { createReader } from '../rules/reading.ts';

/** The points that may make charging stations. Their numbers (9, 36, 34) come out of the code book and nowhere else. */
interface Items {
  readonly chargers: readonly Feature[];
  readonly dockingPoints: readonly Feature[];
  /** Points read as racks that carry a reference: what they name belongs to them, and to no charger. */
  readonly racks: readonly Feature[];
}

/**
 * The charging stations of a map: unordered pairs of a point read as a charger and a point read as a docking point. A
 * `dockingPointId` on either of them that names the other one links the two, once, whether one or both carry it. Items
 * without a partner follow as pairs with one side missing; a docking point that only racks refer to is left out. Where
 * an id stands at several points of the right kind, none of them is chosen. Sorted by charger, then by docking point.
 * The distance is that of the two features, in metres: the one pair that was ever measured lends it nothing.
 * @source a pair: specification, 'Map and overlays' (BELEGT); which two belong together: vendor (HINWEIS); that both
 * items may carry the reference: a public integrator (HINWEIS)
 */
export function chargerPairs(overlays: Overlays, codeBook: CodeBook): ChargerPair[] {
  const { chargers, dockingPoints, racks } = itemsOf(overlays.features, codeBook);
  if (chargers.length === 0 && dockingPoints.length === 0) return [];
  const [chargersById, dockingPointsById] = [byId(chargers), byId(dockingPoints)];
  const dockingPointsOf = new Map<Feature, Set<Feature>>();
  const paired = new Set<Feature>();
  const link = (charger: Feature | undefined, dockingPoint: Feature | undefined) => {
    if (charger === undefined || dockingPoint === undefined) return;
    const linked = dockingPointsOf.get(charger);
    if (linked === undefined) dockingPointsOf.set(charger, new Set([dockingPoint]));
    else linked.add(dockingPoint);
    paired.add(charger).add(dockingPoint);
  };
  for (const charger of chargers) link(charger, only(dockingPointsById, charger.partnerId));
  for (const dockingPoint of dockingPoints) link(only(chargersById, dockingPoint.partnerId), dockingPoint);

  const isUndecided = undecidedAmong(chargers, dockingPoints, { chargersById, dockingPointsById, paired });
  const pairs: ChargerPair[] = [];
  for (const charger of chargers) {
    const linked = dockingPointsOf.get(charger);
    if (linked === undefined) {
      pairs.push(pairOf(charger, null, isUndecided(charger) ? 'not-decided' : null));
      continue;
    }
    const inOrder = [...linked].sort((a, b) => a.index - b.index);
    for (const dockingPoint of inOrder) pairs.push(pairOf(charger, dockingPoint, linkBetween(charger, dockingPoint)));
  }
  const isOfRack = rackTest(racks);
  for (const dockingPoint of dockingPoints) {
    if (paired.has(dockingPoint) || isOfRack(dockingPoint)) continue;
    pairs.push(pairOf(null, dockingPoint, isUndecided(dockingPoint) ? 'not-decided' : null));
  }
  return pairs;
}

function itemsOf(features: readonly Feature[], codeBook: CodeBook): Items {
  const items = { charger: [] as Feature[], dockingPoint: [] as Feature[], rack: [] as Feature[] };
  const roleOf = createRoles(codeBook);
  // One look a number: a large map has a hundred thousand points of some ten numbers.
  const known = new Map<Code, keyof typeof items | null>();
  for (const feature of features) {
    const { kind, code } = feature;
    if (kind !== 'point' || code === null) continue;
    let role = known.get(code);
    if (role === undefined) {
      role = roleOf(code);
      known.set(code, role);
    }
    if (role === null || (role === 'rack' && feature.partnerId === null)) continue;
    items[role].push(feature);
  }
  return { chargers: items.charger, dockingPoints: items.dockingPoint, racks: items.rack };
}

function createRoles(codeBook: CodeBook): (code: Code) => 'charger' | 'dockingPoint' | 'rack' | null {
  const isCharger = createReader(codeBook, /^charger$/i);
  const isDockingPoint = createReader(codeBook, /^docking point$/i);
  const isRack = createReader(codeBook, /^rack point$/i);
  return (code) => {
    if (isCharger(code) !== null) return 'charger';
    if (isDockingPoint(code) !== null) return 'dockingPoint';
    return isRack(code) === null ? null : 'rack';
  };
}

type ById = ReadonlyMap<string, readonly Feature[]>;

function byId(items: readonly Feature[]): ById {
  const known = new Map<string, Feature[]>();
  for (const item of items) {
    if (item.id === null) continue;
    const same = known.get(item.id);
    if (same === undefined) known.set(item.id, [item]);
    else same.push(item);
  }
  return known;
}

/** The item with this id; undefined when there is none, or more than one. */
function only(items: ById, id: string | null): Feature | undefined {
  const found = id === null ? undefined : items.get(id);
  return found?.length === 1 ? found[0] : undefined;
}

/** By the ids alone: also where the reference of one side has no single answer and that of the other side has. */
function linkBetween(charger: Feature, dockingPoint: Feature): ChargerPair['namedBy'] {
  const isNamed = charger.partnerId !== null && charger.partnerId === dockingPoint.id;
  const isNamedBack = dockingPoint.partnerId !== null && dockingPoint.partnerId === charger.id;
  if (isNamed && isNamedBack) return 'both';
  return isNamed ? 'charger' : 'docking-point';
}

interface Found {
  readonly chargersById: ById;
  readonly dockingPointsById: ById;
  readonly paired: ReadonlySet<Feature>;
}

/** Items without a partner that refer to an id that several share, or share an id that is referred to. */
function undecidedAmong(
  chargers: readonly Feature[],
  dockingPoints: readonly Feature[],
  { chargersById, dockingPointsById, paired }: Found,
): (item: Feature) => boolean {
  const undecided = new Set<Feature>();
  const seen = new Set<readonly Feature[]>();
  const look = (items: readonly Feature[], others: ById) => {
    for (const item of items) {
      const found = item.partnerId === null || paired.has(item) ? undefined : others.get(item.partnerId);
      if (found === undefined || found.length < 2) continue;
      undecided.add(item);
      if (seen.has(found)) continue;
      seen.add(found);
      for (const other of found) undecided.add(other);
    }
  };
  look(chargers, dockingPointsById);
  look(dockingPoints, chargersById);
  return (item) => undecided.has(item);
}

/** Whether a docking point is named by a rack, or names one. */
function rackTest(racks: readonly Feature[]): (dockingPoint: Feature) => boolean {
  const named = new Set(racks.map(({ partnerId }) => partnerId));
  const ids = new Set(racks.flatMap(({ id }) => (id === null ? [] : [id])));
  return ({ id, partnerId }) => (id !== null && named.has(id)) || (partnerId !== null && ids.has(partnerId));
}

function pairOf(charger: Feature | null, dockingPoint: Feature | null, namedBy: ChargerPair['namedBy']): ChargerPair {
  return {
    charger: charger?.index ?? null,
    dockingPoint: dockingPoint?.index ?? null,
    namedBy,
    named: charger?.partnerId ?? null,
    namedBack: dockingPoint?.partnerId ?? null,
    distanceM: charger === null || dockingPoint === null ? null : distanceBetween(charger, dockingPoint),
  };
}

function distanceBetween({ shape: a }: Feature, { shape: b }: Feature): number | null {
  if (a.kind !== 'point' || b.kind !== 'point') return null;
  const distance = Math.hypot(a.at[0] - b.at[0], a.at[1] - b.at[1]);
  return Number.isFinite(distance) ? distance : null;
}
