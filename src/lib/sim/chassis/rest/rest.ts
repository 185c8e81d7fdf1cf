import { randomBytes } from 'node:crypto';
import type { BootProgressWire } from '../../../chassis/wire.ts';
import type { Faults } from '../../faults.ts';
import type { Grid } from '../floor/grid.ts';
import { keptOverlays } from '../maps/kept-overlays.ts';
import { gridFromPng } from '../maps/map-image.ts';
import {
  currentMapWire,
  EMPTY_OVERLAYS,
  type FloorMap,
  isRecord,
  mapDetail,
  mapListItem,
  mapPng,
  parseOverlays,
} from '../maps/map-store.ts';
import type { Robot } from '../robot.ts';
import { createDeviceRoutes } from './device-routes.ts';
import { createMoveRoutes } from './move-routes.ts';
import {
  created,
  isReal,
  methodNotAllowed,
  notFound,
  notSimulated,
  ok,
  type RestReply,
  type RestRequest,
  type Route,
  refuse,
} from './rest-reply.ts';
import { createServiceRoutes } from './service-routes.ts';

export interface RestOptions {
  readonly robot: Robot;
  readonly faults: Faults;
  readonly serial: string;
  readonly software: string;
  readonly capabilities: Readonly<Record<string, boolean>>;
  readonly clockText: () => string;
  readonly boot: {
    isBooting(): boolean;
    progress(): BootProgressWire;
    restart(): void;
  };
}

/**
 * Where the vendor's texts and client (HINWEIS) have endpoints: mapping, recordings, calibration, cargo devices, WLAN,
 * ROS and more. What is not simulated there is answered by its name, never by 404.
 */
const VENDOR_PATH =
  /^\/(mappings|ros|bags|recording|videos|core_dumps|collected_data|hostnames|app_store|bluetooth|wifi_setup|rb-admin|robot-params|device|services|system)(\/|$)/;

const PICTURE = 'image/png';
/** Maximum nesting of overlays. */
const MAX_DEPTH = 64;

