import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import {
  archiveFileName,
  type MapArchive,
  packArchive,
  parseArchive,
  readArchive,
  writeArchive,
} from '../../src/lib/maps/index.ts';
import { overlaysSource } from '../../src/lib/overlays/index.ts';
import { collectionText } from '../overlays/arbitrary.ts';
import { isFull, runs } from '../properties.ts';
import {
  archivedMap,
  entriesOf,
  errorOf,
  type HandMadeEntry,
  mapDocument,
  oddOverlays,
  picture,
  sampleArchive,
  tarByHand,
  tgz,
} from './samples.ts';

const folder = mkdtempSync(join(tmpdir(), 'gw-archive-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Contents as buffers, so that an equal text in another kind of array is equal. */
function plain(archive: MapArchive) {
  const maps = archive.maps.map((map) => ({
    ...map,
    data: Buffer.from(map.data),
    image: map.image && Buffer.from(map.image),
    localisation: map.localisation && Buffer.from(map.localisation),
  }));
  return { ...archive, maps };
}

function sourceOf(data: Uint8Array) {
  const { text: overlays, form: overlaysForm } = overlaysSource(data);
  return { overlays, overlaysForm };
}

async function problems(bytes: Uint8Array): Promise<readonly string[]> {
  const error = await errorOf(parseArchive(bytes, 'it.tar.gz'));
  expect(error.code, String(error.stack)).toBe('ARCHIVE_INVALID');
  expect(error.message.split('\n')[0]).toBe('it.tar.gz is corrupt or not a backup:');
  const list = error.details?.problems as string[];
  expect(list.length).toBeGreaterThan(0);
  return list;
}

describe('an archive', () => {
  it('is parsed as it was packed, byte for byte, and packing is deterministic', async () => {
    const archive = sampleArchive();
    const bytes = await packArchive(archive);
    expect(plain(await parseArchive(bytes, 'x'))).toEqual(plain(archive));
    expect(Buffer.from(await packArchive(archive)).equals(bytes)).toBe(true);
  });

  it('has the manifest first, then the files of each map, all regular files of uid 0', async () => {
    const tar = gunzipSync(await packArchive(sampleArchive()));
    const names: string[] = [];
    for (let at = 0; tar[at] !== 0; ) {
      names.push(tar.toString('utf8', at, tar.indexOf(0, at)));
      expect(tar.toString('latin1', at + 156, at + 157)).toBe('0');
      expect(tar.toString('latin1', at + 108, at + 116)).toMatch(/^0+\0$/);
      at += 512 + Math.ceil(Number.parseInt(tar.toString('latin1', at + 124, at + 135), 8) / 512) * 512;
    }
    expect(names).toEqual([
      'manifest.json',
      ...[1, 2].flatMap((id) =>
        ['map.json', 'overlays.json', 'image.png', 'localisation.pbstream'].map((file) => `maps/${id}/${file}`),
      ),
    ]);
  });

  it('holds a map without picture, localisation or overlays, and no map at all', async () => {
    const missing = [
      { what: 'image', why: 'status 500', received: null },
      { what: 'localisation', why: 'status 404', received: null },
    ] as const;
    const incomplete = archivedMap(5, {
      ...{ uid: null, mapVersion: null, overlaysVersion: null, data: mapDocument(5, undefined) },
      ...{ overlays: null, overlaysForm: 'none', image: null, localisation: null, missing },
    });
    for (const maps of [[incomplete], []]) {
      const archive = sampleArchive({ maps, complete: false, chassis: { serial: 'S', software: null, model: null } });
      expect(plain(await parseArchive(await packArchive(archive), 'x'))).toEqual(plain(archive));
    }
  });

  it('keeps overlays of an object form, and a lone surrogate in a text, exactly', async () => {
    const source = oddOverlays.replaceAll('"id":"a"', '"id" : "a"');
    const asObject = archivedMap(1, {
      data: Buffer.from(`{"id":1,"overlays": ${source},"grid_resolution":0.05}`),
      overlays: source,
      overlaysForm: 'object',
    });
    const half = '{"type":"FeatureCollection","features":[],"name":"\ud800"}';
    const archive = sampleArchive({ maps: [asObject, archivedMap(2, { data: mapDocument(2, half), overlays: half })] });
    const back = await parseArchive(await packArchive(archive), 'x');
    expect(back.maps.map(({ overlays }) => overlays)).toEqual([source, half]);
  });

  it('carries any overlays exactly as the map has them, as text and as object', { tags: 'property' }, async () => {
    await fc.assert(
      fc.asyncProperty(collectionText(), async (text) => {
        const asText = mapDocument(1, text);
        const asObject = Buffer.from(`{"id":2,"overlays":${text},"grid_resolution":0.05}`);
        const maps = [
          archivedMap(1, { data: asText, ...sourceOf(asText) }),
          archivedMap(2, { data: asObject, ...sourceOf(asObject) }),
        ];
        const back = await parseArchive(await packArchive(sampleArchive({ maps })), 'x');
        expect(back.maps[0]).toMatchObject({ overlays: text, overlaysForm: 'text' });
        expect(back.maps[1]).toMatchObject({ overlays: text.trim(), overlaysForm: 'object' });
        expect(back.maps.map(({ data }) => Buffer.from(data))).toEqual([asText, asObject]);
      }),
      { numRuns: runs(100) },
    );
  });

  it('is parsed from hand-made bytes, also with folders and ./ before the names', async () => {
    const entries = entriesOf(sampleArchive());
    expect(plain(await parseArchive(tgz(entries), 'x'))).toEqual(plain(sampleArchive()));
    const folders = ['./', './maps/', './maps/1/', './maps/2'].map((name) => ({ name, type: '5' }));
    const dotted = entries.map((entry) => ({ ...entry, name: `./${entry.name}` }));
    expect(plain(await parseArchive(tgz([...folders, ...dotted]), 'x'))).toEqual(plain(sampleArchive()));
  });
});

describe('a hostile or corrupt archive is rejected with every problem:', () => {
  const good = entriesOf(sampleArchive());
  const [manifest, first] = good as [HandMadeEntry, HandMadeEntry];
  const without = (name: string) => good.filter((entry) => entry.name !== name);

  const alien = (name: string, shown = name): [HandMadeEntry, string] => [
    { name, body: 'x' },
    `it contains the file "${shown}", which is not in the manifest`,
  ];
  const link = (type: string, kind: string, to: string): [HandMadeEntry, string] => [
    { name: 'maps/1/link', type, link: to },
    `it contains the ${kind} "maps/1/link" to "${to}"`,
  ];
  it.each<[string, HandMadeEntry, string]>([
    ['path traversal by ..', ...alien('../../etc/passwd')],
    ['path traversal inside a name', ...alien('maps/1/../../x')],
    ['an absolute name', ...alien('/etc/passwd')],
    ['control characters in a name', ...alien('a\u001b[2J', 'a\\u001b[2J')],
    ['an extra file', ...alien('maps/9/map.json')],
    ['a file named like a prototype', ...alien('__proto__')],
    ['a symbolic link', ...link('2', 'symbolic link', '/etc/shadow')],
    ['a hard link', ...link('1', 'hard link', 'manifest.json')],
    ['a character device', { name: 'null', type: '3' }, 'it contains the device "null"'],
    ['a block device', { name: 'sda', type: '4' }, 'it contains the device "sda"'],
    ['a pipe', { name: 'pipe', type: '6' }, 'it contains the pipe "pipe"'],
    ['a foreign folder', { name: '../up/', type: '5' }, 'it contains the folder "../up/", which belongs to no map'],
    ['a file twice', first, `it contains ${first.name} twice`],
    ['the manifest twice', manifest, 'it contains manifest.json twice'],
  ])('%s', async (_, extra, problem) => {
    expect(await problems(tgz([...good, extra]))).toEqual([problem]);
  });

  it('a link in place of a file', async () => {
    const { name } = first;
    const entries = good.map((entry) => (entry === first ? { name, type: '2', link: '/etc/passwd' } : entry));
    expect(await problems(tgz(entries))).toEqual([
      `it contains the symbolic link "${name}" to "/etc/passwd"`,
      `${name} is missing`,
    ]);
  });

  it('files missing, of another length, of another content', async () => {
    expect(await problems(tgz(without('maps/2/image.png')))).toEqual(['maps/2/image.png is missing']);
    const longer = good.map((entry) => (entry === first ? { ...entry, body: `${String(entry.body)} ` } : entry));
    expect(await problems(tgz(longer))).toEqual([
      expect.stringMatching(/^maps\/1\/map.json has \d+ bytes, expected \d+ by the manifest$/),
    ]);
    const other = good.map((entry) => {
      const body = Buffer.from(entry.body as Uint8Array);
      body[10] = (body[10] ?? 0) ^ 1;
      return entry.name.endsWith('.pbstream') ? { ...entry, body } : entry;
    });
    expect(await problems(tgz(other))).toEqual([
      'maps/1/localisation.pbstream: SHA-256 differs from the manifest',
      'maps/2/localisation.pbstream: SHA-256 differs from the manifest',
    ]);
  });

  it.each<[string, HandMadeEntry[], string]>([
    [
      'not first',
      good.slice(1),
      'the first entry is the file "maps/1/map.json", expected manifest.json: not a backup of gw',
    ],
    ['missing', [], 'no manifest.json: not a backup of gw'],
    [
      'a link',
      [{ name: 'manifest.json', type: '2', link: '/x' }],
      'the first entry is the symbolic link "manifest.json" to "/x", expected manifest.json: not a backup of gw',
    ],
    [
      'too large',
      [{ name: 'manifest.json', body: Buffer.alloc(4 * 1024 * 1024 + 1) }],
      'manifest.json is larger than 4194304 bytes',
    ],
  ])('a manifest that is %s', async (_, entries, problem) => {
    expect(await problems(tgz(entries))).toEqual([problem]);
  });

  it.each<[string, (text: string) => string, string]>([
    ['not JSON', (text) => text.slice(0, 50), 'the JSON is cut off in the middle'],
    ['of another schema', (text) => text.replace('archive/1', 'archive/3'), 'schema "gw/map-archive/3", expected "gw'],
    ['of no schema', () => '[]', 'schema none, expected "gw/map-archive/1"'],
    ['of wrong types', (text) => text.replace('"complete":true', '"complete":"yes"'), '"complete": '],
    ['with unknown keys', (text) => text.replace('{', '{"constructor":1,"toString":2,'), 'constructor'],
    [
      'ambiguous',
      (text) => text.replace('"complete":true', '"complete":true,"complete":false'),
      'key "complete" twice',
    ],
  ])('a manifest that is %s', async (_, change, problem) => {
    expect(await problems(tgz(entriesOf(sampleArchive(), change)))).toEqual([expect.stringContaining(problem)]);
  });

  it('a key __proto__ in the manifest changes no object', async () => {
    const entries = entriesOf(sampleArchive(), (text) => text.replace('{', '{"__proto__":{"polluted":true},'));
    await parseArchive(tgz(entries), 'x').catch(() => {});
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });

  it.each<[string, (manifest: ReturnType<typeof JSON.parse>) => void, string[]]>([
    [
      'one map twice',
      ({ maps }) => void maps.push(structuredClone(maps[0])),
      ['map 1 is listed twice', 'more than one map is marked as current'],
    ],
    [
      'a path as the name of a file',
      ({ maps: [map] }) => Object.assign(map.files.image, { name: '../../x.png' }),
      ['image of map 1 is named "../../x.png", expected maps/1/image.png'],
    ],
    [
      'a file for no overlays',
      ({ maps: [map] }) => Object.assign(map, { overlaysForm: 'none' }),
      ["map 1 has overlays in the form 'none', but a file for them"],
    ],
    [
      'a missing file without a reason',
      ({ maps: [map] }) => Object.assign(map.files, { image: null }),
      ['image of map 1 is missing without exactly one reason'],
    ],
    [
      'files that are too large together',
      ({ maps }) => {
        for (const map of maps) for (const file of Object.values<{ bytes: number }>(map.files)) file.bytes = 2 ** 28;
      },
      ['its files exceed 1024 MiB in total'],
    ],
  ])('a manifest that contradicts itself: %s', async (_, change, found) => {
    const changed = (text: string) => {
      const parsed = JSON.parse(text);
      change(parsed);
      return JSON.stringify(parsed);
    };
    const expected = found.map((problem) => `manifest.json: ${problem}`);
    expect(await problems(tgz(entriesOf(sampleArchive(), changed)))).toEqual(expected);
  });

  it.each<[string, Parameters<typeof archivedMap>[1], (string | RegExp)[]]>([
    ['a page', { data: Buffer.from('<html>') }, ['map.json is not a map: answered with HTML instead of JSON']],
    ['a list', { data: Buffer.from('[]') }, ['map.json is not a map: JSON, but not an object']],
    ['other overlays', { overlays: oddOverlays.replace('"a"', '"b"') }, [/overlays.json differs from the overlays in/]],
    ['overlays of none', { data: mapDocument(1, undefined) }, [/overlays.json differs from the overlays in maps\/1/]],
    ['another form', { overlaysForm: 'object' }, [/map 1 has its overlays in the form 'text', expected 'object'/]],
    ['a cut picture', { image: picture().subarray(0, -20) }, [/^maps\/1\/image.png is not a valid PNG: /]],
    // Several problems are all listed.
    ['two of them', { image: Buffer.from('x'), data: Buffer.from('{') }, [/map.json/, /image.png/]],
  ])('files with correct checksums but invalid content: %s', async (_, changes, expected) => {
    const found = await problems(tgz(entriesOf(sampleArchive({ maps: [archivedMap(1, changes)] }))));
    expect(found).toHaveLength(expected.length);
    for (const text of expected) {
      expect(found).toContainEqual(typeof text === 'string' ? `maps/1/${text}` : expect.stringMatching(text));
    }
  });

  it('truncated at every byte, and at every block before compression', { tags: 'property' }, async () => {
    const whole = Buffer.from(await packArchive(sampleArchive({ maps: [archivedMap(1)] })));
    const tar = tarByHand(good);
    const isInvalid = async (bytes: Uint8Array, at: number) => {
      const { code } = await errorOf(parseArchive(bytes, 'x'));
      expect(code, `truncated at ${at}`).toBe('ARCHIVE_INVALID');
    };
    const [bytes, blocks] = isFull ? [1, 256] : [23, 1_024];
    for (let at = 0; at < whole.length; at += bytes) await isInvalid(whole.subarray(0, at), at);
    for (let at = 0; at < tar.length; at += blocks) await isInvalid(gzipSync(tar.subarray(0, at)), at);
    expect(await problems(whole.subarray(0, 0))).toEqual(['it is empty']);
    expect(await problems(whole.subarray(0, 400))).toEqual(['it is truncated']);
  });

  it('with any bit flipped', { tags: 'property' }, async () => {
    const whole = Buffer.from(await packArchive(sampleArchive({ maps: [archivedMap(1)] })));
    const expected = plain(sampleArchive({ maps: [archivedMap(1)] }));
    await fc.assert(
      fc.asyncProperty(fc.nat(whole.length - 1), fc.nat(7), async (at, bit) => {
        const bytes = Buffer.from(whole);
        bytes[at] = (bytes[at] ?? 0) ^ (1 << bit);
        const outcome = await parseArchive(bytes, 'x').catch((error) => error);
        // Some bits of the gzip header (time, system) do not affect the content.
        if (outcome instanceof Error) expect((outcome as { code?: string }).code).toBe('ARCHIVE_INVALID');
        else expect(plain(outcome)).toEqual(expected);
      }),
      { numRuns: runs(300, 8) },
    );
  });

  it('of arbitrary bytes, uncompressed and compressed', { tags: 'property' }, async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 3000 }), fc.boolean(), async (bytes, compressed) => {
        const error = await errorOf(parseArchive(compressed ? gzipSync(bytes) : bytes, 'x'));
        expect(error.code).toBe('ARCHIVE_INVALID');
      }),
      { numRuns: runs(200) },
    );
  });

  it('with data after its end, or an invalid header', async () => {
    const whole = Buffer.from(await packArchive(sampleArchive()));
    expect(await problems(Buffer.concat([whole, Buffer.alloc(3)]))).toEqual(['3 extra bytes after its end']);
    expect((await problems(Buffer.concat([whole, Buffer.from('garbage')])))[0]).toBe('unexpected data after its end');
    expect(await problems(tgz(good, Buffer.concat([Buffer.alloc(1024), Buffer.from('more')])))).toEqual([
      'unexpected data after the end of its tar',
    ]);
    const second = tarByHand([{ name: 'late', body: 'x' }]);
    expect(await problems(tgz(good, Buffer.concat([Buffer.alloc(1024), second])))).toEqual([
      'unexpected data after the end of its tar',
    ]);
    const tar = tarByHand(good);
    tar[1] = 0x21;
    expect(await problems(gzipSync(tar))).toEqual(['a tar header has a wrong checksum']);
    expect(await problems(tarByHand(good))).toEqual(['not a gzip file']);
    expect(await problems(Buffer.from('<html>'))).toEqual(['not a gzip file']);
  });

  it('that is a decompression bomb in one file, in many, or after its end', { tags: 'large' }, async () => {
    const bombBytes = (isFull ? 64 : 12) * 1024 * 1024;
    const tooLarge = 'its unpacked size exceeds the manifest';
    const zeros = gzipSync(Buffer.alloc(bombBytes));
    expect(zeros.length).toBeLessThan(300_000);
    expect(await problems(zeros)).toEqual([expect.stringMatching(/unpacked size exceeds|no manifest/)]);
    const huge = { name: 'maps/1/map.json', size: 8 * 1024 ** 3 - 1, body: Buffer.alloc(bombBytes) };
    expect((await problems(tgz([...good, huge])))[0]).toBe(tooLarge);
    expect((await problems(tgz(good, Buffer.alloc(bombBytes))))[0]).toBe(tooLarge);
    const many = Array.from({ length: 6_100 }, (_, at) => ({ name: `f${at}` }));
    const list = await problems(tgz([...good, ...many]));
    expect(list[0]).toBe('more than 6000 entries');
    expect(list.length).toBeLessThanOrEqual(200);
  });

  it('of which no more is unpacked than its manifest names', { tags: 'large' }, async () => {
    const before = process.memoryUsage().rss;
    await problems(gzipSync(Buffer.alloc(200 * 1024 * 1024)));
    await problems(tgz(good, Buffer.alloc(64 * 1024 * 1024)));
    expect(process.memoryUsage().rss - before).toBeLessThan(500 * 1024 * 1024);
  });

  it('with many problems: the first ones and the number of the others', async () => {
    const extra = Array.from({ length: 50 }, (_, at) => ({ name: `f${at}` }));
    const error = await errorOf(parseArchive(tgz([...good, ...extra]), 'x'));
    expect(error.message.split('\n')).toHaveLength(22);
    expect(error.message).toMatch(/… and 30 more$/);
  });
});

