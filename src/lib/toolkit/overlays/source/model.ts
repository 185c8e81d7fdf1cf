import type { DeviceEvidence } from '../../../evidence/index.ts';
import type { MapFrame, Overlays } from '../../../overlays/index.ts';
import type { RunningMapView } from '../../map/change/running-map.result.ts';
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
