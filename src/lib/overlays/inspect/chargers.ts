import { distanceBetweenM, onlyPlaceOf } from '../geometry.ts';
import type { ChargerPair, Code, CodeBook, Feature, Overlays } from '../model.ts';
import { createReader } from '../rules/reading.ts';

/** Candidate points of charging stations. Their type numbers (9, 36, 34) come from the code book only. */
interface Items {
  readonly chargers: readonly Feature[];
  readonly dockingPoints: readonly Feature[];
  /** Points read as racks with a reference: the docking point referred to belongs to the rack, not to a charger. */
  readonly racks: readonly Feature[];
}

/**
 * The charging stations of a map: unordered pairs of a point read as a charger and a point read as a docking point. A
 * `dockingPointId` on either of them that refers to the other links the two, once, whether one or both have it. Items
 * without a partner follow as pairs with one side missing; a docking point that only racks refer to is left out. Where
 * several points of the right kind share an id, none of them is chosen. Sorted by charger, then by docking point.
 * The distance is computed from the two features, in metres, independent of the one measured pair.
 * @source a pair: specification, 'Map and overlays' (BELEGT stated); which two belong together: vendor (HINWEIS); that both
 * items may have the reference: a public integrator (HINWEIS)
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
  for (const charger of chargers) link(charger, uniqueItem(dockingPointsById, charger.partnerId));
  for (const dockingPoint of dockingPoints) link(uniqueItem(chargersById, dockingPoint.partnerId), dockingPoint);

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
  // Cached per code: a large map has a hundred thousand points of some ten numbers.
  const roles = new Map<Code, keyof typeof items | null>();
  for (const feature of features) {
    const { kind, code } = feature;
    if (kind !== 'point' || code === null) continue;
    let role = roles.get(code);
    if (role === undefined) {
      role = roleOf(code);
      roles.set(code, role);
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
  const index = new Map<string, Feature[]>();
  for (const item of items) {
    if (item.id === null) continue;
    const same = index.get(item.id);
    if (same === undefined) index.set(item.id, [item]);
    else same.push(item);
  }
  return index;
}

/** The item with this id; undefined when there is none, or more than one. */
function uniqueItem(items: ById, id: string | null): Feature | undefined {
  const found = id === null ? undefined : items.get(id);
  return found?.length === 1 ? found[0] : undefined;
}

/** By ids alone, also where the reference of one side is ambiguous and that of the other is not. */
function linkBetween(charger: Feature, dockingPoint: Feature): ChargerPair['linkedBy'] {
  const refersToDockingPoint = charger.partnerId !== null && charger.partnerId === dockingPoint.id;
  const refersToCharger = dockingPoint.partnerId !== null && dockingPoint.partnerId === charger.id;
  if (refersToDockingPoint && refersToCharger) return 'both';
  return refersToDockingPoint ? 'charger' : 'docking-point';
}

interface Found {
  readonly chargersById: ById;
  readonly dockingPointsById: ById;
  readonly paired: ReadonlySet<Feature>;
}

/** Items without a partner that refer to a shared id, or share an id that is referred to. */
function undecidedAmong(
  chargers: readonly Feature[],
  dockingPoints: readonly Feature[],
  { chargersById, dockingPointsById, paired }: Found,
): (item: Feature) => boolean {
  const undecided = new Set<Feature>();
  const seen = new Set<readonly Feature[]>();
  const collect = (items: readonly Feature[], others: ById) => {
    for (const item of items) {
      const found = item.partnerId === null || paired.has(item) ? undefined : others.get(item.partnerId);
      if (found === undefined || found.length < 2) continue;
      undecided.add(item);
      if (seen.has(found)) continue;
      seen.add(found);
      for (const other of found) undecided.add(other);
    }
  };
  collect(chargers, dockingPointsById);
  collect(dockingPoints, chargersById);
  return (item) => undecided.has(item);
}

/** Whether a rack refers to a docking point, or the docking point to a rack. */
function rackTest(racks: readonly Feature[]): (dockingPoint: Feature) => boolean {
  const named = new Set(racks.map(({ partnerId }) => partnerId));
  const ids = new Set(racks.flatMap(({ id }) => (id === null ? [] : [id])));
  return ({ id, partnerId }) => (id !== null && named.has(id)) || (partnerId !== null && ids.has(partnerId));
}

function pairOf(charger: Feature | null, dockingPoint: Feature | null, linkedBy: ChargerPair['linkedBy']): ChargerPair {
  return {
    charger: charger?.index ?? null,
    dockingPoint: dockingPoint?.index ?? null,
    linkedBy,
    chargerReference: charger?.partnerId ?? null,
    dockingPointReference: dockingPoint?.partnerId ?? null,
    distanceM: charger === null || dockingPoint === null ? null : distanceBetween(charger, dockingPoint),
  };
}

function distanceBetween({ shape: a }: Feature, { shape: b }: Feature): number | null {
  const [from, to] = [onlyPlaceOf(a), onlyPlaceOf(b)];
  const distance = from === null || to === null ? Number.NaN : distanceBetweenM(from, to);
  return Number.isFinite(distance) ? distance : null;
}
