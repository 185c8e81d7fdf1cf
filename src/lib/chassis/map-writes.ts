import { sendChecked } from './checked-order.ts';
import { mapPath, parseReply } from './client.ts';
import type { ChassisClient } from './model.ts';
import { mapCreatedSchema } from './schema.ts';
import { limits } from './transport.ts';
import { paths } from './wire.ts';

/**
 * The calls that change the maps of a chassis or may lose them. None of them was ever measured on a real device, so
 * only the maps room imports this file: it takes a backup first, reads back and compares.
 */
export interface NewMap {
  readonly name: string;
  readonly uid: string | null;
  readonly mapVersion: number | null;
  readonly overlaysVersion: number | null;
  /** Metres: where the lower left pixel lies. */
  readonly originXM: number;
  readonly originYM: number;
  /** Metres per pixel. */
  readonly resolutionM: number;
  /** JSON text of a collection, sent as it is. */
  readonly overlays: string | null;
  readonly image: Uint8Array;
  readonly localisation: Uint8Array;
}

export interface ChassisMapWrites {
  /** PATCH /maps/<id> with this JSON text as `overlays`, unchanged. What it answers is described nowhere. */
  patchOverlays(id: string, overlays: string, signal?: AbortSignal): Promise<void>;
  /** POST /maps/ with everything as data. Gives the number that the chassis chose. */
  createMap(map: NewMap, signal?: AbortSignal): Promise<{ readonly id: number; readonly uid: string | null }>;
  /** POST /chassis/current-map. The position of the robot is not expected to survive it. */
  useMap(id: number, signal?: AbortSignal): Promise<void>;
  /** POST /services/restart_service: restarts all software of the robot. Lost the maps, twice (BELEGT). */
  restartService(signal?: AbortSignal): Promise<void>;
}

/**
 * Throws as the client does; CHASSIS_NOT_CONNECTED after sending leaves open whether the chassis took it.
 * @source paths of PATCH and restart_service: specification, 'Chassis interface'; the rest: vendor (HINWEIS)
 */
export function mapWritesOf(client: ChassisClient): ChassisMapWrites {
  const post = (path: string, body: object, signal: AbortSignal | undefined) =>
    sendChecked(client, { method: 'POST', path, body, limits: limits.mapWrite, signal });

  return {
    async patchOverlays(id, overlays, signal) {
      await sendChecked(client, {
        method: 'PATCH',
        path: mapPath(id),
        body: { overlays },
        limits: limits.mapWrite,
        signal,
      });
    },
    async createMap(map, signal) {
      const reply = await post(
        paths.maps,
        {
          map_name: map.name,
          ...(map.uid !== null && { uid: map.uid }),
          ...(map.mapVersion !== null && { map_version: map.mapVersion }),
          ...(map.overlaysVersion !== null && { overlays_version: map.overlaysVersion }),
          ...(map.overlays !== null && { overlays: map.overlays }),
          grid_origin_x: map.originXM,
          grid_origin_y: map.originYM,
          grid_resolution: map.resolutionM,
          occupancy_grid: Buffer.from(map.image).toString('base64'),
          carto_map: Buffer.from(map.localisation).toString('base64'),
        },
        signal,
      );
      const { value } = parseReply(reply, mapCreatedSchema);
      return { id: value.id, uid: value.uid };
    },
    async useMap(id, signal) {
      await post(paths.currentMap, { map_id: id }, signal);
    },
    async restartService(signal) {
      await post(paths.restartService, {}, signal);
    },
  };
}
