import { access, constants, type FileHandle, open } from 'node:fs/promises';
import type { ChassisClient } from '../chassis/index.ts';
import { GwError } from '../error/index.ts';
import { type DeviceEvidence, loadEvidenceFile } from '../evidence/index.ts';
import { quote } from '../json/index.ts';
import type { ArchivedMap, MapArchive } from '../maps/index.ts';
import { frameOf, type MapFrame, type Overlays, pngSize, readOverlays } from '../overlays/index.ts';
import type { CheckContext, Toolkit } from './toolkit.ts';

/** Where drawings are read from. */
export type DrawingSource =
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

export interface OpenDrawingsOptions {
  /** Called when the chassis, or the site's evidence file, is needed. */
  readonly openToolkit: () => Promise<Toolkit>;
  /** A person named the site file, so it must be there. Without, a backup is read without the site's records. */
  readonly siteNamed?: boolean | undefined;
  /** Read the picture as well, which can take long. */
  readonly needImage: boolean;
}

export interface OpenedMap {
  readonly id: number | null;
  readonly uid: string | null;
  readonly name: string | null;
  readonly mapVersion: number | null;
  readonly overlaysVersion: number | null;
}

export interface OpenedDrawings {
  /** Names the source for a person: `map 3 "Ground floor" of SN0001 at 127.0.0.1:8090`. Text from outside is quoted. */
  readonly label: string;
  readonly overlays: Overlays;
  /** null when the source says nothing about where its picture lies. */
  readonly frame: MapFrame | null;
  readonly image: Uint8Array | null;
  /** null for a bare collection. */
  readonly map: OpenedMap | null;
  /** The chassis that the drawings are from; null when the source names none. */
  readonly chassis: { readonly serial: string; readonly software: string | null } | null;
  /** That chassis, and what was verified on it. */
  readonly device: DeviceEvidence | null;
  /** What could not be read, and what that means. */
  readonly warnings: readonly string[];
}

const MiB = 1024 * 1024;
/** Decision of ours: 100,000 drawings take 40 MB; a text of twice this the engine could not hold. */
const MOST_BYTES = 256 * MiB;
const MOST_IMAGE_BYTES = 64 * MiB;
const CURRENT = 'current';

/**
 * `live:ID`, `live:current`, a file, or `FILE#ID` for one map of a backup. Throws USAGE.
 */
export function parseDrawingSource(text: string): DrawingSource {
  if (text.startsWith('live:')) {
    const map = text.slice('live:'.length);
    if (map !== '') return { kind: 'live', map };
  } else if (text !== '' && text !== 'live') {
    const hash = text.lastIndexOf('#');
    const map = text.slice(hash + 1);
    if (hash < 1) return { kind: 'file', path: text };
    if (map !== '') return { kind: 'file', path: text.slice(0, hash), map };
  }
  throw new GwError('USAGE', `${quote(text)} names no drawings.`, {
    remedy: 'Write live:current, live:ID, a file, or FILE#ID for one map of a backup.',
  });
}

/**
 * Reads drawings from the chassis or from a file, whatever form they have there. A picture that does not come is a
 * warning. Throws OVERLAYS_INVALID, MAP_UNKNOWN, ARCHIVE_INVALID, FILE_UNWRITABLE, USAGE, what opening the site
 * throws, and what the chassis client throws.
 */
export function openDrawings(
  source: DrawingSource,
  options: OpenDrawingsOptions,
  context: CheckContext,
): Promise<OpenedDrawings> {
  return source.kind === 'live' ? openLive(source.map, options, context) : openFile(source, options, context);
}

// ── on the chassis ───────────────────────────────────────────────────────────────────────────────────────────────

/** What only a chassis needs is loaded for a chassis only: a file is read at once. */
async function openLive(
  wanted: string,
  { openToolkit, needImage }: OpenDrawingsOptions,
  context: CheckContext,
): Promise<OpenedDrawings> {
  const toolkit = await openToolkit();
  const { chassisAccess } = await import('./chassis-access.ts');
  const { createChassisClient } = await import('../chassis/index.ts');
  const client = createChassisClient(await chassisAccess(toolkit));
  try {
    return await readLive(client, { wanted, needImage, evidenceFile: toolkit.site.evidenceFile }, context);
  } finally {
    await client[Symbol.asyncDispose]();
  }
}

