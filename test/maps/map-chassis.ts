import type { IncomingMessage, ServerResponse } from 'node:http';
import { type ChassisClient, createChassisClient } from '../../src/lib/chassis/index.ts';
import type { TopicAccess } from '../../src/lib/maps/index.ts';
import type { WritePace } from '../../src/lib/maps/restore/checked-write.ts';
import type { StillnessCheck } from '../../src/lib/maps/stillness.ts';
import { directDialer } from '../../src/lib/net/index.ts';
import { type FakeChassis, fakeChassis } from '../chassis/peers.ts';
import { createPacedClock } from '../lifecycle/paced-clock.ts';
import { oddOverlays, picture } from './samples.ts';

/** Clock of the clients of such a chassis. */
export const time = createPacedClock();

export interface StoredMap {
  id: number;
  uid: string | null;
  name: string;
  mapVersion: number | null;
  overlaysVersion: number | null;
  /** JSON text, or an object, which is sent as one; undefined is omitted. */
  overlays: unknown;
  originXM: number;
  image: Uint8Array | null;
  localisation: Uint8Array | null;
}

/** Handling of a request: a normal response, this status, these bytes, or a connection lost before or after it is applied. */
export type Handling = 'usual' | 'cut-before' | 'cut-after' | 'hang' | number | Uint8Array;

/** A chassis with maps and configurable handling of each write, in the formats of the vendor. */
export interface MapChassis extends AsyncDisposable {
  readonly fake: FakeChassis;
  readonly client: ChassisClient;
  readonly maps: Map<number, StoredMap>;
  current: number | null;
  /** Set for a current map that is not stored. */
  currentIsFromData: boolean;
  /** A map that is reported as the current one although it is not stored any more. */
  namedCurrent: StoredMap | null;
  /** The running map as of its last load; `overlays` may be any value. */
  running: Pick<StoredMap, 'uid' | 'name' | 'mapVersion' | 'overlaysVersion' | 'overlays'> | null;
  /** Whether a write of overlays changes the running map, and whether that is announced. */
  loadsWrites: boolean;
  announces: boolean;
  /** Message of /map/info about the running map; undefined for none. */
  mapInfo: (running: NonNullable<MapChassis['running']>) => object | string | undefined;
  /** Sets the current map and announces it. */
  load: (id: number) => void;
  /** Called before a write is applied; may change the state itself. */
  onWrite: (what: 'patch' | 'create' | 'use' | 'restart', body: Record<string, unknown>, id: number) => Handling;
  /** The stored form of received overlays. */
  keep: (overlays: string, map: StoredMap) => unknown;
  /** Called before each read of a map; a status replaces the response. */
  onRead: (path: string) => Handling;
  /** Called when a restart is ordered and accepted. */
  onRestart: () => void;
  startTimeS: number;
  /** Every received write. */
  readonly writes: { readonly what: string; readonly id: number; readonly body: Record<string, unknown> }[];
}

export function storedMap(id: number, changes: Partial<StoredMap> = {}): StoredMap {
  return {
    id,
    uid: `uid-${id}`,
    name: `Floor ${id}`,
    mapVersion: 3,
    overlaysVersion: 7,
    overlays: oddOverlays,
    originXM: -3,
    image: picture(),
    localisation: Buffer.from(`localisation of ${id}`),
    ...changes,
  };
}

