import { createGrid, FREE, fillRect, type Grid, UNKNOWN, WALL } from './grid.ts';

/** A place on the floor; heading in degrees, for readability of this table. */
export interface Place {
  readonly xM: number;
  readonly yM: number;
  readonly yawDeg: number;
}

/** The map of the stations and the dock. */
export const demoMap = { uid: '65f1c0de0000000000000001', version: 1, title: 'Erdgeschoss' } as const;

/** Stations of the demo tour: a loop of short legs, with headings along the loop. */
export const stations = {
  A: { xM: 1.4, yM: 0, yawDeg: 90 },
  B: { xM: 0.2, yM: 1.6, yawDeg: 180 },
  C: { xM: -1.6, yM: 0.4, yawDeg: -90 },
} as const satisfies Record<string, Place>;

/** Pose of the robot while it charges, its back to the wall. */
export const dock = { xM: 0, yM: -2, yawDeg: 90 } as const satisfies Place;

/** Distance of charger and docking point, measured four times on one pair. @source specification, 'Map and overlays' */
export const DOCKING_DISTANCE_M = 0.899;

type Corner = readonly [number, number];

const areas: readonly (readonly [from: Corner, to: Corner])[] = [
  [[-2.75, -2.75], [4.4, 2.9]], // lobby
  [[-2.75, 3.05], [4.4, 5.75]], // kitchen
  [[4.4, 0], [12.75, 2]], // corridor
  [[4.55, 2.15], [6.9, 5.75]], // 101
  [[7.05, 2.15], [9.4, 5.75]], // 102
  [[9.55, 2.15], [12.75, 5.75]], // 103
  [[4.55, -2.75], [7.4, -0.15]], // 104
  [[7.55, -2.75], [9, -0.15]], // closed shaft, unreachable
  [[10.9, -2.1], [12.6, -0.15]], // lift
]; // biome-ignore format: one area a line
const doors: readonly (readonly [from: Corner, to: Corner])[] = [
  [[3, 2.9], [4.1, 3.05]], // kitchen
  [[5.2, 2], [6.25, 2.15]], // 101
  [[7.7, 2], [8.75, 2.15]], // 102
  [[9.75, 2], [10.8, 2.15]], // 103
  [[5.5, -0.15], [6.55, 0]], // 104
  [[11.2, -0.15], [12.3, 0]], // lift
]; // biome-ignore format: one opening a line
const furniture: readonly (readonly [from: Corner, to: Corner])[] = [
  [[-0.2, -2.75], [0.2, -2.55]], // dock
  [[2.6, -1.9], [4, -1.3]], // reception desk
  [[-2.75, 1.6], [-2.3, 2.9]], // sofa
  [[-1.6, 4.2], [2.2, 4.8]], // kitchen table
  [[5, 4.5], [6.5, 5.75]], // beds
  [[7.5, 4.5], [9, 5.75]],
  [[11.2, 4], [12.75, 5.5]],
  [[4.55, -2.75], [6.2, -1.4]],
]; // biome-ignore format: one piece a line

/** A hotel floor, 16 m by 9 m, its origin off the corner so that an ignored offset becomes visible. */
export function createFloorGrid(): Grid {
  const grid = createGrid({ width: 320, height: 180, resolutionM: 0.05, originXM: -3, originYM: -3 }, UNKNOWN);
  fillRect(grid, [-2.9, -2.9], [12.9, 5.9], WALL);
  for (const [from, to] of [...areas, ...doors]) fillRect(grid, from, to, FREE);
  for (const [from, to] of furniture) fillRect(grid, from, to, WALL);
  return grid;
}

const feature = (id: unknown, type: string, coordinates: unknown, properties: object) => ({
  ...(id !== undefined && { id }),
  type: 'Feature',
  geometry: { type, coordinates },
  properties: { ...properties, mapOverlay: true },
});
export const point = (id: unknown, at: unknown, properties: object) => feature(id, 'Point', at, properties);
export const line = (id: unknown, way: unknown, properties: object) => feature(id, 'LineString', way, properties);
export const zone = (id: unknown, rings: unknown, properties: object) =>
  feature(id, 'Polygon', rings, { ...properties, blocked: false });
const openRing = ([left, lower]: Corner, [right, upper]: Corner): Corner[] => [
  [left, lower],
  [right, lower],
  [right, upper],
  [left, upper],
];
const ring = (from: Corner, to: Corner): Corner[] => [...openRing(from, to), from];

/**
 * The overlays of the floor, as inconsistent as real ones: kinds as text and as number, one ring open,
 * one feature without an id, headings in degrees and mostly as text (specification 'Angles'), icons offset
 * by the unexplained -82 degrees.
 */
export function floorOverlays(serial: string): string {
  const { A, B, C } = stations;
  return JSON.stringify({
    type: 'FeatureCollection',
    features: [
      point('5f0c0000000000000000000a', [A.xM, A.yM], { type: '11', name: 'A', yaw: '90', iconYaw: '8' }),
      point('5f0c0000000000000000000b', [B.xM, B.yM], {
        type: 11,
        name: 'B',
        yaw: '180',
        iconYaw: '98',
        startType: '1',
        endType: 2,
      }),
      point('c', [C.xM, C.yM], { type: '11', name: 'C', yaw: -90, iconYaw: '-172' }),
      point('charger-1', [dock.xM, dock.yM], {
        type: '9',
        name: 'dock',
        yaw: '90',
        iconYaw: '8',
        deviceIds: [serial],
        dockingPointId: 'docking-point-1',
      }),
      point('docking-point-1', [dock.xM, dock.yM + DOCKING_DISTANCE_M], { type: '36', name: '', yaw: '90' }),
      point('reception', [3.3, -0.8], { type: 19, name: 'Rezeption', yaw: '-90' }),
      point('lift', [11.75, -1], { type: '6', name: 'Aufzug', yaw: '90' }),
      point('lift-wait', [11.75, 1], { type: '28', name: 'Aufzug warten', yaw: '-90' }),
      point(undefined, [3.55, 3], { type: '8', name: 'Küchentür', yaw: '90' }),
      zone('stairs', [ring([-2.7, -2.7], [-1.3, -1.7])], { regionType: 1, name: 'Treppe' }),
      zone('slow', [openRing([4.4, 0], [7, 2])], { regionType: '2', name: 'Zimmerflur' }),
      zone('lift-zone', [ring([10.9, -2.1], [12.6, 0])], { regionType: '3' }),
      zone(undefined, [ring([3, 2.6], [4.1, 3.4])], { regionType: '5', mac: '02:00:00:00:00:05' }),
      line(
        'lane-1',
        [
          [4.6, 0.6],
          [10.4, 0.6],
        ],
        { lineType: '1', direction: 3 },
      ),
      line(
        'behind-desk',
        [
          [2.4, -2.7],
          [2.4, -1.9],
        ],
        { lineType: 2 },
      ),
    ],
  });
}
