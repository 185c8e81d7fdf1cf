import {
  type FeatureFilter,
  frameOf,
  type Inspection,
  inspectOverlays,
  readOverlays,
} from '../../../src/lib/overlays/index.ts';
import { createFloorGrid, floorOverlays } from '../../../src/lib/sim/chassis/floor/floor.ts';
import { gridToPng } from '../../../src/lib/sim/chassis/maps/map-image.ts';
import { createSampleGrid, oddOverlays } from '../../../src/lib/sim/chassis/maps/odd-overlays.ts';

/** The inspection of a map of the simulator with its picture. */
export function lookAt(
  which: 'floor' | 'sheet',
  filter: FeatureFilter = {},
): { inspection: Inspection; image: Uint8Array } {
  const grid = which === 'floor' ? createFloorGrid() : createSampleGrid();
  const image = gridToPng(grid);
  const overlays = readOverlays(
    JSON.stringify({
      id: 3,
      uid: '5f0c00000000000000000001',
      map_name: which,
      map_version: 2,
      overlays_version: 5,
      grid_origin_x: grid.originXM,
      grid_origin_y: grid.originYM,
      grid_resolution: grid.resolutionM,
      overlays: which === 'floor' ? floorOverlays('SIM0001') : oddOverlays('SIM0001'),
    }),
  );
  const inspection = inspectOverlays(overlays, { frame: frameOf(overlays.map, image), device: null, filter });
  return { inspection, image };
}

/** The inspection of a bare collection without a picture. */
export function lookAtCollection(collection: object): Inspection {
  return inspectOverlays(readOverlays(JSON.stringify(collection)), { frame: null, device: null });
}

export const collectionOf = (...features: readonly object[]) => ({ type: 'FeatureCollection', features });

export const pointAt = (xM: number, yM: number, properties: object = {}, id?: string) => ({
  ...(id !== undefined && { id }),
  type: 'Feature',
  geometry: { type: 'Point', coordinates: [xM, yM] },
  properties,
});

export const zoneOf = (ring: readonly (readonly [number, number])[], properties: object = {}) => ({
  type: 'Feature',
  geometry: { type: 'Polygon', coordinates: [ring] },
  properties,
});

export const pageOptions = {
  title: 'Hall',
  image: null,
  source: 'file hall.json',
  chassis: { serial: 'SIM0001', software: '2.12.3' },
  madeAt: '2026-01-31T12:00:00.000Z',
};