export async function mapChassis(maps: readonly StoredMap[] = [storedMap(1), storedMap(2)]): Promise<MapChassis> {
  const fake = await fakeChassis();
  const client = createChassisClient({
    endpoint: fake.endpoint,
    dialer: directDialer,
    expectedSerial: fake.serial,
    timeoutMs: 400,
    clock: time,
  });
  let nextId = Math.max(0, ...maps.map(({ id }) => id)) + 10;
  const item = ({ id, uid, name, mapVersion, overlaysVersion }: StoredMap) => ({
    id,
    ...(uid !== null && { uid }),
    map_name: name,
    ...(mapVersion !== null && { map_version: mapVersion }),
    ...(overlaysVersion !== null && { overlays_version: overlaysVersion }),
  });
  const chassis: MapChassis = {
    fake,
    client,
    maps: new Map(maps.map((map) => [map.id, map])),
    current: maps[0]?.id ?? null,
    currentIsFromData: false,
    namedCurrent: null,
    running: maps[0] ? { ...maps[0] } : null,
    loadsWrites: true,
    announces: true,
    mapInfo: ({ uid, name, mapVersion, overlaysVersion, overlays }) => ({
      topic: '/map/info',
      name,
      uid,
      map_version: mapVersion,
      overlays_version: overlaysVersion,
      ...(overlays !== undefined && { overlays }),
    }),
    load(id) {
      const map = chassis.maps.get(id);
      chassis.running = map ? { ...map } : null;
      const message = chassis.announces && chassis.running ? chassis.mapInfo(chassis.running) : undefined;
      if (message !== undefined) fake.publish(message);
    },
    onWrite: () => 'usual',
    keep: (overlays) => overlays,
    onRead: () => 'usual',
    onRestart: () => {},
    startTimeS: 100,
    writes: [],
    async [Symbol.asyncDispose]() {
      await client[Symbol.asyncDispose]();
      await fake[Symbol.asyncDispose]();
    },
  };

  function json(response: ServerResponse, value: unknown, status = 200): void {
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(value));
  }
  const bytes = (response: ServerResponse, body: Uint8Array | null, type: string) => {
    if (body === null) return json(response, { message: 'error: not found' }, 404);
    response.writeHead(200, { 'content-type': type, 'content-length': body.byteLength });
    response.end(body);
  };
  const missing = (response: ServerResponse) => json(response, { message: 'error: not found' }, 404);

  function read(path: string, response: ServerResponse) {
    if (path === '/device/boot_progress') {
      return json(response, { start_time: chassis.startTimeS, progress: fake.booting ?? 1, logs: [] });
    }
    if (path === '/chassis/current-map') {
      if (chassis.currentIsFromData) return json(response, { id: -1, uid: '', map_name: 'set from data' });
      if (chassis.namedCurrent !== null) return json(response, item(chassis.namedCurrent));
      const map = chassis.current === null ? undefined : chassis.maps.get(chassis.current);
      return map ? json(response, item(map)) : missing(response);
    }
    if (path === '/maps/') return json(response, [...chassis.maps.values()].map(item));
    const [, id, kind] = /^\/maps\/(\d+)(\.png|\.pbstream)?$/.exec(path) ?? [];
    const map = chassis.maps.get(Number(id));
    if (!map) return missing(response);
    if (kind === '.png') return bytes(response, map.image, 'image/png');
    if (kind === '.pbstream') return bytes(response, map.localisation, 'application/octet-stream');
    const { originXM, overlays } = map;
    const grid = { grid_origin_x: originXM, grid_origin_y: -3.5, grid_resolution: 0.05 };
    json(response, { ...item(map), ...grid, ...(overlays !== undefined && { overlays }) });
  }

  function write(what: string, id: number, body: Record<string, unknown>, response: ServerResponse) {
    const map = chassis.maps.get(id);
    if (what === 'patch') {
      if (!map) return missing(response);
      map.overlays = chassis.keep(String(body.overlays), map);
      map.overlaysVersion = (map.overlaysVersion ?? 0) + 1;
      if (chassis.loadsWrites && chassis.current === id) chassis.load(id);
      return json(response, item(map));
    }
    if (what === 'create') {
      const made = storedMap(nextId, {
        uid: (body.uid as string | undefined) ?? `made-${nextId}`,
        name: String(body.map_name),
        mapVersion: (body.map_version as number | undefined) ?? 1,
        overlaysVersion: (body.overlays_version as number | undefined) ?? 0,
        originXM: Number(body.grid_origin_x),
        image: Buffer.from(String(body.occupancy_grid), 'base64'),
        localisation: Buffer.from(String(body.carto_map), 'base64'),
      });
      nextId += 1;
      made.overlays = body.overlays === undefined ? undefined : chassis.keep(String(body.overlays), made);
      chassis.maps.set(made.id, made);
      return json(response, item(made), 201);
    }
    if (what === 'use') {
      if (!chassis.maps.has(Number(body.map_id))) return missing(response);
      chassis.current = Number(body.map_id);
      chassis.load(chassis.current);
      return json(response, {});
    }
    chassis.onRestart();
    json(response, {}, 201);
  }

  const kinds: readonly (readonly [method: string, path: RegExp, what: 'patch' | 'create' | 'use' | 'restart'])[] = [
    ['PATCH', /^\/maps\/(\d+)$/, 'patch'],
    ['POST', /^\/maps\/$/, 'create'],
    ['POST', /^\/chassis\/current-map$/, 'use'],
    ['POST', /^\/services\/restart_service$/, 'restart'],
  ];

  async function serveWrite(
    what: (typeof kinds)[number][2],
    id: number,
    request: IncomingMessage,
    response: ServerResponse,
  ) {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = JSON.parse(Buffer.concat(chunks).toString() || '{}') as Record<string, unknown>;
    chassis.writes.push({ what, id, body });
    const handling = chassis.onWrite(what, body, id);
    if (handling === 'cut-before') request.socket.destroy();
    else if (typeof handling === 'number')
      json(response, { message: `error: configured status ${handling}` }, handling);
    else if (handling !== 'hang') {
      write(what, id, body, handling === 'cut-after' ? silentResponse : response);
      if (handling === 'cut-after') request.socket.destroy();
    }
  }

  const latchedBefore = fake.latched;
  fake.latched = (topic) =>
    topic === '/map/info' ? (chassis.running ? chassis.mapInfo(chassis.running) : undefined) : latchedBefore(topic);
  fake.intercept = (request, response) => {
    const { method = '', url: path = '' } = request;
    if (path === '/device/info') return false;
    if (fake.booting !== null) return false;
    for (const [verb, pattern, what] of kinds) {
      const match = method === verb ? pattern.exec(path) : null;
      if (!match) continue;
      serveWrite(what, Number(match[1] ?? 0), request, response).catch(() => request.socket.destroy());
      return true;
    }
    if (method !== 'GET') return false;
    const handling = chassis.onRead(path);
    if (handling === 'cut-before' || handling === 'cut-after') request.socket.destroy();
    else if (typeof handling === 'number')
      json(response, { message: `error: configured status ${handling}` }, handling);
    else if (handling instanceof Uint8Array) bytes(response, handling, 'application/json');
    else if (handling === 'usual') read(path, response);
    return true;
  };
  return chassis;
}

/** A response that is never sent. */
const silentResponse = { writeHead() {}, end() {} } as unknown as ServerResponse;

export const quickPace: WritePace = {
  pollMs: 20,
  settleMs: 150,
  settleLostMs: 300,
  readBackMs: 1_500,
  announceMs: 250,
  graceMs: 800,
};

export function topicsOf({ fake }: MapChassis): TopicAccess {
  return { endpoint: fake.endpoint, dialer: directDialer, clock: time, secret: undefined };
}

/** From here on the robot reports ten times a second that it is where it was. */
export function reportsRest({ fake }: MapChassis): Disposable {
  return time.every(100, () => fake.publish({ topic: '/tracked_pose', pos: [1.5, -2], ori: 90 }));
}

export const standsStill: StillnessCheck = async () => ({ verdict: 'still', detail: 'a test says so' });
