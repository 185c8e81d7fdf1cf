import { sha256 } from '../lifecycle/index.ts';
import { titleIn } from '../text/index.ts';
import type { SiteFile } from './schema.ts';

/** The map in which a place was measured. */
export interface PlaceMap {
  readonly uid: string;
  /** `map_version` at the measurement; null where the chassis reported none. */
  readonly version: number | null;
  /** For people, in English; the pages have it in their language. */
  readonly title: string;
  /** The robot with which the place was measured, where that is another one than that of the site file. */
  readonly ofRobot?: string;
}

/** The map of a place of the site file; null where the file names none. */
export function mapOfPlace(
  { maps, chassis }: Pick<SiteFile, 'maps'> & { readonly chassis: Pick<SiteFile['chassis'], 'serial'> },
  place: { readonly map?: string | undefined },
): PlaceMap | null {
  const names = Object.keys(maps);
  const name = place.map ?? (names.length === 1 ? names[0] : undefined);
  const map = name === undefined || !Object.hasOwn(maps, name) ? undefined : maps[name];
  if (map === undefined) return null;
  const { uid, version, robot = chassis.serial } = map;
  const title = titleIn(map.title ?? String(name), 'en');
  return { uid, version, title, ...(robot !== chassis.serial && { ofRobot: robot }) };
}

/**
 * Sixteen hex digits that are the same for the same map in the same version, and for no other: robots compare by them in
 * which map their poses count, without naming it. Project decision.
 */
export function mapMark({ uid, version }: Pick<PlaceMap, 'uid' | 'version'>): string {
  return sha256(`gw heartbeat map\0${uid}\0${version ?? ''}`).slice(0, 16);
}

/** The maps of all places of the site file, each once; null among them where a place has none. */
export function mapsOfPlaces(
  site: Parameters<typeof mapOfPlace>[0] & Pick<SiteFile, 'stations' | 'dock'>,
): readonly (PlaceMap | null)[] {
  const places = [...Object.values(site.stations), ...(site.dock === undefined ? [] : [site.dock])];
  const found = new Map(places.map((place) => mapOfPlace(site, place)).map((map) => [map?.uid ?? null, map]));
  return [...found.values()];
}