/** The REST interface of the chassis (vendor facts 1); docs/sim.md lists the project decisions. */
export function createRest(options: RestOptions) {
  const { robot, faults } = options;
  const { maps } = robot;

  function setCurrentMap({ body }: RestRequest): RestReply {
    if (!isRecord(body)) return refuse(400, 'body must be an object');
    if (body.data_url !== undefined) return notSimulated('maps from files on the robot; send the map as data');
    const map = findOrMakeMap(body);
    if (typeof map === 'string') return refuse(map.endsWith('not found') ? 404 : 400, map);
    robot.useMap(map);
    return ok(currentMapWire(map));
  }

  function findOrMakeMap(body: Record<string, unknown>): FloorMap | string {
    if (body.map_id !== undefined) {
      if (!Number.isInteger(body.map_id)) return 'map_id must be an integer';
      return maps.get(body.map_id as number) ?? 'map not found';
    }
    if (body.map_uid !== undefined) {
      if (typeof body.map_uid !== 'string') return 'map_uid must be a string';
      return maps.byUid(body.map_uid) ?? 'map not found';
    }
    const draft = readMap(body);
    if (typeof draft === 'string') return draft;
    return { ...draft, id: -1, createTime: 0, modifiedTime: 0 };
  }

  function patchMap({ body, base }: RestRequest, id: string): RestReply {
    // The text of Django REST framework, whose form the vendor's error bodies have.
    if (faults.is('patch-405')) return { status: 405, json: { detail: 'Method "PATCH" not allowed.' } };
    const found = maps.get(Number(id));
    if (!found) return notFound('map');
    if (!isRecord(body)) return refuse(400, 'body must be an object');
    const { map_name: name, overlays, overlays_version: version } = body;
    if (name === undefined && overlays === undefined) return refuse(400, 'nothing to change');
    if (name !== undefined && (typeof name !== 'string' || name === ''))
      return refuse(400, 'map_name must be a string');
    if (overlays !== undefined && !areOverlays(overlays)) {
      return refuse(400, 'overlays must be a JSON text of a FeatureCollection');
    }
    if (version !== undefined && !Number.isInteger(version)) return refuse(400, 'overlays_version must be an integer');
    if (faults.is('patch-ignored')) return ok(mapListItem(found, base));
    const keepsRunning = faults.is('running-map-keeps-overlays');
    const stuck = faults.is('overlays-version-stuck') || keepsRunning;
    const changed = maps.change(found.id, {
      ...(typeof name === 'string' && { name }),
      ...(typeof overlays === 'string' && { overlays: keptOverlays(overlays, faults) }),
      ...(typeof version === 'number' && { overlaysVersion: version }),
      ...(stuck && { overlaysVersion: found.overlaysVersion }),
      keepsRunning,
    });
    if (maps.current()?.id === found.id && !keepsRunning) robot.mapChanged();
    return changed ? ok(mapListItem(changed, base)) : notFound('map');
  }

  function createMap({ body, headers, base }: RestRequest): RestReply {
    if (String(headers['content-type'] ?? '').startsWith('multipart/')) return notSimulated('maps sent as a form');
    if (!isRecord(body)) return refuse(400, 'body must be an object');
    if (body.mapping_id !== undefined) return notSimulated('mapping');
    if (body.carto_map_filename !== undefined || body.occupancy_grid_filename !== undefined) {
      return notSimulated('maps from files on the robot; send the map as data');
    }
    const draft = readMap(body);
    return typeof draft === 'string' ? refuse(400, draft) : created(mapListItem(maps.add(draft), base));
  }

  const routes: readonly Route[] = [
    ...createDeviceRoutes(options),
    ...createMoveRoutes(options),
    [
      'GET',
      /^\/chassis\/current-map$/,
      () => {
        if (faults.is('current-map-fails')) return refuse(500, 'the current map cannot be read');
        const map = maps.current();
        return map ? ok(currentMapWire(map)) : notFound('current map');
      },
    ],
    ['POST', /^\/chassis\/current-map$/, setCurrentMap],
    ['GET', /^\/maps$/, ({ base }) => ok(maps.list().map((map) => mapListItem(map, base)))],
    ['POST', /^\/maps$/, createMap],
    [
      'DELETE',
      /^\/maps$/,
      () => {
        maps.clear();
        return { status: 204 };
      },
    ],
    ['GET', /^\/maps\/(\d{1,9})$/, ({ base }, id) => mapReply(id, (map) => mapData(map, base))],
    ['PATCH', /^\/maps\/(\d{1,9})$/, patchMap],
    ['PUT', /^\/maps\/(\d{1,9})$/, () => notSimulated('overwriting a map')],
    ['DELETE', /^\/maps\/(\d{1,9})$/, (_, id) => (maps.remove(Number(id)) ? { status: 204 } : notFound('map'))],
    ['GET', /^\/maps\/(\d{1,9})\.png$/, (_, id) => mapReply(id, (map) => png(mapPng(map, 'full')))],
    ['GET', /^\/maps\/(\d{1,9})\/thumbnail$/, (_, id) => mapReply(id, (map) => png(mapPng(map, 'small')))],
    [
      'GET',
      /^\/maps\/(\d{1,9})\.pbstream$/,
      (_, id) => mapReply(id, (map) => file(map.pbstream, 'application/octet-stream')),
    ],
    ...createServiceRoutes(robot, options.boot.restart),
  ];

  function file(bytes: Buffer, type: string): RestReply {
    if (faults.is('image-fails')) return refuse(500, 'the file cannot be read');
    const flow = faults.is('image-cut') ? 'cut' : faults.is('image-slow') && type === PICTURE ? 'slow' : undefined;
    return { status: 200, bytes, type, ...(flow && { flow }) };
  }

  function png(bytes: Buffer): RestReply {
    return file(bytes, PICTURE);
  }

  function mapData(map: FloorMap, base: string): RestReply {
    const isDamaged = faults.is('map-damaged') && map.id === maps.list().at(-1)?.id;
    return isDamaged ? refuse(500, 'the map cannot be read') : ok(mapDetail(map, base));
  }

  function mapReply(id: string, reply: (map: FloorMap) => RestReply): RestReply {
    const map = maps.get(Number(id));
    return map ? reply(map) : notFound('map');
  }

  return {
    answer(request: RestRequest): RestReply {
      const { method, path } = request;
      if (path === '/device/boot_progress') {
        return method === 'GET' ? ok(options.boot.progress()) : methodNotAllowed(method, ['GET']);
      }
      if (options.boot.isBooting()) return refuse(503, 'the robot is starting');
      const allowed: string[] = [];
      for (const [known, pattern, handler] of routes) {
        const match = pattern.exec(path);
        if (!match) continue;
        if (known === method) return handler(request, match[1] ?? '');
        allowed.push(known);
      }
      if (allowed.length > 0) return methodNotAllowed(method, allowed);
      return VENDOR_PATH.test(path) ? notSimulated(path) : notFound('resource');
    },
  };
}

