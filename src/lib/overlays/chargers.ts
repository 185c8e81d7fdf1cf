import { factById, tableOf } from '../evidence/index.ts';
import { idsOf } from './ids.ts';
import type { ChargerPair, CodeBook, Drawing, Overlays } from './model.ts';

const pointTypes = 'vendor.overlays.point-types';

/** `type` of a charger. @source vendor SDK, app API and REST book (HINWEIS): 9 */
export const CHARGER_TYPE = pointTypeNamed('charger');
/** `type` of the second item of a charging station. @source vendor SDK (HINWEIS): 36; the app API lists it as gone */
export const DOCKING_POINT_TYPE = pointTypeNamed('docking point');

/**
 * The charging stations of a map. A charger is a point with a `dockingPointId`, or of the type of chargers unless that
 * meaning was contradicted on this device. Its partner is the drawing that it names; of several with the same id the
 * first of the type of docking points, else the first. The distance is that of this drawing, in metres: the one pair
 * that was ever measured lends it nothing.
 * @source a pair: specification, 'Map and overlays' (BELEGT); which two belong together: vendor (HINWEIS)
 */
export function chargerPairs(overlays: Overlays, codeBook: CodeBook): ChargerPair[] {
  const isChargerType = meansCharger(codeBook);
  const chargers = overlays.drawings.filter(
    (drawing) =>
      drawing.kind === 'point' &&
      (drawing.partnerId !== null || (isChargerType && drawing.code?.number === CHARGER_TYPE)),
  );
  if (chargers.length === 0) return [];

  const partnersOf = createPartners(overlays.drawings);
  return chargers.map((charger) => {
    const id = charger.partnerId;
    // One of them may be the charger itself.
    const partner = id === null ? undefined : partnersOf(id).find((candidate) => candidate !== charger);
    return {
      charger: charger.index,
      dockingPoint: partner?.index ?? null,
      named: id,
      distanceM: partner === undefined ? null : distanceBetween(charger, partner),
    };
  });
}

/**
 * The first two that an id may mean: those of the type of docking points, then the others. Found once for an id, since
 * any number of chargers may name it.
 */
function createPartners(drawings: readonly Drawing[]): (id: string) => readonly Drawing[] {
  const { first, doubled } = idsOf(drawings);
  const known = new Map<string, readonly Drawing[]>();
  return (id) => {
    const several = doubled.get(id);
    if (several === undefined) {
      const only = first.get(id);
      return only === undefined ? [] : [only];
    }
    let partners = known.get(id);
    if (partners === undefined) {
      const docks = several.filter(isDockingPoint);
      const others = several.filter((drawing) => !isDockingPoint(drawing));
      partners = [...docks.slice(0, 2), ...others.slice(0, 2)].slice(0, 2);
      known.set(id, partners);
    }
    return partners;
  };
}

function isDockingPoint({ kind, code }: Drawing): boolean {
  return kind === 'point' && code?.number === DOCKING_POINT_TYPE;
}

function distanceBetween({ shape: a }: Drawing, { shape: b }: Drawing): number | null {
  if (a.kind !== 'point' || b.kind !== 'point') return null;
  const distance = Math.hypot(a.at[0] - b.at[0], a.at[1] - b.at[1]);
  return Number.isFinite(distance) ? distance : null;
}

function meansCharger(codeBook: CodeBook): boolean {
  const { readings } = codeBook.meaning('type', CHARGER_TYPE);
  return !readings.some(({ fact, here }) => fact === pointTypes && here?.verdict === 'contradicted');
}

function pointTypeNamed(name: string): number {
  const [number] =
    Object.entries(tableOf(factById(pointTypes).value) ?? {}).find(([, meaning]) => meaning === name) ?? [];
  return Number(number);
}
