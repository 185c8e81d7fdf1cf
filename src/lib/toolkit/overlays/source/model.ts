import type { DeviceEvidence } from '../../../evidence/index.ts';
import type { MapFrame, Overlays } from '../../../overlays/index.ts';
import type { RunningMapView } from '../../map/running-map.result.ts';
import type { Toolkit } from '../../toolkit.ts';

/** A source of overlays. */
export type OverlaysSource =
  /** A map on the chassis: its id, or the current one. */
  | { readonly kind: 'live'; readonly map: string }
  | {
      readonly kind: 'file';
      readonly path: string;
      /** Id or uid of a map of a backup. Default: the only one, or the one that was current. */
      readonly map?: string | undefined;
      /** The picture of the map, for a file without one. */
      readonly imagePath?: string | undefined;
    };

export interface OpenOverlaysOptions {
  /** Called when the chassis or the site's evidence file is needed. */
  readonly openToolkit: () => Promise<Toolkit>;
  /** The site file was given explicitly, so it must exist. Otherwise a backup is read without the site's records. */
  readonly siteNamed?: boolean | undefined;
  /** Read the picture as well, which can take long. */
  readonly needImage: boolean;
  /** Compare the stored map with the running one, where the source is the current map. */
  readonly compareRunning?: boolean | undefined;
}

export interface OpenedMap {
  readonly id: number | null;
  readonly uid: string | null;
  readonly name: string | null;
  readonly mapVersion: number | null;
  readonly overlaysVersion: number | null;
}

export interface OpenedOverlays {
  /** The source as text: `map 3 "Occupancy floor" of SN0001 at 127.0.0.1:8090`. Foreign text is quoted. */
  readonly label: string;
  readonly overlays: Overlays;
  /** null when the source has no valid grid. */
  readonly frame: MapFrame | null;
  readonly image: Uint8Array | null;
  /** null for a bare collection. */
  readonly map: OpenedMap | null;
  /** The chassis of the overlays; null when the source names none. */
  readonly chassis: { readonly serial: string; readonly software: string | null } | null;
  /** That chassis with its evidence records. */
  readonly device: DeviceEvidence | null;
  /** Comparison of the stored map with the running one; null where not requested. */
  readonly running: RunningMapView | null;
  /** Parts that could not be read, with the consequence. */
  readonly warnings: readonly string[];
}

/** Identity and versions of a map object. `id`: the requested id, used where the map object has none. */
export function mapOf({ map }: Overlays, id: number | null): OpenedMap | null {
  if (map === null) return null;
  const at = (key: string) => (Object.hasOwn(map, key) ? map[key] : undefined);
  const text = (value: unknown) => (typeof value === 'string' && value !== '' ? value : null);
  const whole = (value: unknown) => (Number.isSafeInteger(value) ? (value as number) : null);
  return {
    id: whole(at('id')) ?? id,
    uid: text(at('uid')),
    name: text(at('map_name')),
    mapVersion: whole(at('map_version')),
    overlaysVersion: whole(at('overlays_version')),
  };
}

/** The available names, in a sentence. */
export function listed(names: readonly string[]): string {
  const shown = names.slice(0, 8).join(', ');
  return names.length > 8 ? `${shown} and ${names.length - 8} more` : shown === '' ? 'none' : shown;
}
