import { z } from 'zod';
import type { MapFile } from '../../chassis/index.ts';
import { isRecord, quote, readJsonBytes } from '../../json/index.ts';
import { sha256 } from '../../lifecycle/index.ts';
import type { ArchivedMap, DamagedMap, MapArchive, MissingFile } from '../model.ts';

/** Format of the archive; the second one where something was damaged, so that a reader of the first one refuses it. */
const WHOLE_SCHEMA = 'gw/map-archive/1';
const DAMAGED_SCHEMA = 'gw/map-archive/2';
export const MANIFEST_NAME = 'manifest.json';

const MiB = 1024 * 1024;

/** Limits of an archive. Project decisions. */
export const bounds = {
  manifestBytes: 4 * MiB,
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
const partNames = Object.keys(parts) as readonly Part[];

/** What came in place of a file that cannot be read, beside the files of its map. */
const receivedNames = { image: 'image.received', localisation: 'localisation.received' } as const;
/** The answers about a damaged map, in the order of packing. */
const damagedNames = { data: 'map.received', image: 'image.received', localisation: 'localisation.received' } as const;
const damagedParts = Object.keys(damagedNames) as readonly MapFile[];
const LIST_NAME = 'damaged/list.json';

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
  missing: z.array(
    z.strictObject({
      what: z.enum(['image', 'localisation']),
      why: z.string(),
      received: file.nullable().default(null),
    }),
  ),
});

const damagedMap = z.strictObject({
  entry: z.int().min(1).nullable(),
  id: z.int().nullable(),
  uid: z.string().nullable(),
  name: z.string().nullable(),
  isCurrent: z.boolean(),
  why: z.string(),
  received: z.strictObject({ data: file.nullable(), image: file.nullable(), localisation: file.nullable() }),
});

const manifestSchema = z.strictObject({
  schema: z.enum([WHOLE_SCHEMA, DAMAGED_SCHEMA]),
  createdAt: z.iso.datetime(),
  gwVersion: z.string(),
  chassis: z.strictObject({
    serial: z.string().min(1),
    software: z.string().nullable(),
    model: z.string().nullable(),
  }),
  complete: z.boolean(),
  maps: z.array(map).max(bounds.maps),
  damaged: z.array(damagedMap).max(bounds.maps).default([]),
  /** GET /maps/, where a map is damaged. */
  list: file.nullable().default(null),
  /** Why the current map is not known. */
  currentProblem: z.string().nullable().default(null),
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
  if (schema !== WHOLE_SCHEMA && schema !== DAMAGED_SCHEMA) {
    const found = typeof schema === 'string' ? quote(schema) : 'none';
    return {
      ok: false,
      problems: [`${MANIFEST_NAME}: schema ${found}, expected ${quote(WHOLE_SCHEMA)} or ${quote(DAMAGED_SCHEMA)}`],
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
function partBytes(archived: ArchivedMap, part: Part): Uint8Array | null {
  if (part !== 'overlays') return archived[part];
  return archived.overlays === null ? null : Buffer.from(archived.overlays, 'utf8');
}

function fileOf(name: string, bytes: Uint8Array | null): ManifestFile | null {
  return bytes && { name, bytes: bytes.byteLength, sha256: sha256(bytes) };
}

/** The files of a map in the order of the archive. */
export function archivedFiles(archived: ArchivedMap): readonly ManifestFile[] {
  return partNames
    .map((part) => fileOf(partPath(archived.id, part), partBytes(archived, part)))
    .filter((one) => one !== null);
}

function receivedPath(id: number, what: MissingFile['what']): string {
  return `maps/${id}/${receivedNames[what]}`;
}

/** `at`: position among the damaged maps of the archive, from 0. */
function damagedPath(at: number, what: MapFile): string {
  return `damaged/${at + 1}/${damagedNames[what]}`;
}

/** The files that the chassis sent for a damaged map. */
export function damagedFiles({ received }: DamagedMap, at: number): readonly ManifestFile[] {
  return damagedParts.map((what) => fileOf(damagedPath(at, what), received[what])).filter((one) => one !== null);
}

export function manifestOf(archive: MapArchive): z.input<typeof manifestSchema> {
  const { createdAt, gwVersion, chassis, complete, maps, damaged, list, currentProblem } = archive;
  const { serial, software, model } = chassis;
  const hasReceived = maps.some(({ missing }) => missing.some(({ received }) => received !== null));
  const isWhole = damaged.length === 0 && list === null && currentProblem === null && !hasReceived;
  return {
    schema: isWhole ? WHOLE_SCHEMA : DAMAGED_SCHEMA,
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
        overlays: fileOf(partPath(one.id, 'overlays'), partBytes(one, 'overlays')),
        image: fileOf(partPath(one.id, 'image'), one.image),
        localisation: fileOf(partPath(one.id, 'localisation'), one.localisation),
      },
      missing: one.missing.map(({ what, why, received }) => ({
        what,
        why,
        ...(received !== null && { received: fileOf(receivedPath(one.id, what), received) }),
      })),
    })),
    ...(!isWhole && {
      damaged: damaged.map(({ entry, id, uid, name, isCurrent, why, received }, at) => ({
        ...{ entry, id, uid, name, isCurrent, why },
        received: {
          data: fileOf(damagedPath(at, 'data'), received.data),
          image: fileOf(damagedPath(at, 'image'), received.image),
          localisation: fileOf(damagedPath(at, 'localisation'), received.localisation),
        },
      })),
      list: fileOf(LIST_NAME, list),
      currentProblem,
    }),
  };
}

