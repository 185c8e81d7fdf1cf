import { access } from 'node:fs/promises';
import { GwError, systemReason } from '../../../error/index.ts';
import { type DeviceEvidence, loadEvidenceFile } from '../../../evidence/index.ts';
import { quote } from '../../../json/index.ts';
import { readBounded } from '../../../lifecycle/index.ts';
import type { ArchivedMap, MapArchive } from '../../../maps/index.ts';
import { frameOf, readOverlays } from '../../../overlays/index.ts';
import { pngSize } from '../../../png/index.ts';
import type { CheckContext } from '../../toolkit.ts';
import { listed, mapOf, type OpenedOverlays, type OpenOverlaysOptions, type OverlaysSource } from './model.ts';

const MiB = 1024 * 1024;
/** Project decision: 100,000 features take 40 MB; twice this limit exceeds the maximum string length. */
const MAX_BYTES = 256 * MiB;
const MAX_IMAGE_BYTES = 64 * MiB;

type FileSource = OverlaysSource & { readonly kind: 'file' };

export async function openFile(
  given: FileSource,
  options: OpenOverlaysOptions,
  { onProgress }: CheckContext,
): Promise<OpenedOverlays> {
  const source = await withHash(given);
  const { path, map: wanted, imagePath } = source;
  onProgress(`reading ${path}`);
  const bytes = await readNamed(path, MAX_BYTES);
  if (isGzip(bytes)) return openBackup(bytes, source, options);
  if (wanted !== undefined) {
    throw new GwError('USAGE', `${path} is not a backup, so map ${quote(wanted)} cannot be selected.`, {
      remedy: 'Omit --map and the part from the #.',
    });
  }
  const warnings: string[] = [];
  const overlays = readOverlays(bytes, 'file');
  const image = imagePath === undefined ? null : await readImage(imagePath);
  const frame = frameOf(overlays.map, image);
  if (image !== null && frame === null) {
    warnings.push(
      `The picture ${imagePath} was not used: ${path} has no valid grid (grid_origin_x, grid_origin_y, grid_resolution).`,
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
    running: null,
    warnings,
  };
}

/** A file name may contain a #: it is used where that file exists and the part before the # does not. */
async function withHash(source: FileSource): Promise<FileSource> {
  const { path, map, imagePath } = source;
  const whole = `${path}#${map}`;
  if (map === undefined || (await exists(path)) || !(await exists(whole))) return source;
  return { kind: 'file', path: whole, imagePath };
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

async function openBackup(
  bytes: Uint8Array,
  { path, map: wanted, imagePath }: FileSource,
  options: OpenOverlaysOptions,
): Promise<OpenedOverlays> {
  const { parseArchive } = await import('../../../maps/index.ts');
  const archive = await parseArchive(bytes, path);
  const archived = selectMap(archive, wanted, path);
  const overlays = readOverlays(archived.data, `map ${archived.id}`);
  const image = imagePath === undefined ? archived.image : await readImage(imagePath);
  const warnings = image === null ? [`The backup has no picture of map ${archived.id}.`] : [];
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
    running: null,
    warnings,
  };
}

function selectMap({ maps }: MapArchive, wanted: string | undefined, path: string): ArchivedMap {
  const found =
    wanted === undefined
      ? maps.length === 1
        ? maps[0]
        : maps.find(({ isCurrent }) => isCurrent)
      : maps.find(({ id, uid }) => String(id) === wanted || uid === wanted);
  if (found !== undefined) return found;
  const what = wanted === undefined ? 'several maps, none of which was current' : `no map ${quote(wanted)}`;
  throw new GwError('MAP_UNKNOWN', `${path} holds ${maps.length === 0 ? 'no maps' : what}.`, {
    remedy:
      maps.length === 0
        ? 'Make a new backup with `gw map backup`.'
        : `Select one with --map ID, or as FILE#ID: ${listed(maps.map(({ id, name }) => `${id} ${quote(name)}`))}.`,
  });
}

async function recordsOfSite({ openToolkit, siteNamed }: OpenOverlaysOptions): Promise<DeviceEvidence['records']> {
  try {
    const { site } = await openToolkit();
    return await loadEvidenceFile(site.evidenceFile);
  } catch (error) {
    if (siteNamed !== true && error instanceof GwError && error.code === 'SITE_FILE_NOT_FOUND') return [];
    throw error;
  }
}

async function readImage(path: string): Promise<Uint8Array> {
  const bytes = await readNamed(path, MAX_IMAGE_BYTES);
  if (pngSize(bytes) !== null) return bytes;
  throw new GwError('USAGE', `${path} is not a PNG image.`, {
    remedy: 'Name the PNG of the map as the chassis returns it.',
  });
}

/** Reads a file named by the user. Throws FILE_UNREADABLE. */
async function readNamed(path: string, maxBytes: number): Promise<Uint8Array> {
  const read = await readBounded(path, maxBytes).catch((cause: NodeJS.ErrnoException) => {
    const missing = cause.code === 'ENOENT';
    throw new GwError(
      'FILE_UNREADABLE',
      missing ? `File not found: ${path}.` : `${path} cannot be read (${systemReason(cause)}).`,
      {
        remedy: missing ? 'Check the name and the current folder.' : undefined,
        cause,
      },
    );
  });
  const refuse = (why: string) =>
    new GwError('FILE_UNREADABLE', `${path} is ${why}.`, { remedy: 'Name a regular file within this size.' });
  switch (read.kind) {
    case 'bytes':
      return read.bytes;
    case 'folder':
      throw refuse('a folder');
    case 'special':
      throw refuse('not a regular file');
    case 'too-large':
      throw refuse(`larger than ${maxBytes / MiB} MiB (${Math.ceil(read.size / MiB)} MiB)`);
  }
}

function isGzip(bytes: Uint8Array): boolean {
  return bytes[0] === 0x1f && bytes[1] === 0x8b;
}
