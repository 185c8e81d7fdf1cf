import { sendChecked } from './checked-order.ts';
import { mapPath, parseReply } from './client.ts';
import type { ChassisClient } from './model.ts';
import { mapCreatedSchema } from './schema.ts';
import { limits } from './transport.ts';
import { paths } from './wire.ts';

/**
 * Calls that change the maps of a chassis or may lose them. None was ever measured on a real device, so only the
 * maps module imports this file: it takes a backup first, reads back and compares.
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
  /** JSON text of a FeatureCollection, sent unchanged. */
  readonly overlays: string | null;
  readonly image: Uint8Array;
  readonly localisation: Uint8Array;
}

export interface ChassisMapWrites {
  /** PATCH /maps/<id> with this JSON text as `overlays`, unchanged. Its response is not documented. */
  patchOverlays(id: string, overlays: string, signal?: AbortSignal): Promise<void>;
  /** POST /maps/ with all data. Returns the number that the chassis assigned. */
  createMap(map: NewMap, signal?: AbortSignal): Promise<{ readonly id: number; readonly uid: string | null }>;
  /** POST /chassis/current-map. The position of the robot is not expected to survive it. */
  useMap(id: number, signal?: AbortSignal): Promise<void>;
  /** POST /services/restart_service: restarts all software of the robot. Lost the maps, twice (BELEGT). */
  restartService(signal?: AbortSignal): Promise<void>;
}

/**
 * Throws as the client does; after CHASSIS_NOT_CONNECTED it is unknown whether the chassis accepted it.
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
