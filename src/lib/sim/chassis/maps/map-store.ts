import type { CurrentMapWire, MapListItemWire, MapWire } from '../../../chassis/wire.ts';
import { createFloorGrid, demoMap, floorOverlays } from '../floor/floor.ts';
import { blockLine, blockPolygon, type Grid, type Point } from '../floor/grid.ts';
import { gridToPng } from './map-image.ts';
import { createSampleGrid, oddOverlays } from './odd-overlays.ts';

/** A stored map. */
export interface FloorMap {
  /** -1 for a map that was set from data and never stored. */
  readonly id: number;
  readonly uid: string;
  readonly name: string;
  /** Unix seconds. */
  readonly createTime: number;
  readonly modifiedTime: number;
  readonly mapVersion: number;
  readonly overlaysVersion: number;
  /** JSON text of a GeoJSON collection, or empty. */
  readonly overlays: string;
  readonly grid: Grid;
  /** Localisation data, opaque to clients. */
  readonly pbstream: Buffer;
}

interface MapChanges {
  readonly name?: string;
  readonly overlays?: string;
  readonly overlaysVersion?: number;
  /** Leaves the current map as it was loaded. */
  readonly keepsRunning?: boolean;
}

export const EMPTY_OVERLAYS = JSON.stringify({ type: 'FeatureCollection', features: [] });

/** The stored maps and the current map. */
export function createMapStore(serial: string, now: () => number) {
  const maps = new Map<number, FloorMap>();
  let nextId = 1;
  let current: FloorMap | undefined;

  const add = (draft: Omit<FloorMap, 'id' | 'createTime' | 'modifiedTime'>): FloorMap => {
    const map = { ...draft, id: nextId, createTime: now(), modifiedTime: now() };
    nextId += 1;
    maps.set(map.id, map);
    return map;
  };

  const grid = createFloorGrid();
  const stored = (uid: string, name: string, more: Pick<FloorMap, 'grid' | 'overlays' | 'overlaysVersion'>) =>
    add({ uid, name, mapVersion: 1, pbstream: localisationOf(uid), ...more });
  current = stored(demoMap.uid, demoMap.title, {
    grid,
    overlaysVersion: 4,
    overlays: floorOverlays(serial),
  });
  stored('3d7f4a52-0000-4000-8000-000000000002', '1. Stock', { grid, overlaysVersion: 0, overlays: EMPTY_OVERLAYS });
  stored('65f1c0de0000000000000003', 'Musterblatt', {
    grid: createSampleGrid(),
    overlaysVersion: 17,
    overlays: oddOverlays(serial),
  });

  return {
    /** Newest last, as stored. */
    list: (): readonly FloorMap[] => [...maps.values()],
    get: (id: number): FloorMap | undefined => maps.get(id),
    byUid: (uid: string): FloorMap | undefined => [...maps.values()].find((map) => map.uid === uid),
    current: (): FloorMap | undefined => current,
    use(map: FloorMap | undefined): void {
      current = map;
    },
    add,
    change(id: number, changes: MapChanges): FloorMap | undefined {
      const map = maps.get(id);
      if (!map) return undefined;
      const { overlays } = changes;
      const changed: FloorMap = {
        ...map,
        modifiedTime: now(),
        ...(changes.name !== undefined && { name: changes.name }),
        ...(overlays !== undefined && {
          overlays,
          overlaysVersion: changes.overlaysVersion ?? map.overlaysVersion + 1,
        }),
      };
      maps.set(id, changed);
      // The current map is a copy: an integrator reports that a robot may keep using the overlays that it has loaded.
      if (current?.id === id && changes.keepsRunning !== true) current = changed;
      return changed;
    },
    remove: (id: number): boolean => maps.delete(id),
    clear: (): void => maps.clear(),
    lose(): void {
      maps.clear();
      current = undefined;
    },
  };
}

/** Different for every map and not valid text, so that a mix-up or a text conversion becomes visible. */
function localisationOf(uid: string): Buffer {
  return Buffer.concat([Buffer.from(`simulated localisation data of ${uid}\n`), Buffer.from([0x00, 0xff, 0xfe, 0x80])]);
}

/** The collection in the overlays of a map; an empty text has no features. Throws on malformed text. */
export function parseOverlays(overlays: string): unknown {
  return JSON.parse(overlays === '' ? EMPTY_OVERLAYS : overlays);
}

