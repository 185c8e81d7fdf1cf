import type { DeviceEvidence } from '../../../evidence/index.ts';
import type { MapFrame, Overlays } from '../../../overlays/index.ts';
import type { RunningMapView } from '../../map/change/running-map.result.ts';
import type { Toolkit } from '../../toolkit.ts';

/** Where features are read from. */
export type OverlaysSource =
  /** A map on the chassis: its id, or the one in use. */
  | { readonly kind: 'live'; readonly map: string }
  | {
      readonly kind: 'file';
      readonly path: string;
      /** Which map of a backup: its id or uid. Absent: the only one, or the one that was in use. */
      readonly map?: string | undefined;
      /** The picture of the map, for a file that holds none. */
      readonly imagePath?: string | undefined;
    };

export interface OpenOverlaysOptions {
  /** Called when the chassis, or the site's evidence file, is needed. */
  readonly openToolkit: () => Promise<Toolkit>;
  /** A person named the site file, so it must be there. Without, a backup is read without the site's records. */
  readonly siteNamed?: boolean | undefined;
  /** Read the picture as well, which can take long. */
  readonly needImage: boolean;
  /** Compare the map in use with what the robot drives by, where the source is the map in use. */
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
  /** Names the source for a person: `map 3 "Ground floor" of SN0001 at 127.0.0.1:8090`. Text from outside is quoted. */
  readonly label: string;
  readonly overlays: Overlays;
  /** null when the source says nothing about where its picture lies. */
  readonly frame: MapFrame | null;
  readonly image: Uint8Array | null;
  /** null for a bare collection. */
  readonly map: OpenedMap | null;
  /** The chassis that the features are from; null when the source names none. */
  readonly chassis: { readonly serial: string; readonly software: string | null } | null;
  /** That chassis, and what was verified on it. */
  readonly device: DeviceEvidence | null;
  /** What the robot drives by beside what is stored; null where it was not asked for. */
  readonly running: RunningMapView | null;
  /** What could not be read, and what that means. */
  readonly warnings: readonly string[];
}
