import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { packTar, type TarEntry } from 'modern-tar';
import { type TarEntry as Entry, unpack } from '../../archive/index.ts';
import { GwError } from '../../error/index.ts';
import { isRecord, quote, readJsonBytes } from '../../json/index.ts';
import { sha256 } from '../../lifecycle/index.ts';
import { overlaysSource } from '../../overlays/index.ts';
import type { ArchivedMap, MapArchive } from '../model.ts';
import { checkPng } from '../png.ts';
import {
  bounds,
  filesOf,
  filesToPack,
  MANIFEST_NAME,
  type Manifest,
  type ManifestFile,
  type ManifestMap,
  manifestOf,
  type Part,
  partPath,
  readManifest,
} from './manifest.ts';

const compress = promisify(gzip);
/** Problems listed in the error text; further ones are counted. */
const MAX_PROBLEMS = 20;

/**
 * Packs an archive as tar.gz: the manifest first, then the files of each map. Deterministic: the same content and time
 * give the same bytes. `parseArchive` reads and verifies the result.
 */
export async function packArchive(archive: MapArchive): Promise<Uint8Array> {
  const mtime = new Date(archive.createdAt);
  const entries: TarEntry[] = [];
  const add = (name: string, body: Uint8Array) =>
    entries.push({ header: { name, size: body.byteLength, mode: 0o644, uid: 0, gid: 0, mtime }, body });
  add(MANIFEST_NAME, Buffer.from(`${JSON.stringify(manifestOf(archive), null, 2)}\n`, 'utf8'));
  for (const [name, body] of filesToPack(archive)) add(name, body);
  return await compress(await packTar(entries));
}

/**
 * Parses and verifies an archive: it contains exactly the files of the manifest, each with its length and checksum; each
 * map is JSON, its overlays file equals the overlays of the map, each picture is a complete PNG. Writes nothing. Throws
 * ARCHIVE_INVALID with every problem; `name` is the name of the archive in the error.
 */
export async function parseArchive(bytes: Uint8Array, name: string): Promise<MapArchive> {
  const problems: string[] = [];
  const found = new Map<string, Uint8Array>();
  const manifest = await unpackFiles(bytes, problems, found);
  if (manifest === null || problems.length > 0) throw invalid(name, problems);
  const maps: ArchivedMap[] = [];
  for (const map of manifest.maps) maps.push(await mapOf(map, found, problems));
  if (problems.length > 0) throw invalid(name, problems);
  const { createdAt, gwVersion, chassis, complete, list, currentProblem } = manifest;
  const bytesOf = (file: ManifestFile | null) => (file === null ? null : (found.get(file.name) ?? null));
  const damaged = manifest.damaged.map(({ received: { data, image, localisation }, ...map }) => ({
    ...map,
    received: { data: bytesOf(data), image: bytesOf(image), localisation: bytesOf(localisation) },
  }));
  return { createdAt, gwVersion, chassis, complete, maps, damaged, list: bytesOf(list), currentProblem };
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
    if (entry.type !== 'file' || normalizeName(entry.name) !== MANIFEST_NAME) {
      problems.push(`the first entry is ${describeEntry(entry)}, expected ${MANIFEST_NAME}: not a backup of gw`);
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
    const file = expected.get(normalizeName(entry.name));
    if (entry.type !== 'file') problems.push(`it contains ${describeEntry(entry)}`);
    else if (normalizeName(entry.name) === MANIFEST_NAME) problems.push(`it contains ${MANIFEST_NAME} twice`);
    else if (!file) problems.push(`it contains ${describeEntry(entry)}, which is not in the manifest`);
    else if (found.has(file.name)) problems.push(`it contains ${file.name} twice`);
    else if (entry.bytes !== file.bytes) {
      problems.push(`${file.name} has ${entry.bytes} bytes, expected ${file.bytes} by the manifest`);
      found.set(file.name, new Uint8Array());
    } else {
      const body = await entry.read();
      if (sha256(body) !== file.sha256) problems.push(`${file.name}: SHA-256 differs from the manifest`);
      found.set(file.name, body);
    }
  };

  const broken = await unpack(bytes, {
    maxEntries: bounds.entries,
    // In addition to the declared files: the manifest, the headers and the padding of tar.
    maxBytes: () => declared + 4 * bounds.manifestBytes + bounds.entries * 1024,
    async onEntry(entry) {
      if (entry.type === 'directory') folders.push(entry.name);
      else if (manifest === null) return await readManifestEntry(entry);
      else await readFileEntry(entry);
      return true;
    },
  });
  if (broken !== null) problems.unshift(broken);
  // The assignment in the callback is invisible to the compiler.
  const read = manifest as Manifest | null;
  if (read === null) {
    if (problems.length === 0) problems.push(`no ${MANIFEST_NAME}: not a backup of gw`);
    return null;
  }
  const foldersOfMaps = new Set([
    ...['', 'maps', 'damaged'],
    ...read.maps.map(({ id }) => `maps/${id}`),
    ...read.damaged.map((_, at) => `damaged/${at + 1}`),
  ]);
  for (const folder of folders) {
    if (!foldersOfMaps.has(normalizeName(folder)))
      problems.push(`it contains the folder ${quote(folder)}, which belongs to no map`);
  }
  // After a truncation every later file is missing, so only the truncation is reported.
  if (broken === null) {
    for (const file of expected.keys()) {
      if (!found.has(file)) problems.push(`${file} is missing`);
    }
  }
  return read;
}

