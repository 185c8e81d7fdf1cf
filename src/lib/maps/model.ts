/**
 * One map out of a chassis, as a backup holds it. Bytes are as the chassis gave them.
 */
export interface ArchivedMap {
  /** Number on the chassis at the time of the backup; another chassis, or the same one later, may number anew. */
  readonly id: number;
  readonly uid: string | null;
  readonly name: string;
  readonly mapVersion: number | null;
  readonly overlaysVersion: number | null;
  /** It was the map in use. */
  readonly isCurrent: boolean;
  /** GET /maps/<id>, byte for byte. */
  readonly data: Uint8Array;
  /**
   * The overlays, exactly as they stand in `data`: the content of the JSON text, or the source of the object where
   * the chassis sends an object. null when the map has no `overlays`.
   */
  readonly overlays: string | null;
  readonly overlaysForm: 'text' | 'object' | 'none';
  /** GET /maps/<id>.png; null when the chassis gave none. */
  readonly image: Uint8Array | null;
  /** GET /maps/<id>.pbstream; without it a lost map cannot be brought back. */
  readonly localisation: Uint8Array | null;
  /** What the chassis did not give, and what it said. */
  readonly missing: readonly { readonly what: 'image' | 'localisation'; readonly why: string }[];
}

/** Maps of one chassis at one moment. */
export interface MapArchive {
  readonly createdAt: string;
  readonly gwVersion: string;
  readonly chassis: { readonly serial: string; readonly software: string | null; readonly model: string | null };
  /** Whether every map of the chassis is in it, or only those that a person named. */
  readonly complete: boolean;
  readonly maps: readonly ArchivedMap[];
}

/** An archive as a file. */
export interface ArchiveFile {
  readonly path: string;
  readonly bytes: number;
  /** Of the whole file, hexadecimal: to be written down beside it. */
  readonly sha256: string;
  readonly archive: MapArchive;
}