/** Every file of an archive beside its manifest, with its bytes, in the order of packing. */
export function filesToPack({ maps, damaged, list }: MapArchive): readonly (readonly [string, Uint8Array])[] {
  const files = [
    ...maps.flatMap((map) => [
      ...partNames.map((part) => [partPath(map.id, part), partBytes(map, part)] as const),
      ...map.missing.map(({ what, received }) => [receivedPath(map.id, what), received] as const),
    ]),
    [LIST_NAME, list] as const,
    ...damaged.flatMap(({ received }, at) =>
      damagedParts.map((what) => [damagedPath(at, what), received[what]] as const),
    ),
  ];
  return files.flatMap(([name, bytes]) => (bytes === null ? [] : [[name, bytes] as const]));
}

/** Every file of a manifest by its name in the archive. */
export function filesOf(manifest: Manifest): Map<string, ManifestFile> {
  return new Map(namedFiles(manifest).flatMap(({ file: one }) => (one === null ? [] : [[one.name, one]])));
}

/** The files that a manifest lists, each with the name that it must have. */
function namedFiles({ maps, damaged, list }: Manifest) {
  return [
    ...maps.flatMap(({ id, files, missing }) => [
      ...partNames.map((part) => ({ what: `${part} of map ${id}`, file: files[part], name: partPath(id, part) })),
      ...missing.map(({ what, received }) => ({
        what: `${what} received for map ${id}`,
        file: received,
        name: receivedPath(id, what),
      })),
    ]),
    { what: 'the list of maps', file: list, name: LIST_NAME },
    ...damaged.flatMap(({ received }, at) =>
      damagedParts.map((what) => ({
        what: `${what} of damaged map ${at + 1}`,
        file: received[what],
        name: damagedPath(at, what),
      })),
    ),
  ];
}

function contradictions(manifest: Manifest): string[] {
  const problems: string[] = [];
  const report = (text: string) => problems.push(`${MANIFEST_NAME}: ${text}`);
  const ids = new Set<number>();
  let total = 0;
  for (const { what, file: one, name } of namedFiles(manifest)) {
    if (one && one.name !== name) report(`${what} is named ${quote(one.name)}, expected ${name}`);
    total += one?.bytes ?? 0;
  }
  for (const { id, files, overlaysForm, missing } of manifest.maps) {
    if (ids.has(id)) report(`map ${id} is listed twice`);
    ids.add(id);
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
  if (manifest.complete && (manifest.damaged.length > 0 || manifest.currentProblem !== null)) {
    report('it is marked as complete, but lists damaged maps');
  }
  if (manifest.damaged.length > 0 && manifest.list === null) report('it lists damaged maps without the list of maps');
  if (total > bounds.totalBytes) report(`its files exceed ${bounds.totalBytes / MiB} MiB in total`);
  return problems;
}
