import type { MapListItem } from '../chassis/index.ts';

/**
 * One map of a backup, with the bytes as received from the chassis. Its number is that of the time of the backup; it may be
 * different later or on another chassis.
 */
export interface ArchivedMap extends MapListItem {
  /** Whether it was the current map. */
  readonly isCurrent: boolean;
  /** GET /maps/<id>, byte for byte. */
  readonly data: Uint8Array;
  /**
   * The overlays, exactly as in `data`: the content of the JSON text, or the source of the object where the
   * chassis sends an object. null when the map has no `overlays`.
   */
  readonly overlays: string | null;
  readonly overlaysForm: 'text' | 'object' | 'none';
  /** GET /maps/<id>.png; null when not received. */
  readonly image: Uint8Array | null;
  /** GET /maps/<id>.pbstream; without it a lost map cannot be restored. */
  readonly localisation: Uint8Array | null;
  /** Files that were not received, with the reason. */
  readonly missing: readonly { readonly what: 'image' | 'localisation'; readonly why: string }[];
}

/** Maps of one chassis at one point in time. */
export interface MapArchive {
  readonly createdAt: string;
  readonly gwVersion: string;
  readonly chassis: { readonly serial: string; readonly software: string | null; readonly model: string | null };
  /** Whether it contains every map of the chassis, or only selected ones. */
  readonly complete: boolean;
  readonly maps: readonly ArchivedMap[];
}

/** An archive as a file. */
export interface ArchiveFile {
  readonly path: string;
  readonly bytes: number;
  /** Of the whole file, hexadecimal. */
  readonly sha256: string;
  readonly archive: MapArchive;
}