/** Vendor facts 1.5: the list has neither overlays nor grid. */
export function mapListItem(map: FloorMap, base: string): MapListItemWire & Readonly<Record<string, unknown>> {
  const url = `${base}/maps/${map.id}`;
  return {
    id: map.id,
    uid: map.uid,
    map_name: map.name,
    create_time: Math.floor(map.createTime),
    map_version: map.mapVersion,
    overlays_version: map.overlaysVersion,
    pbstream_size: map.pbstream.length,
    image_size: mapPng(map, 'full').length,
    thumbnail_url: `${url}/thumbnail`,
    image_url: `${url}.png`,
    url,
  };
}

/** Vendor facts 1.5: one map, without `url`, with the position of its grid and the overlays as JSON text. */
export function mapDetail(map: FloorMap, base: string): MapWire {
  const { url, ...item } = mapListItem(map, base);
  return {
    ...item,
    last_modified_time: Math.floor(map.modifiedTime),
    grid_origin_x: map.grid.originXM,
    grid_origin_y: map.grid.originYM,
    grid_resolution: map.grid.resolutionM,
    overlays: map.overlays,
    pbstream_url: `${url}.pbstream`,
  } as MapWire;
}

export function currentMapWire(map: FloorMap): CurrentMapWire {
  return {
    id: map.id,
    uid: map.uid,
    map_name: map.name,
    create_time: Math.floor(map.createTime),
    map_version: map.mapVersion,
    overlays_version: map.overlaysVersion,
  };
}

const images = new WeakMap<Grid, { full?: Buffer; small?: Buffer }>();

/** The picture of a map, rendered from its grid once. */
export function mapPng(map: FloorMap, size: 'full' | 'small'): Buffer {
  const cached = images.get(map.grid) ?? {};
  images.set(map.grid, cached);
  cached[size] ??= gridToPng(map.grid, size === 'full' ? 1 : 4);
  return cached[size];
}

/** The features of a map's overlays; none when the text is malformed. */
function featuresOf(map: FloorMap): readonly unknown[] {
  try {
    const collection = parseOverlays(map.overlays);
    return isRecord(collection) && Array.isArray(collection.features) ? collection.features : [];
  } catch {
    return [];
  }
}

/** The grid for the planner, with no-go zones (kind 1) and virtual walls (kind 2) as walls (vendor facts 3). */
export function gridForPlanning(map: FloorMap): Grid {
  const grid = { ...map.grid, cells: map.grid.cells.slice() };
  for (const feature of featuresOf(map).slice(0, 1000)) {
    if (!isRecord(feature) || !isRecord(feature.geometry) || !isRecord(feature.properties)) continue;
    const { type, coordinates } = feature.geometry;
    if (type === 'Polygon' && Number(feature.properties.regionType) === 1 && Array.isArray(coordinates)) {
      blockPolygon(grid, asPoints(coordinates[0]));
    }
    if (type === 'LineString' && Number(feature.properties.lineType) === 2) {
      const points = asPoints(coordinates);
      for (const [i, to] of points.entries()) {
        const from = points[i - 1];
        if (from) blockLine(grid, from, to);
      }
    }
  }
  return grid;
}

/** The chargers (kind 9) in the overlays of a map, headings in degrees as in overlays. */
export function chargersOn(map: FloorMap): readonly (Point & { readonly yawDeg: number })[] {
  return featuresOf(map).flatMap((feature: unknown) => {
    if (!isRecord(feature) || !isRecord(feature.geometry) || !isRecord(feature.properties)) return [];
    const { geometry, properties } = feature;
    if (geometry.type !== 'Point' || Number(properties.type) !== 9) return [];
    const [point] = asPoints([geometry.coordinates]);
    const yawDeg = Number(properties.yaw);
    return point && Number.isFinite(yawDeg) ? [{ ...point, yawDeg }] : [];
  });
}

function asPoints(value: unknown): Point[] {
  if (!Array.isArray(value)) return [];
  return value.slice(0, 1000).flatMap((pair): Point[] => {
    if (!Array.isArray(pair)) return [];
    const [xM, yM] = pair as unknown[];
    return typeof xM === 'number' && typeof yM === 'number' ? [{ xM, yM }] : [];
  });
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
