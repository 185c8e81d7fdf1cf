import { createChassisClient } from '../../chassis/index.ts';
import { readJsonBytes } from '../../json/index.ts';
import { sha256 } from '../../lifecycle/index.ts';
import { checkPng, pickMap, readMap, unreadableMap } from '../../maps/index.ts';
import { frameOf, type MapFrame } from '../../overlays/index.ts';
import { chassisAccess } from '../chassis/access.ts';
import type { CheckContext, Toolkit } from '../toolkit.ts';
import { countFeatures, evidenceOfFields, listedFields } from './contents.ts';
import type { MapShow } from './map.result.ts';

/**
 * One map of a chassis with all files of a backup, and what a backup would lack. Throws MAP_UNKNOWN, MAP_UNREADABLE and
 * the errors of the chassis client.
 */
export async function showMap(
  toolkit: Toolkit,
  options: { readonly id: string },
  { signal, onProgress }: CheckContext,
): Promise<MapShow> {
  const access = await chassisAccess(toolkit);
  const { host, port } = access.endpoint;
  await using client = createChassisClient(access);
  onProgress(`reading map ${options.id} from ${host}:${port}`);
  const { serial, software, model } = await client.identity(signal);
  const item = pickMap(await client.listMaps(signal), options.id);
  const current = await client.currentMap(signal);
  const isCurrent = current?.id === item.id;
  const one = await readMap(client, item, { isCurrent, signal, onProgress });
  if (one.kind === 'damaged') throw unreadableMap(one.damaged);
  const { map } = one;
  const { id, uid, name, mapVersion, overlaysVersion, data, image, localisation, missing } = map;
  const picture = image && (await checkPng(image));
  const reading = readJsonBytes(data);
  const frame = frameOf(reading.ok ? (reading.value as Readonly<Record<string, unknown>>) : null, image);
  return {
    address: { host, port, way: access.dialer.way },
    chassis: { serial, software, model },
    map: { id, uid, name, mapVersion, overlaysVersion, isCurrent },
    data: contentOf(data),
    frame: frame && frameInMetres(frame),
    picture: image && picture?.ok ? { ...contentOf(image), width: picture.width, height: picture.height } : null,
    localisation: localisation && contentOf(localisation),
    overlays: countFeatures(map),
    missing: missing.map(({ what, why }) => ({ what, why })),
    fields: evidenceOfFields([
      ...listedFields,
      'originXM',
      'originYM',
      'resolutionM',
      'picture',
      'data',
      'localisation',
      'overlays',
    ]),
  };
}

function contentOf(bytes: Uint8Array) {
  return { bytes: bytes.byteLength, sha256: sha256(bytes) };
}

function frameInMetres({ originXM, originYM, resolutionM, width, height }: MapFrame) {
  const metres = (pixels: number | null) => (pixels === null ? null : Math.round(pixels * resolutionM * 1e6) / 1e6);
  return { originXM, originYM, resolutionM, widthM: metres(width), heightM: metres(height) };
}