async function readLive(
  client: ChassisClient,
  { wanted, needImage, evidenceFile }: { wanted: string; needImage: boolean; evidenceFile: string },
  { signal, onProgress }: CheckContext,
): Promise<OpenedDrawings> {
  const { host, port } = client.endpoint;
  onProgress(`asking ${host}:${port} for the map`);
  const { serial, software } = await client.identity(signal);
  const where = `${serial} at ${host}:${port}`;
  const id = wanted === CURRENT ? await currentMapId(client, where, signal) : wanted;
  const bytes = await readMap(client, id, where, signal);
  const warnings: string[] = [];
  let image: Uint8Array | null = null;
  if (needImage) {
    onProgress('reading the picture of the map');
    image = await readPicture(client, id, warnings, signal);
  }
  const overlays = readOverlays(bytes, 'map');
  const map = mapOf(overlays, /^-?\d{1,15}$/.test(id) ? Number(id) : null);
  return {
    label: `map ${[id, ...(map?.name ? [quote(map.name)] : [])].join(' ')} of ${where}`,
    overlays,
    frame: frameOf(overlays.map, image),
    image,
    map,
    chassis: { serial, software },
    device: { serial, software, records: await loadEvidenceFile(evidenceFile) },
    warnings,
  };
}

async function currentMapId(client: ChassisClient, where: string, signal: AbortSignal): Promise<string> {
  const current = await client.currentMap(signal);
  if (current === null) {
    throw new GwError('MAP_UNKNOWN', `No map is in use on ${where}.`, {
      remedy: 'Name one by its id; `gw map list` shows them.',
    });
  }
  if (current.id === -1) {
    const name = current.name === null ? '' : ` (${quote(current.name)})`;
    throw new GwError(
      'MAP_UNKNOWN',
      `The map in use${name} on ${where} has the id -1: it was set from data and never stored, so its drawings cannot be read.`,
      { remedy: 'Store it on the chassis first, or name a stored map by its id; `gw map list` shows them.' },
    );
  }
  return String(current.id);
}

async function readMap(client: ChassisClient, id: string, where: string, signal: AbortSignal): Promise<Uint8Array> {
  try {
    return await client.mapBytes(id, signal);
  } catch (error) {
    if (!(error instanceof GwError) || error.code !== 'CHASSIS_REFUSED' || error.details?.status !== 404) throw error;
    const maps = await client.listMaps(signal);
    throw new GwError('MAP_UNKNOWN', `There is no map ${id} on ${where}.`, {
      tried: error.tried,
      remedy: `Name one of its maps: ${listed(maps.map((map) => `${map.id} ${quote(map.name)}`))}.`,
      cause: error,
    });
  }
}

/** A floor plan can be large and the radio slow: without it only what lies outside of it cannot be told. */
async function readPicture(
  client: ChassisClient,
  id: string,
  warnings: string[],
  signal: AbortSignal,
): Promise<Uint8Array | null> {
  try {
    return await client.mapPng(id, signal);
  } catch (error) {
    if (signal.aborted || !(error instanceof GwError)) throw error;
    warnings.push(`The picture of the map was not read: ${error.message} What lies outside of it is not checked.`);
    return null;
  }
}

// ── in a file ────────────────────────────────────────────────────────────────────────────────────────────────────

type FileSource = DrawingSource & { readonly kind: 'file' };

async function openFile(
  given: FileSource,
  options: OpenDrawingsOptions,
  { onProgress }: CheckContext,
): Promise<OpenedDrawings> {
  const source = await withHash(given);
  const { path, map: wanted, imagePath } = source;
  onProgress(`reading ${path}`);
  const bytes = await readBounded(path, MOST_BYTES);
  if (isGzip(bytes)) return openBackup(bytes, source, options);
  if (wanted !== undefined) {
    throw new GwError('USAGE', `${path} is no backup, so it has no map ${quote(wanted)} among others.`, {
      remedy: 'Leave out what follows the #.',
    });
  }
  const warnings: string[] = [];
  const overlays = readOverlays(bytes, 'file');
  const image = imagePath === undefined ? null : await readImage(imagePath);
  const frame = frameOf(overlays.map, image);
  if (image !== null && frame === null) {
    warnings.push(
      `The picture ${imagePath} cannot be laid under the drawings: ${path} does not say where its lower left pixel lies (grid_origin_x, grid_origin_y, grid_resolution).`,
    );
  }
  const map = mapOf(overlays, null);
  return {
    label: map?.name ? `map ${quote(map.name)} in ${path}` : path,
    overlays,
    frame,
    image,
    map,
    chassis: null,
    device: null,
    warnings,
  };
}

/** A file may have a # in its own name: where it is there, and what stands before the # is not, it is meant. */
async function withHash(source: FileSource): Promise<FileSource> {
  const { path, map, imagePath } = source;
  const whole = `${path}#${map}`;
  if (map === undefined || (await isThere(path)) || !(await isThere(whole))) return source;
  return { kind: 'file', path: whole, imagePath };
}

