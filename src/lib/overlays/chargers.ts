import { factById, tableOf } from '../evidence/index.ts';
import { idOf } from './drawing.ts';
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
      (partnerNamedBy(drawing) !== null || (isChargerType && drawing.code?.number === CHARGER_TYPE)),
  );
  if (chargers.length === 0) return [];

  const named = new Map<string, Candidates>();
  for (const charger of chargers) {
    const id = partnerNamedBy(charger);
    if (id !== null) named.set(id, { dockingPoints: [], others: [] });
  }
  for (const drawing of overlays.drawings) {
    const candidates = drawing.id === null ? undefined : named.get(drawing.id);
    const list = isDockingPoint(drawing) ? candidates?.dockingPoints : candidates?.others;
    if (list && list.length < ENOUGH_CANDIDATES) list.push(drawing);
  }

  return chargers.map((charger) => {
    const id = partnerNamedBy(charger);
    const partner = id === null ? undefined : partnerAmong(named.get(id), charger);
    return {
      charger: charger.index,
      dockingPoint: partner?.index ?? null,
      named: id,
      distanceM: partner === undefined ? null : distanceBetween(charger, partner),
    };
  });
}

function partnerNamedBy({ properties }: Drawing): string | null {
  return idOf(properties.dockingPointId);
}

/** The first of those with the same id, however many there are; one of them may be the charger itself. */
const ENOUGH_CANDIDATES = 2;

interface Candidates {
  readonly dockingPoints: Drawing[];
  readonly others: Drawing[];
}

function partnerAmong(candidates: Candidates | undefined, charger: Drawing): Drawing | undefined {
  const isAnother = (candidate: Drawing) => candidate !== charger;
  return candidates?.dockingPoints.find(isAnother) ?? candidates?.others.find(isAnother);
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