/** Parses a map that is sent as data (vendor facts 1.4 and 1.5, form a). */
function readMap(body: Record<string, unknown>): Omit<FloorMap, 'id' | 'createTime' | 'modifiedTime'> | string {
  const { map_name: name, occupancy_grid: picture, carto_map: carto = '', overlays, uid } = body;
  if (typeof name !== 'string' || name === '') return 'map_name must be a string';
  if (typeof picture !== 'string') return 'occupancy_grid must be a base64 PNG';
  if (typeof carto !== 'string') return 'carto_map must be base64';
  const { grid_resolution: resolution, grid_origin_x: x, grid_origin_y: y } = body;
  if (!isReal(resolution) || resolution <= 0 || !isReal(x) || !isReal(y)) {
    return 'grid_resolution, grid_origin_x and grid_origin_y must be numbers';
  }
  if (overlays !== undefined && !areOverlays(overlays)) return 'overlays must be a JSON text of a FeatureCollection';
  if (uid !== undefined && typeof uid !== 'string') return 'uid must be a string';
  const { map_version: mapVersion = 1, overlays_version: overlaysVersion = 0 } = body;
  if (!Number.isInteger(mapVersion) || !Number.isInteger(overlaysVersion)) return 'versions must be integers';
  const grid: Grid | undefined = gridFromPng(Buffer.from(picture, 'base64'), {
    resolutionM: resolution,
    originXM: x,
    originYM: y,
  });
  if (!grid) return 'occupancy_grid must be a base64 PNG';
  return {
    name,
    uid: uid ?? randomBytes(12).toString('hex'),
    mapVersion: mapVersion as number,
    overlaysVersion: overlaysVersion as number,
    overlays: overlays ?? EMPTY_OVERLAYS,
    grid,
    pbstream: Buffer.from(carto, 'base64'),
  };
}

function areOverlays(value: unknown): value is string {
  if (typeof value !== 'string' || depthOf(value) > MAX_DEPTH) return false;
  try {
    const parsed = parseOverlays(value);
    return isRecord(parsed) && Array.isArray(parsed.features);
  } catch {
    return false;
  }
}

/** An upper bound of the nesting of a JSON text; brackets inside strings count too. */
function depthOf(text: string): number {
  let depth = 0;
  let deepest = 0;
  // By character code for speed: the overlays of a large site have tens of millions of characters.
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    if (unit === 0x5b || unit === 0x7b) depth += 1;
    else if (unit === 0x5d || unit === 0x7d) depth -= 1;
    if (depth > deepest) deepest = depth;
  }
  return deepest;
}
