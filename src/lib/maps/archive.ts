import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { packTar, type TarEntry } from 'modern-tar';
import { GwError } from '../error/index.ts';
import { isRecord, quote, readJsonBytes } from '../json/index.ts';
import { sha256 } from '../lifecycle/index.ts';
import { overlaysSource } from '../overlays/index.ts';
import {
  bounds,
  filesOf,
  MANIFEST_NAME,
  type Manifest,
  type ManifestMap,
  manifestOf,
  type Part,
  partBytes,
  partNames,
  partPath,
  readManifest,
} from './manifest.ts';
import type { ArchivedMap, MapArchive } from './model.ts';
import { checkPng } from './png.ts';
import { type TarEntry as Entry, unpack } from './unpack.ts';

const compress = promisify(gzip);
/** So many problems are named; further ones are counted. */
const MOST_PROBLEMS = 20;

/**
 * The archive as the bytes of a tar.gz: the manifest first, then the files of each map. The same content and time
 * give the same bytes. What it says can be read back with `parseArchive`, which is the proof that it is sound.
 */
export async function packArchive(archive: MapArchive): Promise<Uint8Array> {
  const mtime = new Date(archive.createdAt);
  const entries: TarEntry[] = [];
  const add = (name: string, body: Uint8Array) =>
    entries.push({ header: { name, size: body.byteLength, mode: 0o644, uid: 0, gid: 0, mtime }, body });
  add(MANIFEST_NAME, Buffer.from(`${JSON.stringify(manifestOf(archive), null, 2)}\n`, 'utf8'));
  for (const map of archive.maps) {
    for (const part of partNames) {
      const body = partBytes(map, part);
      if (body) add(partPath(map.id, part), body);
    }
  }
  return await compress(await packTar(entries));
}

/**
 * Reads an archive and proves it whole: every file that the manifest names is there once, as long and with the
 * checksum that it says, and nothing else; each map is JSON, its overlays stand apart exactly as they stand in it,
 * each picture is a whole PNG. Nothing is written anywhere. Throws ARCHIVE_INVALID with every problem; `name` is
 * what the error calls the archive.
 */
export async function parseArchive(bytes: Uint8Array, name: string): Promise<MapArchive> {
  const problems: string[] = [];
  const found = new Map<string, Uint8Array>();
  const manifest = await unpackFiles(bytes, problems, found);
  if (manifest === null || problems.length > 0) throw invalid(name, problems);
  const maps: ArchivedMap[] = [];
  for (const map of manifest.maps) maps.push(await mapOf(map, found, problems));
  if (problems.length > 0) throw invalid(name, problems);
  const { createdAt, gwVersion, chassis, complete } = manifest;
  return { createdAt, gwVersion, chassis, complete, maps };
}

async function unpackFiles(
  bytes: Uint8Array,
  problems: string[],
  found: Map<string, Uint8Array>,
): Promise<Manifest | null> {
  let manifest: Manifest | null = null;
  let expected: ReturnType<typeof filesOf> = new Map();
  let declared = 0;
  const folders: string[] = [];

  const readManifestEntry = async (entry: Entry): Promise<boolean> => {
    if (entry.type !== 'file' || plain(entry.name) !== MANIFEST_NAME) {
      problems.push(`it begins with ${kindOf(entry)} instead of ${MANIFEST_NAME}: this is no backup of gw`);
      return false;
    }
    if (entry.bytes > bounds.manifestBytes) {
      problems.push(`${MANIFEST_NAME} is larger than ${bounds.manifestBytes} bytes`);
      return false;
    }
    const reading = readManifest(await entry.read());
    if (!reading.ok) {
      problems.push(...reading.problems);
      return false;
    }
    manifest = reading.manifest;
    expected = filesOf(manifest);
    for (const { bytes: size } of expected.values()) declared += size;
    return true;
  };

  const readFileEntry = async (entry: Entry): Promise<void> => {
    const file = expected.get(plain(entry.name));
    if (entry.type !== 'file') problems.push(`it holds ${kindOf(entry)}`);
    else if (plain(entry.name) === MANIFEST_NAME) problems.push(`${MANIFEST_NAME} stands in it twice`);
    else if (!file) problems.push(`it holds ${kindOf(entry)}, which the manifest does not name`);
    else if (found.has(file.name)) problems.push(`${file.name} stands in it twice`);
    else if (entry.bytes !== file.bytes) {
      problems.push(`${file.name} measures ${entry.bytes} bytes, and the manifest says ${file.bytes}`);
      found.set(file.name, new Uint8Array());
    } else {
      const body = await entry.read();
      if (sha256(body) !== file.sha256) problems.push(`${file.name} does not have the checksum of the manifest`);
      found.set(file.name, body);
    }
  };

  const broken = await unpack(bytes, {
    mostEntries: bounds.entries,
    // Beside what is declared: the manifest itself, the headers, and the blocks with which tar fills up.
    mostBytes: () => declared + 4 * bounds.manifestBytes + bounds.entries * 1024,
    async onEntry(entry) {
      if (entry.type === 'directory') folders.push(entry.name);
      else if (manifest === null) return await readManifestEntry(entry);
      else await readFileEntry(entry);
      return true;
    },
  });
  if (broken !== null) problems.unshift(broken);
  // Assigned inside a callback, which the compiler does not see.
  const read = manifest as Manifest | null;
  if (read === null) {
    if (problems.length === 0) problems.push(`it holds no ${MANIFEST_NAME}: this is no backup of gw`);
    return null;
  }
  const foldersOfMaps = new Set(['', 'maps', ...read.maps.map(({ id }) => `maps/${id}`)]);
  for (const folder of folders) {
    if (!foldersOfMaps.has(plain(folder))) problems.push(`it holds the folder ${quote(folder)}, which no map has`);
  }
  // Where the archive ends too early, everything behind that place is missing: said once.
  if (broken === null) {
    for (const file of expected.keys()) {
      if (!found.has(file)) problems.push(`${file} is missing`);
    }
  }
  return read;
}