function isThere(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

async function openBackup(
  bytes: Uint8Array,
  { path, map: wanted, imagePath }: FileSource,
  options: OpenDrawingsOptions,
): Promise<OpenedDrawings> {
  const { parseArchive } = await import('../maps/index.ts');
  const archive = await parseArchive(bytes, path);
  const archived = pick(archive, wanted, path);
  const overlays = readOverlays(archived.data, `map ${archived.id}`);
  const image = imagePath === undefined ? archived.image : await readImage(imagePath);
  const warnings = image === null ? [`The backup holds no picture of map ${archived.id}.`] : [];
  const { serial, software } = archive.chassis;
  return {
    label: `map ${archived.id} ${quote(archived.name)} in ${path}, backup of ${quote(serial)} from ${archive.createdAt}`,
    overlays,
    frame: frameOf(overlays.map, image),
    image,
    map: {
      id: archived.id,
      uid: archived.uid,
      name: archived.name,
      mapVersion: archived.mapVersion,
      overlaysVersion: archived.overlaysVersion,
    },
    chassis: { serial, software },
    device: { serial, software, records: await recordsOfSite(options) },
    warnings,
  };
}

function pick({ maps }: MapArchive, wanted: string | undefined, path: string): ArchivedMap {
  const found =
    wanted === undefined
      ? maps.length === 1
        ? maps[0]
        : maps.find(({ isCurrent }) => isCurrent)
      : maps.find(({ id, uid }) => String(id) === wanted || uid === wanted);
  if (found !== undefined) return found;
  const what = wanted === undefined ? 'several maps, and none of them was in use' : `no map ${quote(wanted)}`;
  throw new GwError('MAP_UNKNOWN', `${path} holds ${maps.length === 0 ? 'no maps' : what}.`, {
    remedy:
      maps.length === 0
        ? 'Take a new backup with `gw map backup`.'
        : `Name one with --map ID, or as FILE#ID: ${listed(maps.map(({ id, name }) => `${id} ${quote(name)}`))}.`,
  });
}

async function recordsOfSite({ openToolkit, siteNamed }: OpenDrawingsOptions): Promise<DeviceEvidence['records']> {
  try {
    const { site } = await openToolkit();
    return await loadEvidenceFile(site.evidenceFile);
  } catch (error) {
    if (siteNamed !== true && error instanceof GwError && error.code === 'SITE_FILE_NOT_FOUND') return [];
    throw error;
  }
}

async function readImage(path: string): Promise<Uint8Array> {
  const bytes = await readBounded(path, MOST_IMAGE_BYTES);
  if (pngSize(bytes) !== null) return bytes;
  throw new GwError('USAGE', `${path} is no PNG image.`, {
    remedy: 'Name the PNG that the chassis gives for the map.',
  });
}

async function readBounded(path: string, mostBytes: number): Promise<Uint8Array> {
  let handle: FileHandle;
  try {
    // Not blocking, since a pipe in this place must not hold the command for ever.
    handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    const missing = code === 'ENOENT';
    throw new GwError(
      'FILE_UNWRITABLE',
      missing ? `There is no file ${path}.` : `${path} cannot be read (${code ?? 'unknown reason'}).`,
      {
        remedy: missing ? 'Check the name, and the folder that it is relative to.' : undefined,
        cause,
      },
    );
  }
  await using file = handle;
  const stats = await file.stat();
  const why = !stats.isFile()
    ? `${stats.isDirectory() ? 'a folder' : 'no regular file'}`
    : stats.size > mostBytes
      ? `larger than ${mostBytes / MiB} MiB (${Math.ceil(stats.size / MiB)} MiB)`
      : null;
  if (why === null) return readWhole(file, stats.size);
  throw new GwError('FILE_UNWRITABLE', `${path} is ${why}.`, { remedy: 'Name a file of its own, of a usual size.' });
}

/** In as few reads as the system allows; the usual way takes a hundred for a large file, and waits between them. */
async function readWhole(file: FileHandle, size: number): Promise<Uint8Array> {
  const bytes = Buffer.allocUnsafeSlow(size);
  let end = 0;
  while (end < size) {
    const { bytesRead } = await file.read(bytes, end, size - end, end);
    // Shorter than a moment ago: somebody writes it.
    if (bytesRead === 0) break;
    end += bytesRead;
  }
  return bytes.subarray(0, end);
}

// ── common ───────────────────────────────────────────────────────────────────────────────────────────────────────

function isGzip(bytes: Uint8Array): boolean {
  return bytes[0] === 0x1f && bytes[1] === 0x8b;
}

/** `id`: the one it was asked for by, where the map object does not name its own. */
function mapOf({ map }: Overlays, id: number | null): OpenedMap | null {
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

function listed(names: readonly string[]): string {
  const shown = names.slice(0, 8).join(', ');
  return names.length > 8 ? `${shown} and ${names.length - 8} more` : shown === '' ? 'it has none' : shown;
}