describe('an archive file', () => {
  it('is written, read back, and returned with its checksum', async () => {
    const path = join(folder, 'new', 'a.tar.gz');
    const written = await writeArchive(path, sampleArchive(), { force: false });
    const read = await readArchive(path);
    expect(plain(read.archive)).toEqual(plain(sampleArchive()));
    expect({ path: written.path, bytes: written.bytes, sha256: written.sha256 }).toEqual({
      path,
      bytes: readFileSync(path).length,
      sha256: read.sha256,
    });
    expect(read.sha256).toMatch(/^[0-9a-f]{64}$/);
    expect(readdirSync(join(folder, 'new'))).toEqual(['a.tar.gz']);
  });

  it('replaces nothing without force, and leaves no temporary file', async () => {
    const path = join(folder, 'there.tar.gz');
    writeFileSync(path, 'precious');
    const error = await errorOf(writeArchive(path, sampleArchive(), { force: false }));
    expect(error).toMatchObject({ code: 'FILE_EXISTS', message: `${path} already exists.` });
    expect(readFileSync(path, 'utf8')).toBe('precious');
    await writeArchive(path, sampleArchive(), { force: true });
    expect((await readArchive(path)).archive.maps).toHaveLength(2);
    expect(readdirSync(folder).filter((name) => name.startsWith('.'))).toEqual([]);
  });

  it('that would be invalid when read back is not written, also not over another one', async () => {
    const path = join(folder, 'invalid.tar.gz');
    const invalid = sampleArchive({ maps: [archivedMap(1, { image: Buffer.from('not a picture') })] });
    expect((await errorOf(writeArchive(path, invalid, { force: false }))).code).toBe('ARCHIVE_INVALID');
    expect(existsSync(path)).toBe(false);
    await writeArchive(path, sampleArchive(), { force: false });
    expect((await errorOf(writeArchive(path, invalid, { force: true }))).code).toBe('ARCHIVE_INVALID');
    expect((await readArchive(path)).archive.maps).toHaveLength(2);
    expect(readdirSync(folder).filter((name) => name.startsWith('.'))).toEqual([]);
  });

  it('reports why a file cannot be read or written', async () => {
    expect(await errorOf(readArchive(join(folder, 'none.tar.gz')))).toMatchObject({
      code: 'FILE_UNREADABLE',
      message: `${join(folder, 'none.tar.gz')} cannot be read: no such file.`,
    });
    expect(await errorOf(readArchive(folder))).toMatchObject({
      code: 'ARCHIVE_INVALID',
      details: { problems: ['not a regular file'] },
    });
    writeFileSync(join(folder, 'file'), '');
    expect(await errorOf(writeArchive(join(folder, 'file', 'a'), sampleArchive(), { force: false }))).toMatchObject({
      code: 'FILE_UNWRITABLE',
      message: `${join(folder, 'file', 'a')} cannot be written: its folder is a file.`,
    });
  });

  it('with a generated name gets the next free one, which sorts after it, and never replaces another', async () => {
    const place = join(folder, 'numbered');
    const path = join(place, archiveFileName('SN-0001', new Date('2026-01-31T12:00:05.123Z')));
    const later = archiveFileName('SN-0001', new Date('2026-01-31T12:00:06Z'));
    const named = (name: string) => sampleArchive({ gwVersion: name });
    const first = await writeArchive(path, named('1'), { mayNumber: true });
    expect(first.path).toBe(path);
    // Concurrently, as by two commands.
    const both = await Promise.all(['2', '3'].map((name) => writeArchive(path, named(name), { mayNumber: true })));
    const names = readdirSync(place);
    expect(names).toHaveLength(3);
    expect([...names].sort()).toEqual([
      'maps-SN-0001-20260131T120005Z.tar.gz',
      'maps-SN-0001-20260131T120005Z2.tar.gz',
      'maps-SN-0001-20260131T120005Z3.tar.gz',
    ]);
    expect([...names, later].sort((a, b) => a.localeCompare(b, 'en')).at(-1)).toBe(later);
    expect([...names].sort((a, b) => a.localeCompare(b, 'en'))).toEqual([...names].sort());
    for (const { path: written, archive } of [first, ...both]) {
      expect((await readArchive(written)).archive.gwVersion).toBe(archive.gwVersion);
    }
  });

  it('has a default name that no serial number can turn into a path', () => {
    const at = new Date('2026-01-31T12:00:05.123Z');
    expect(archiveFileName('SN-0001', at)).toBe('maps-SN-0001-20260131T120005Z.tar.gz');
    expect(archiveFileName('../../e tc', at, 'before-restore')).toBe(
      'maps-.._.._e_tc-before-restore-20260131T120005Z.tar.gz',
    );
  });
});
