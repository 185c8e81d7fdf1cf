import type { DamagedMapItem, MapFile, MapListItem } from '../chassis/index.ts';

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
  readonly missing: readonly MissingFile[];
}

export interface MissingFile {
  readonly what: 'image' | 'localisation';
  readonly why: string;
  /** What came in its place, such as a picture that cannot be read; null when no whole answer did. */
  readonly received: Uint8Array | null;
}

/** A listed map that cannot be read, with the bytes that the chassis answered with. */
export interface DamagedMap extends Omit<DamagedMapItem, 'entry'> {
  /** Position in the list, from 1, of a damaged entry; null where the entry is readable and the map is not. */
  readonly entry: number | null;
  /** Whether it was the current map, as far as its number is known. */
  readonly isCurrent: boolean;
  /** The answer to each request; null when no whole one came. */
  readonly received: Readonly<Record<MapFile, Uint8Array | null>>;
}

/** Maps of one chassis at one point in time. */
export interface MapArchive {
  readonly createdAt: string;
  readonly gwVersion: string;
  readonly chassis: { readonly serial: string; readonly software: string | null; readonly model: string | null };
  /** Whether `maps` are all maps of the chassis; see `isComplete`. */
  readonly complete: boolean;
  readonly maps: readonly ArchivedMap[];
  readonly damaged: readonly DamagedMap[];
  /** GET /maps/, byte for byte; only with damaged maps. */
  readonly list: Uint8Array | null;
  /** Why the current map is not known; null when it is. */
  readonly currentProblem: string | null;
}

/** Whether it contains every map of the chassis with all its files, so that each can be restored. */
export function isComplete({ complete, maps, damaged }: MapArchive): boolean {
  return complete && damaged.length === 0 && maps.every(({ missing }) => missing.length === 0);
}

/** An archive as a file. */
export interface ArchiveFile {
  readonly path: string;
  readonly bytes: number;
  /** Of the whole file, hexadecimal. */
  readonly sha256: string;
  readonly archive: MapArchive;
}
