import { createChassisClient } from '../../chassis/index.ts';
import { GwError } from '../../error/index.ts';
import { editSiteFile, mapOfPlace, namesOf, type Site, type SiteEdit } from '../../site/index.ts';
import { MAX_TITLE_LENGTH, type Title, titleMark, titleProblem } from '../../text/index.ts';
import { chassisAccess } from '../chassis/access.ts';
import type { CheckContext, Toolkit } from '../toolkit.ts';
import type { SiteMap } from './site.result.ts';

export interface SiteMapOptions {
  /** Key in `maps`; null: the one that has this map already, else made from its name. */
  readonly key: string | null;
  /** A person confirms that these places were measured on the current map, in its present version. */
  readonly isConfirmed: boolean;
}

/**
 * Writes the current map of the chassis into the site file, as the map of the places that name none yet, or of those on an
 * earlier version of it, or measured with another robot. Without the confirmation of a person nothing is written. Throws MAP_UNKNOWN without a current map or
 * a uid, SITE_FILE_INVALID, FILE_UNWRITABLE, and as the chassis client.
 */
export async function nameMap(toolkit: Toolkit, options: SiteMapOptions, { signal }: CheckContext): Promise<SiteMap> {
  const { site } = toolkit;
  const access = await chassisAccess(toolkit);
  await using client = createChassisClient(access);
  const { serial } = await client.identity(signal);
  const current = await client.currentMap(signal);
  if (current === null || current.uid === null || current.uid.trim() === '') {
    throw new GwError(
      'MAP_UNKNOWN',
      `The chassis ${serial} uses ${current === null ? 'no map' : 'a map without a uid'}.`,
      {
        remedy: 'Select a stored map (`gw map list`, `gw map select`), then run this again.',
      },
    );
  }
  const map = { uid: current.uid, version: current.mapVersion, id: String(current.id), title: current.name };
  const known = Object.entries(site.maps).find(([, { uid }]) => uid === map.uid);
  const key =
    known?.[0] ??
    options.key ??
    keyOf(
      map.title ?? '',
      Object.entries(site.maps).flatMap(([name, one]) => namesOf(name, one)),
    );
  const before = known === undefined ? null : { version: known[1].version, robot: known[1].robot ?? null };
  const places = placesOf(site).filter(({ at }) => {
    const measured = mapOfPlace(site, at);
    return measured === null || measured.uid === map.uid;
  });
  // A file that names no robot stays as it is until a person confirms its places.
  const isOfThis = before?.robot === serial || (before?.robot === null && !options.isConfirmed);
  const isKnown = places.every(({ at }) => mapOfPlace(site, at) !== null);
  const isSame = before !== null && before.version === map.version && isOfThis && isKnown;
  const result = { path: site.path, serial, key, map, before, places: places.map(({ name }) => name) };
  if (isSame) return { ...result, verdict: 'unchanged' };
  // A new map of a file that names others claims no place.
  const needsPerson = places.length > 0;
  if (needsPerson && !options.isConfirmed) return { ...result, verdict: 'to-confirm' };
  await editSiteFile(site, editsFor(site, key, { ...map, robot: serial }));
  return { ...result, verdict: 'written' };
}

interface NamedPlace {
  readonly name: string;
  readonly path: readonly string[];
  readonly at: { readonly map?: string | undefined };
}

function placesOf({ stations, dock }: Site): readonly NamedPlace[] {
  return [
    ...Object.entries(stations).map(([name, at]) => ({ name, path: ['stations', name], at })),
    ...(dock === undefined ? [] : [{ name: 'the dock', path: ['dock'], at: dock }]),
  ];
}

function editsFor(site: Site, key: string, map: SiteMap['map'] & { readonly robot: string }): SiteEdit[] {
  const { title, ...rest } = map;
  const others = Object.entries(site.maps).filter(([name]) => name !== key);
  const isFirst = Object.keys(site.maps).length === 0;
  // A person may have named it since.
  const own = site.maps[key]?.title ?? (title === null ? undefined : distinct(title, key, others));
  const value = { ...rest, ...(own !== undefined && { title: own }) };
  const [only] = others.map(([name]) => name);
  // Until now the places belonged to the only map without naming it.
  const implied = isFirst || only === undefined ? [] : placesOf(site).filter(({ at }) => at.map === undefined);
  return [
    // The chassis gives its number to another map now: after a restart that lost the maps it counts anew.
    ...others.flatMap(([name, { id }]) => (id === map.id ? [{ path: ['maps', name, 'id'], value: undefined }] : [])),
    { path: isFirst ? ['maps'] : ['maps', key], value: isFirst ? { [key]: value } : value },
    ...implied.map(({ path }) => ({ path: [...path, 'map'], value: only })),
  ];
}

/**
 * The name of the map as the chassis has it, with its key where the site file has another map of this name; undefined where it
 * is no title.
 */
function distinct(
  name: string,
  key: string,
  others: readonly (readonly [string, { readonly title?: Title | undefined }])[],
): string | undefined {
  const taken = others.flatMap(([other, map]) => namesOf(other, map));
  const isTaken = taken.includes(titleMark(name));
  const title = isTaken ? `${shortened(name, key.length + 3)} (${key})` : shortened(name, 0);
  const isTitle = title.length <= MAX_TITLE_LENGTH && titleProblem(title) === null;
  return isTitle && !taken.includes(titleMark(title)) ? title : undefined;
}

/** In code units, as a title is measured, and without half a character at its end. */
function shortened(name: string, spare: number): string {
  const part = name.trim().slice(0, Math.max(1, MAX_TITLE_LENGTH - spare));
  return part.replace(/[\ud800-\udbff]$/, '').trim();
}

/** A key from the name of the map: letters, digits, - and _. */
function keyOf(title: string, taken: readonly string[]): string {
  const plain = title
    .normalize('NFKD')
    .replace(/ß/g, 'ss')
    .replace(/[^A-Za-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .toLowerCase()
    .slice(0, 40);
  const base = plain === '' || plain in {} ? 'map' : plain;
  for (let count = 1; ; count += 1) {
    const key = count === 1 ? base : `${base}-${count}`;
    if (!taken.includes(key)) return key;
  }
}
