import { randomBytes } from 'node:crypto';
import type { BootProgressWire, DeviceInfoWire, MoveRequestWire } from '../chassis/wire.ts';
import type { Faults } from './faults.ts';
import type { Grid } from './grid.ts';
import { keptOverlays } from './kept-overlays.ts';
import { gridFromPng } from './map-image.ts';
import { currentMapWire, type FloorMap, isRecord, mapDetail, mapListItem, mapPng } from './map-store.ts';
import { footprint, mapFile } from './messages.ts';
import { moveWire } from './moves.ts';
import type { Robot } from './robot.ts';

export interface RestRequest {
  readonly method: string;
  /** Without query and trailing slash. */
  readonly path: string;
  /** `http://host:port` of the robot itself, for the addresses in its replies. */
  readonly base: string;
  /** undefined when there was none or it was not JSON. */
  readonly body: unknown;
}

export type RestReply =
  | { readonly status: number; readonly json: unknown }
  | { readonly status: number; readonly bytes: Buffer; readonly type: string; readonly flow?: 'slow' | 'cut' }
  | { readonly status: 204 };

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

const ok = (json: unknown): RestReply => ({ status: 200, json });
const created = (json: unknown): RestReply => ({ status: 201, json });
/** Vendor facts 1.1: the one body of errors that its text shows. */
const refuse = (status: number, text: string): RestReply => ({ status, json: { message: `error: ${text}` } });
const notFound = (what: string) => refuse(404, `${what} not found`);

/** What GET /device/info names while the fault `wrong-serial` is on. */
const OTHER_SERIAL = 'SIM-9999';

type Handler = (request: RestRequest, id: string) => RestReply;

/** Moves of these types exist on real robots and are not simulated. */
const MOVE_TYPES = ['standard', 'charge'];
const CONTROL_MODES = ['auto', 'manual', 'remote'];
const PICTURE = 'image/png';
/** Drawings nested deeper than this are no drawings. */
const DEEPEST = 64;

