import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { PNG } from 'pngjs';
import type { ArchivedMap, MapArchive } from '../../src/lib/maps/index.ts';

export { failureOf as errorOf } from '../chassis/peers.ts';

/** Overlays with everything that parsing and serialising would change: order, spaces, number forms, escapes, unusual keys. */
export const oddOverlays =
  '{ "features":[{"properties":{"type":"11","yaw":"90.0","__proto__":{"x":1},"name":"Café \\u00e9 <b>"},"id":"a",' +
  '"geometry":{"coordinates":[1.50,-2e0],"type":"Point"},"type":"Feature"}] ,"type":"FeatureCollection","rack":{"w":1.0}}';

const pictures = new Map<string, Buffer>();

export function picture(width = 8, height = 6): Buffer {
  const size = `${width} ${height}`;
  const made = pictures.get(size) ?? paint(width, height);
  pictures.set(size, made);
  return Buffer.from(made);
}

function paint(width: number, height: number): Buffer {
  const png = new PNG({ width, height, colorType: 0, inputColorType: 0, bitDepth: 8, inputHasAlpha: false });
  png.data = Buffer.from(Array.from({ length: width * height }, (_, at) => at % 256));
  return PNG.sync.write(png, { colorType: 0, inputColorType: 0, bitDepth: 8, inputHasAlpha: false });
}

/** A map document as a chassis sends it, with the overlays as JSON text. */
export function mapDocument(id: number, overlays: unknown, more: object = {}): Buffer {
  const document = {
    id,
    uid: `uid-${id}`,
    map_name: `Floor ${id}`,
    map_version: 3,
    overlays_version: 7,
    grid_origin_x: -3,
    grid_origin_y: -3.5,
    grid_resolution: 0.05,
    ...more,
  };
  return Buffer.from(JSON.stringify({ ...document, ...(overlays === undefined ? {} : { overlays }) }));
}

export function archivedMap(id: number, changes: Partial<ArchivedMap> = {}): ArchivedMap {
  return {
    id,
    uid: `uid-${id}`,
    name: `Floor ${id}`,
    mapVersion: 3,
    overlaysVersion: 7,
    isCurrent: id === 1,
    data: mapDocument(id, oddOverlays),
    overlays: oddOverlays,
    overlaysForm: 'text',
    image: picture(),
    localisation: Buffer.from(`localisation of ${id}`),
    missing: [],
    ...changes,
  };
}

export function sampleArchive(changes: Partial<MapArchive> = {}): MapArchive {
  return {
    createdAt: '2026-01-31T12:00:00.000Z',
    gwVersion: '0.1.0',
    chassis: { serial: 'SN-1', software: '2.12.3', model: 'm1' },
    complete: true,
    maps: [archivedMap(1), archivedMap(2)],
    damaged: [],
    list: null,
    currentProblem: null,
    ...changes,
  };
}

export interface HandMadeEntry {
  readonly name: string;
  readonly body?: Uint8Array | string;
  /** Type byte of the header: '0' file, '1' hard link, '2' symbolic link, '3' and '4' devices, '5' folder, '6' pipe. */
  readonly type?: string;
  readonly link?: string;
  /** Size in the header instead of the true one. */
  readonly size?: number;
}

/** A hand-made tar, for full control of its bytes. */
export function tarByHand(entries: readonly HandMadeEntry[], tail: Uint8Array = Buffer.alloc(1024)): Buffer {
  const blocks: Uint8Array[] = [];
  for (const { name, body = '', type = '0', link = '', size } of entries) {
    const bytes = Buffer.from(body as Uint8Array);
    const header = Buffer.alloc(512);
    header.write(name, 0, 100, 'utf8');
    header.write('0000644\0', 100);
    header.write('0000000\0', 108);
    header.write('0000000\0', 116);
    header.write(`${(size ?? bytes.length).toString(8).padStart(11, '0')}\0`, 124);
    header.write('00000000000\0', 136);
    header.write('        ', 148);
    header.write(type, 156);
    header.write(link, 157, 100, 'utf8');
    header.write('ustar\u000000', 257);
    const sum = header.reduce((all, byte) => all + byte, 0);
    header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
    blocks.push(header, bytes, Buffer.alloc((512 - (bytes.length % 512)) % 512));
  }
  return Buffer.concat([...blocks, tail]);
}

/** The entries of a valid archive, to be changed by a test before packing. */
export function entriesOf(archive: MapArchive, changeManifest = (text: string) => text): HandMadeEntry[] {
  const hex = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');
  const files: HandMadeEntry[] = [];
  const maps = archive.maps.map((map) => {
    const { data, overlays, image, localisation, missing, ...listed } = map;
    const rest = { ...listed, missing: missing.map(({ what, why }) => ({ what, why })) };
    const add = (file: string, body: Uint8Array | string | null) => {
      if (body === null) return null;
      const bytes = Buffer.from(body as Uint8Array);
      files.push({ name: `maps/${map.id}/${file}`, body: bytes });
      return { name: `maps/${map.id}/${file}`, bytes: bytes.length, sha256: hex(bytes) };
    };
    return {
      ...rest,
      files: {
        data: add('map.json', data),
        overlays: add('overlays.json', overlays),
        image: add('image.png', image),
        localisation: add('localisation.pbstream', localisation),
      },
    };
  });
  const manifest = JSON.stringify({ schema: 'gw/map-archive/1', ...archive, maps });
  return [{ name: 'manifest.json', body: changeManifest(manifest) }, ...files];
}

export function tgz(entries: readonly HandMadeEntry[], tail?: Uint8Array): Buffer {
  return gzipSync(tarByHand(entries, tail));
}