/** An entry name without a leading `./` and the trailing slash of a folder. */
function normalizeName(name: string): string {
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

function describeEntry({ type, name, linkName }: Entry): string {
  const to = linkName === '' ? '' : ` to ${quote(linkName)}`;
  return `${kinds[type] ?? 'the entry'} ${quote(name)}${to}`;
}

async function mapOf(
  map: ManifestMap,
  found: ReadonlyMap<string, Uint8Array>,
  problems: string[],
): Promise<ArchivedMap> {
  const { files, missing, ...listed } = map;
  const { id } = map;
  const bytesOf = (part: Part) => (files[part] === null ? null : (found.get(partPath(id, part)) ?? null));
  const data = bytesOf('data') ?? new Uint8Array();
  const image = bytesOf('image');
  const picture = image && (await checkPng(image));
  if (picture?.ok === false) problems.push(`${partPath(id, 'image')} is not a valid PNG: ${picture.problem}`);
  const overlays = overlaysOf(map, data, bytesOf('overlays'), problems);
  const localisation = bytesOf('localisation');
  const received = missing.map((one) => ({
    ...one,
    received: one.received === null ? null : (found.get(one.received.name) ?? null),
  }));
  return { ...listed, data, overlays, image, localisation, missing: received };
}

/** The overlays from the map data, which is the authoritative source; the separate file must be equal. */
function overlaysOf(
  { id, overlaysForm }: ManifestMap,
  data: Uint8Array,
  file: Uint8Array | null,
  problems: string[],
): string | null {
  const path = partPath(id, 'data');
  const reading = readJsonBytes(data, 'file');
  if (!reading.ok || !isRecord(reading.value)) {
    problems.push(`${path} is not a map: ${reading.ok ? 'JSON, but not an object' : reading.problem}`);
    return null;
  }
  const { text, form } = overlaysSource(data);
  const isEqual = text === null ? file === null : file !== null && Buffer.from(text, 'utf8').equals(file);
  if (!isEqual) problems.push(`${partPath(id, 'overlays')} differs from the overlays in ${path}`);
  else if (form !== overlaysForm) {
    problems.push(`${MANIFEST_NAME}: map ${id} has its overlays in the form '${form}', expected '${overlaysForm}'`);
  }
  return text;
}

/** ARCHIVE_INVALID with the first problems in its text and up to 200 in `details.problems`. */
export function invalid(name: string, problems: readonly string[]): GwError {
  const shown = problems.slice(0, MAX_PROBLEMS);
  if (problems.length > shown.length) shown.push(`… and ${problems.length - shown.length} more`);
  return new GwError('ARCHIVE_INVALID', `${name} is corrupt or not a backup:\n${shown.join('\n')}`, {
    details: { problems: problems.slice(0, 200) },
  });
}