/** The REST side of the chassis as vendor facts 1 describe it; where they are silent, our choice is said in docs/sim.md. */
export function createRest(options: RestOptions) {
  const { robot, faults } = options;
  const { maps, moves } = robot;

  const succeededWord = () => (faults.is('unknown-state') ? 'finished' : 'succeeded');

  function deviceInfo(): DeviceInfoWire {
    const sn = faults.is('wrong-serial') ? OTHER_SERIAL : options.serial;
    const old = faults.is('old-software');
    return {
      rosversion: '1.15.0',
      rosdistro: 'noetic',
      axbot_version: old ? '2.1.0-sim' : options.software,
      device: {
        model: 'simulated',
        ...(!faults.is('no-serial') && { sn }),
        name: sn,
        ...(!old && { nickname: 'Robot in a box' }),
      },
      baseboard: { firmware_version: 'sim' },
      wheel_control: { firmware_version: 'sim' },
      ...(!old && {
        robot: {
          footprint,
          inscribed_radius: 0.25,
          height: 1.1,
          thickness: 0.5,
          wheel_distance: 0.35,
          width: 0.5,
          charge_contact_position: 'back',
        },
      }),
      caps: capabilities(),
      ...(!old && { time: options.clockText() }),
    };
  }

  function capabilities(): Readonly<Record<string, boolean>> {
    return faults.is('old-software') ? { supportsWsV2: true } : options.capabilities;
  }

  function createMove({ body }: RestRequest): RestReply {
    const order = readOrder(body);
    if (typeof order === 'string') return refuse(400, order);
    if (!maps.current()) return refuse(400, 'no current map');
    return created(moveWire(robot.order(order), 'full', succeededWord()));
  }

  function setPose({ body }: RestRequest): RestReply {
    if (!isRecord(body)) return refuse(400, 'body must be an object');
    const { position, ori, adjust_position: adjust } = body;
    // The vendor's own client sends two elements, its text three.
    if (!Array.isArray(position) || position.length < 2 || position.length > 3 || !position.every(isReal)) {
      return refuse(400, 'position must be [x, y, z] in metres');
    }
    if (!isReal(ori)) return refuse(400, 'ori must be a number');
    if (adjust !== undefined && typeof adjust !== 'boolean') return refuse(400, 'adjust_position must be a boolean');
    if (!maps.current()) return refuse(400, 'no current map');
    if (moves.isMoving()) return refuse(400, 'a move is under way');
    const [xM, yM] = position as [number, number];
    // Radians, and nothing asks whether that makes sense (specification, 'Angles').
    robot.setPose({ xM, yM, yawRad: ori });
    return created({ position, ori, ...(adjust !== undefined && { adjust_position: adjust }) });
  }

  function setCurrentMap({ body }: RestRequest): RestReply {
    if (!isRecord(body)) return refuse(400, 'body must be an object');
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
    // The words of the framework behind the vendor's error bodies.
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

  function service(run: (body: Record<string, unknown>) => string | undefined): Handler {
    return ({ body }) => {
      const problem = run(isRecord(body) ? body : {});
      return problem === undefined ? created({}) : refuse(400, problem);
    };
  }

  const routes: readonly (readonly [method: string, path: RegExp, handler: Handler])[] = [
    ['GET', /^\/device\/info$/, () => ok(deviceInfo())],
    [
      'GET',
      /^\/device\/info\/brief$/,
      // Without a serial number, as the vendor's example has it: identity is in the full call only.
      () => ok({ axbot_version: deviceInfo().axbot_version, device: { model: 'simulated' }, caps: capabilities() }),
    ],
    ['GET', /^\/chassis\/moves$/, () => ok(moves.list().map((move) => moveWire(move, 'item', succeededWord())))],
    ['POST', /^\/chassis\/moves$/, createMove],
    [
      'PATCH',
      /^\/chassis\/moves\/current$/,
      ({ body }) => {
        if (!isRecord(body) || body.state !== 'cancelled') return refuse(400, 'state must be cancelled');
        return moves.cancel() ? ok({ state: 'cancelled' }) : notFound('current move');
      },
    ],
    [
      'GET',
      /^\/chassis\/moves\/(\d{1,9})$/,
      (_, id) => {
        const move = moves.get(Number(id));
        return move ? ok(moveWire(move, 'full', succeededWord())) : notFound('move');
      },
    ],
    ['POST', /^\/chassis\/pose$/, setPose],
    [
      'GET',
      /^\/chassis\/current-map$/,
      () => {
        const map = maps.current();
        return map ? ok(currentMapWire(map)) : notFound('current map');
      },
    ],
    ['POST', /^\/chassis\/current-map$/, setCurrentMap],
    ['GET', /^\/maps$/, ({ base }) => ok(maps.list().map((map) => mapListItem(map, base)))],
    [
      'POST',
      /^\/maps$/,
      ({ body, base }) => {
        const draft = isRecord(body) ? readMap(body) : 'body must be an object';
        return typeof draft === 'string' ? refuse(400, draft) : created(mapListItem(maps.add(draft), base));
      },
    ],
    [
      'DELETE',
      /^\/maps$/,
      () => {
        maps.clear();
        return { status: 204 };
      },
    ],
    ['GET', /^\/maps\/(\d{1,9})$/, ({ base }, id) => mapReply(id, (map) => ok(mapDetail(map, base)))],
    ['PATCH', /^\/maps\/(\d{1,9})$/, patchMap],
    ['DELETE', /^\/maps\/(\d{1,9})$/, (_, id) => (maps.remove(Number(id)) ? { status: 204 } : notFound('map'))],
    ['GET', /^\/maps\/(\d{1,9})\.png$/, (_, id) => mapReply(id, (map) => png(mapPng(map, 'full')))],
    ['GET', /^\/maps\/(\d{1,9})\/thumbnail$/, (_, id) => mapReply(id, (map) => png(mapPng(map, 'small')))],
    [
      'GET',
      /^\/maps\/(\d{1,9})\.pbstream$/,
      (_, id) => mapReply(id, (map) => file(map.pbstream, 'application/octet-stream')),
    ],
    [
      'GET',
      /^\/static-files\/.+\.png$/,
      ({ path }) => {
        const map = maps.current();
        return map && path === `/${mapFile(map)}` ? png(mapPng(map, 'full')) : notFound('file');
      },
    ],
    [
      'POST',
      /^\/services\/restart_service$/,
      service(() => {
        options.boot.restart();
        return undefined;
      }),
    ],
    [
      'POST',
      /^\/services\/wheel_control\/set_emergency_stop$/,
      service(({ enable }) => {
        if (typeof enable !== 'boolean') return 'enable must be a boolean';
        robot.setSoftwareStop(enable);
        return undefined;
      }),
    ],
    [
      'POST',
      /^\/services\/wheel_control\/set_control_mode$/,
      service((body) => {
        // Reference and guide disagree about the key; both are taken.
        const mode = body.control_mode ?? body.mode;
        if (typeof mode !== 'string' || !CONTROL_MODES.includes(mode))
          return 'control_mode must be auto, manual or remote';
        robot.setControlMode(mode);
        return undefined;
      }),
    ],
  ];

  function file(bytes: Buffer, type: string): RestReply {
    if (faults.is('image-fails')) return refuse(500, 'the file cannot be read');
    const flow = faults.is('image-cut') ? 'cut' : faults.is('image-slow') && type === PICTURE ? 'slow' : undefined;
    return { status: 200, bytes, type, ...(flow && { flow }) };
  }

  function png(bytes: Buffer): RestReply {
    return file(bytes, PICTURE);
  }

  function mapReply(id: string, reply: (map: FloorMap) => RestReply): RestReply {
    const map = maps.get(Number(id));
    return map ? reply(map) : notFound('map');
  }

  return {
    capabilities,
    deviceInfo,
    answer(request: RestRequest): RestReply {
      if (request.path === '/device/boot_progress') {
        return request.method === 'GET' ? ok(options.boot.progress()) : refuse(405, 'method not allowed');
      }
      if (options.boot.isBooting()) return refuse(503, 'the robot is starting');
      let known = false;
      for (const [method, path, handler] of routes) {
        const match = path.exec(request.path);
        if (!match) continue;
        known = true;
        if (method === request.method) return handler(request, match[1] ?? '');
      }
      return known ? refuse(405, 'method not allowed') : notFound('resource');
    },
  };
}

export type Rest = ReturnType<typeof createRest>;

function isReal(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && Math.abs(value) < 1e9;
}

/** Reads a move request; a text says what is wrong with it. Unknown fields are let through, as vendors do. */
function readOrder(body: unknown): MoveRequestWire | string {
  if (!isRecord(body)) return 'body must be an object';
  const { creator = '', type, target_x: x, target_y: y, target_ori: ori } = body;
  if (typeof creator !== 'string') return 'creator must be a string';
  if (typeof type !== 'string' || !MOVE_TYPES.includes(type)) return `type must be one of ${MOVE_TYPES.join(', ')}`;
  if (!isReal(x) || !isReal(y)) return 'target_x and target_y must be numbers';
  if (ori !== undefined && ori !== null && !isReal(ori)) return 'target_ori must be a number or null';
  for (const key of ['target_z', 'target_accuracy', 'detour_tolerance', 'charge_retry_count']) {
    if (body[key] !== undefined && !isReal(body[key])) return `${key} must be a number`;
  }
  const { target_z: z, target_accuracy: accuracy, charge_retry_count: retries } = body;
  return {
    creator,
    type,
    target_x: x,
    target_y: y,
    ...(ori !== undefined && { target_ori: ori }),
    ...(isReal(z) && { target_z: z }),
    ...(isReal(accuracy) && { target_accuracy: accuracy }),
    ...(isReal(retries) && { charge_retry_count: retries }),
  };
}

/** Reads a map given as data (vendor facts 1.4 and 1.5, form a). */
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
    overlays: overlays ?? JSON.stringify({ type: 'FeatureCollection', features: [] }),
    grid,
    pbstream: Buffer.from(carto, 'base64'),
  };
}

function areOverlays(value: unknown): value is string {
  if (typeof value !== 'string' || depthOf(value) > DEEPEST) return false;
  try {
    const parsed: unknown = JSON.parse(value);
    return isRecord(parsed) && Array.isArray(parsed.features);
  } catch {
    return false;
  }
}

/** An upper bound of how deep a JSON text nests; brackets inside its strings count too. */
function depthOf(text: string): number {
  let depth = 0;
  let deepest = 0;
  // By number, since the drawings of a large site are tens of millions of characters.
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    if (unit === 0x5b || unit === 0x7b) depth += 1;
    else if (unit === 0x5d || unit === 0x7d) depth -= 1;
    if (depth > deepest) deepest = depth;
  }
  return deepest;
}
