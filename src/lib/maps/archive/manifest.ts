import { z } from 'zod';
import { isRecord, quote, readJsonBytes } from '../../json/index.ts';
import { sha256 } from '../../lifecycle/index.ts';
import type { ArchivedMap, MapArchive } from '../model.ts';

/** Format of the archive. */
const ARCHIVE_SCHEMA = 'gw/map-archive/1';
export const MANIFEST_NAME = 'manifest.json';

const MiB = 1024 * 1024;

/** Limits of an archive. Project decisions. */
export const bounds = {
  manifestBytes: MiB,
  maps: 1_000,
  fileBytes: 256 * MiB,
  /** Sum of all files of an archive. */
  totalBytes: 1024 * MiB,
  /** Entries of the tar: four files and a folder per map. */
  entries: 6_000,
} as const;

/** The files of one map inside the archive, in the order of packing. */
const parts = {
  data: 'map.json',
  overlays: 'overlays.json',
  image: 'image.png',
  localisation: 'localisation.pbstream',
} as const;
export type Part = keyof typeof parts;
export const partNames = Object.keys(parts) as readonly Part[];

const file = z.strictObject({
  name: z.string(),
  bytes: z.int().min(0).max(bounds.fileBytes),
  sha256: z.string().regex(/^[0-9a-f]{64}$/, 'expected 64 hexadecimal digits'),
});

const map = z.strictObject({
  id: z.int(),
  uid: z.string().nullable(),
  name: z.string(),
  mapVersion: z.int().nullable(),
  overlaysVersion: z.int().nullable(),
  isCurrent: z.boolean(),
  overlaysForm: z.enum(['text', 'object', 'none']),
  files: z.strictObject({
    data: file,
    overlays: file.nullable(),
    image: file.nullable(),
    localisation: file.nullable(),
  }),
  missing: z.array(z.strictObject({ what: z.enum(['image', 'localisation']), why: z.string() })),
});

const manifestSchema = z.strictObject({
  schema: z.literal(ARCHIVE_SCHEMA),
  createdAt: z.iso.datetime(),
  gwVersion: z.string(),
  chassis: z.strictObject({
    serial: z.string().min(1),
    software: z.string().nullable(),
    model: z.string().nullable(),
  }),
  complete: z.boolean(),
  maps: z.array(map).max(bounds.maps),
});
export type Manifest = z.infer<typeof manifestSchema>;
export type ManifestMap = Manifest['maps'][number];
export type ManifestFile = z.infer<typeof file>;

export type ManifestReading =
  | { readonly ok: true; readonly manifest: Manifest }
  | { readonly ok: false; readonly problems: readonly string[] };

/** Parses a manifest and verifies it without the files. */
export function readManifest(bytes: Uint8Array): ManifestReading {
  const reading = readJsonBytes(bytes, MANIFEST_NAME);
  if (!reading.ok) return { ok: false, problems: [`${MANIFEST_NAME}: ${reading.problem}`] };
  const { value } = reading;
  const schema = isRecord(value) && Object.hasOwn(value, 'schema') ? value.schema : undefined;
  if (schema !== ARCHIVE_SCHEMA) {
    const found = typeof schema === 'string' ? quote(schema) : 'none';
    return {
      ok: false,
      problems: [`${MANIFEST_NAME}: schema ${found}, expected ${quote(ARCHIVE_SCHEMA)}`],
    };
  }
  const parsed = manifestSchema.safeParse(value);
  if (!parsed.success) {
    const problems = parsed.error.issues.map((issue) => {
      const path = issue.path.map(String).join('.');
      return `${MANIFEST_NAME}: ${path === '' ? '' : `${quote(path)}: `}${quote(issue.message).slice(1, -1)}`;
    });
    return { ok: false, problems };
  }
  const problems = contradictions(parsed.data);
  return problems.length > 0 ? { ok: false, problems } : { ok: true, manifest: parsed.data };
}

export function partPath(id: number, part: Part): string {
  return `maps/${id}/${parts[part]}`;
}

/** The packed bytes of one part of a map; null when the map has none. */
export function partBytes(archived: ArchivedMap, part: Part): Uint8Array | null {
  if (part !== 'overlays') return archived[part];
  return archived.overlays === null ? null : Buffer.from(archived.overlays, 'utf8');
}

function fileOf(archived: ArchivedMap, part: Part): ManifestFile | null {
  const bytes = partBytes(archived, part);
  return bytes && { name: partPath(archived.id, part), bytes: bytes.byteLength, sha256: sha256(bytes) };
}

/** The files of a map in the order of the archive. */
export function archivedFiles(archived: ArchivedMap): readonly ManifestFile[] {
  return partNames.map((part) => fileOf(archived, part)).filter((one) => one !== null);
}

export function manifestOf({ createdAt, gwVersion, chassis, complete, maps }: MapArchive): Manifest {
  const { serial, software, model } = chassis;
  return {
    schema: ARCHIVE_SCHEMA,
    createdAt,
    gwVersion,
    chassis: { serial, software, model },
    complete,
    maps: maps.map((one) => ({
      id: one.id,
      uid: one.uid,
      name: one.name,
      mapVersion: one.mapVersion,
      overlaysVersion: one.overlaysVersion,
      isCurrent: one.isCurrent,
      overlaysForm: one.overlaysForm,
      files: {
        data: { name: partPath(one.id, 'data'), bytes: one.data.byteLength, sha256: sha256(one.data) },
        overlays: fileOf(one, 'overlays'),
        image: fileOf(one, 'image'),
        localisation: fileOf(one, 'localisation'),
      },
      missing: one.missing.map(({ what, why }) => ({ what, why })),
    })),
  };
}

/** Every file of a manifest by its name in the archive. */
export function filesOf(manifest: Manifest): Map<string, ManifestFile> {
  const found = new Map<string, ManifestFile>();
  for (const { files } of manifest.maps) {
    for (const part of partNames) {
      const one = files[part];
      if (one) found.set(one.name, one);
    }
  }
  return found;
}

function contradictions(manifest: Manifest): string[] {
  const problems: string[] = [];
  const report = (text: string) => problems.push(`${MANIFEST_NAME}: ${text}`);
  const ids = new Set<number>();
  let total = 0;
  for (const { id, files, overlaysForm, missing } of manifest.maps) {
    if (ids.has(id)) report(`map ${id} is listed twice`);
    ids.add(id);
    for (const part of partNames) {
      const one = files[part];
      if (one && one.name !== partPath(id, part)) {
        report(`${part} of map ${id} is named ${quote(one.name)}, expected ${partPath(id, part)}`);
      }
      total += one?.bytes ?? 0;
    }
    if ((files.overlays === null) !== (overlaysForm === 'none')) {
      report(`map ${id} has overlays in the form '${overlaysForm}', but ${files.overlays ? 'a' : 'no'} file for them`);
    }
    for (const what of ['image', 'localisation'] as const) {
      const reasons = missing.filter((one) => one.what === what).length;
      if (files[what] !== null && reasons > 0) report(`${what} of map ${id} is both present and missing`);
      if (files[what] === null && reasons !== 1) report(`${what} of map ${id} is missing without exactly one reason`);
    }
  }
  if (manifest.maps.filter(({ isCurrent }) => isCurrent).length > 1) report('more than one map is marked as current');
  if (total > bounds.totalBytes) report(`its files exceed ${bounds.totalBytes / MiB} MiB in total`);
  return problems;
}