/** A name as tar programs write it, without the point before it or the stroke behind a folder. */
function plain(name: string): string {
  const bare = name === '.' || name === './' ? '' : name.startsWith('./') ? name.slice(2) : name;
  return bare.endsWith('/') ? bare.slice(0, -1) : bare;
}

const kinds: Readonly<Record<string, string>> = {
  file: 'the file',
  link: 'the hard link',
  symlink: 'the symbolic link',
  'character-device': 'the device',
  'block-device': 'the device',
  fifo: 'the pipe',
};

function kindOf({ type, name, linkName }: Entry): string {
  const to = linkName === '' ? '' : ` to ${quote(linkName)}`;
  return `${kinds[type] ?? 'the entry'} ${quote(name)}${to}`;
}

async function mapOf(
  map: ManifestMap,
  found: ReadonlyMap<string, Uint8Array>,
  problems: string[],
): Promise<ArchivedMap> {
  const { id, uid, name, mapVersion, overlaysVersion, isCurrent, overlaysForm, files, missing } = map;
  const bytesOf = (part: Part) => (files[part] === null ? null : (found.get(partPath(id, part)) ?? null));
  const data = bytesOf('data') ?? new Uint8Array();
  const image = bytesOf('image');
  const picture = image && (await checkPng(image));
  if (picture?.ok === false) problems.push(`${partPath(id, 'image')} is no whole picture: ${picture.problem}`);
  const overlays = overlaysOf(map, data, bytesOf('overlays'), problems);
  const localisation = bytesOf('localisation');
  return {
    id,
    uid,
    name,
    mapVersion,
    overlaysVersion,
    isCurrent,
    data,
    overlays,
    overlaysForm,
    image,
    localisation,
    missing,
  };
}

/** The overlays out of the map itself, which is where they stand exactly; the file beside it must say the same. */
function overlaysOf(
  { id, overlaysForm }: ManifestMap,
  data: Uint8Array,
  file: Uint8Array | null,
  problems: string[],
): string | null {
  const path = partPath(id, 'data');
  const reading = readJsonBytes(data, 'file');
  if (!reading.ok || !isRecord(reading.value)) {
    problems.push(`${path} is no map: ${reading.ok ? 'it is JSON, but no object' : reading.problem}`);
    return null;
  }
  const { text, form } = overlaysSource(data);
  const same = text === null ? file === null : file !== null && Buffer.from(text, 'utf8').equals(file);
  if (!same) problems.push(`${partPath(id, 'overlays')} is not what ${path} holds as its overlays`);
  else if (form !== overlaysForm) {
    problems.push(`${MANIFEST_NAME}: map ${id} has its overlays as '${form}', and not as '${overlaysForm}'`);
  }
  return text;
}

/** ARCHIVE_INVALID with the first problems in its text, and more of them in `details.problems`. */
export function invalid(name: string, problems: readonly string[]): GwError {
  const shown = problems.slice(0, MOST_PROBLEMS);
  if (problems.length > shown.length) shown.push(`… and ${problems.length - shown.length} more`);
  return new GwError('ARCHIVE_INVALID', `${name} is damaged, or no backup:\n${shown.join('\n')}`, {
    details: { problems: problems.slice(0, 200) },
  });
}
