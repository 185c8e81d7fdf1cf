import type { ServerResponse } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ChassisClient } from '../../src/lib/chassis/index.ts';
import { systemClock } from '../../src/lib/lifecycle/index.ts';
import { backUpMaps, packArchive, parseArchive } from '../../src/lib/maps/index.ts';
import { startSim } from '../../src/lib/sim/index.ts';
import { clientOf, type FakeChassis, fakeChassis } from '../chassis/peers.ts';
import { errorOf, mapDocument, oddOverlays, picture } from './samples.ts';

interface Answers {
  list: object[];
  current: object | null;
  files: Record<string, Buffer | ((response: ServerResponse) => void)>;
}

const item = (id: number, more: object = {}) => ({
  id,
  uid: `uid-${id}`,
  map_name: `Floor ${id}`,
  create_time: 1,
  map_version: 3,
  overlays_version: 7,
  ...more,
});

/** A chassis with two valid maps, until a test changes its responses. */
async function chassisWithMaps(): Promise<FakeChassis & { readonly answers: Answers }> {
  const chassis = await fakeChassis();
  const answers: Answers = { list: [item(1), item(2)], current: item(2), files: {} };
  for (const id of [1, 2]) {
    answers.files[`/maps/${id}`] = mapDocument(id, oddOverlays);
    answers.files[`/maps/${id}.png`] = picture(4 + id, 5);
    answers.files[`/maps/${id}.pbstream`] = Buffer.from(`localisation of ${id}`);
  }
  chassis.intercept = (request, response) => {
    const { url = '' } = request;
    const json = (value: unknown, status = 200) => {
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(value));
      return true;
    };
    if (url === '/maps/') return json(answers.list);
    if (url === '/chassis/current-map') return answers.current ? json(answers.current) : json({ message: 'none' }, 404);
    const file = answers.files[url];
    if (file === undefined) return false;
    if (typeof file === 'function') file(response);
    else response.end(file);
    return true;
  };
  return Object.assign(chassis, { answers });
}

/** Those of the present test. */
let chassis: Awaited<ReturnType<typeof chassisWithMaps>>;
let client: ChassisClient;
beforeEach(async () => {
  chassis = await chassisWithMaps();
  client = clientOf(chassis, { expectedSerial: 'SN-1' });
});
afterEach(async () => {
  await client[Symbol.asyncDispose]();
  await chassis[Symbol.asyncDispose]();
});

async function backUp(
  ids: 'all' | readonly string[] = 'all',
  signal = new AbortController().signal,
  of: ChassisClient = client,
) {
  const progress: string[] = [];
  const onProgress = (text: string) => void progress.push(text);
  const archive = await backUpMaps(of, { ids, gwVersion: '1.2.3', clock: systemClock, signal, onProgress });
  return { archive, progress };
}

describe('a backup', () => {
  it('saves every file of the simulated robot byte for byte', async () => {
    await using sim = await startSim();
    const endpoint = { host: sim.chassis.host, port: sim.chassis.port };
    await using other = clientOf({ endpoint }, { expectedSerial: sim.chassis.serial });
    const { archive, progress } = await backUp('all', undefined, other);
    expect(archive).toMatchObject({
      gwVersion: '1.2.3',
      complete: true,
      chassis: { serial: sim.chassis.serial, software: sim.chassis.software, model: 'simulated' },
    });
    const { maps: listed } = await other.listMaps();
    expect(archive.maps.map(({ id, uid, name }) => ({ id, uid, name }))).toEqual(
      listed.map(({ id, uid, name }) => ({ id, uid, name })),
    );
    expect(archive.maps.map(({ isCurrent }) => isCurrent).filter(Boolean)).toHaveLength(1);
    const back = await parseArchive(await packArchive(archive), 'x');
    for (const map of back.maps) {
      const base = `http://${endpoint.host}:${endpoint.port}/maps/${map.id}`;
      const raw = async (path: string) => Buffer.from(await (await fetch(`${base}${path}`)).arrayBuffer());
      expect(Buffer.from(map.data).equals(await raw(''))).toBe(true);
      expect(map.image && Buffer.from(map.image).equals(await raw('.png'))).toBe(true);
      expect(map.localisation && Buffer.from(map.localisation).equals(await raw('.pbstream'))).toBe(true);
      expect(map.overlays).toBe(JSON.parse((await raw('')).toString()).overlays);
      expect(map.missing).toEqual([]);
    }
    expect(progress).toContain('map 1: reading the picture');
  });

  it('sends nothing but GET', async () => {
    await backUp();
    expect(chassis.requests.every((request) => request.startsWith('GET '))).toBe(true);
  });

  it('of selected maps is not complete, in the order of the chassis, without duplicates', async () => {
    const { archive } = await backUp(['2', '1', '2']);
    expect(archive.complete).toBe(false);
    expect(archive.maps.map(({ id, isCurrent }) => [id, isCurrent])).toEqual([
      [1, false],
      [2, true],
    ]);
  });

  it('of an unknown map lists the existing ones', async () => {
    expect(await errorOf(backUp(['1', '7\u001b[2J']))).toMatchObject({
      code: 'MAP_UNKNOWN',
      message: 'The chassis has no map "7\\u001b[2J". It has: 1, 2.',
    });
    chassis.answers.list = [];
    expect((await errorOf(backUp(['1']))).message).toBe('The chassis has no map "1". It has none.');
  });

  it('lists missing files, and saves the others', async () => {
    const { files } = chassis.answers;
    files['/maps/1.png'] = (response) => void response.writeHead(500).end('{"message":"no picture"}');
    files['/maps/1.pbstream'] = Buffer.alloc(0);
    files['/maps/2.png'] = picture().subarray(0, -15);
    files['/maps/2.pbstream'] = (response) => {
      response.writeHead(200, { 'content-length': 100 }).write('half');
      setImmediate(() => response.destroy());
    };
    const { archive } = await backUp();
    expect(archive.maps.map(({ missing }) => missing.map(({ what, why }) => ({ what, why })))).toEqual([
      [
        { what: 'image', why: 'The chassis answered GET /maps/1.png with status 500: no picture' },
        { what: 'localisation', why: 'the chassis returned 0 bytes' },
      ],
      [
        { what: 'image', why: 'invalid PNG: it is truncated' },
        {
          what: 'localisation',
          why: expect.stringMatching(/cut off|not as long|closed in the middle of the response/),
        },
      ],
    ]);
    expect(archive.maps.every(({ image, localisation }) => image === null && localisation === null)).toBe(true);
    expect(archive.maps.map(({ overlays }) => overlays)).toEqual([oddOverlays, oddOverlays]);
    await parseArchive(await packArchive(archive), 'x');
  });

  it('keeps overlays in object form, or none, as received', async () => {
    const source = ' { "features": [ ], "type" : "FeatureCollection" }';
    chassis.answers.files['/maps/1'] = Buffer.from(
      `{"grid_origin_x":0,"grid_origin_y":0,"grid_resolution":0.05,"overlays":${source} }`,
    );
    chassis.answers.files['/maps/2'] = mapDocument(2, undefined);
    const { archive } = await backUp();
    expect(archive.maps.map(({ overlays, overlaysForm }) => [overlaysForm, overlays])).toEqual([
      ['object', source.trim()],
      ['none', null],
    ]);
  });

  it('saves unreadable overlays as well', async () => {
    chassis.answers.files['/maps/1'] = mapDocument(1, '{"type":"FeatureColl');
    const { archive } = await backUp();
    expect(archive.maps[0]?.overlays).toBe('{"type":"FeatureColl');
    await parseArchive(await packArchive(archive), 'x');
  });

  it('without a current map is complete; with one that is not stored it is not', async () => {
    chassis.answers.current = null;
    expect((await backUp()).archive).toMatchObject({
      complete: true,
      maps: [{ isCurrent: false }, { isCurrent: false }],
    });
    chassis.answers.current = item(-1);
    expect((await backUp()).archive).toMatchObject({ complete: false });
  });

  it('of an empty chassis is empty', async () => {
    chassis.answers.list = [];
    chassis.answers.current = null;
    expect((await backUp()).archive).toMatchObject({ complete: true, maps: [] });
  });

  it('is refused when the maps or the chassis at the address change meanwhile', async () => {
    const { answers } = chassis;
    const change = (by: () => void) => {
      answers.files['/maps/2.pbstream'] = (response) => {
        by();
        response.end('bytes');
      };
    };
    change(() => {
      answers.list = [item(1), item(2, { overlays_version: 8 })];
    });
    expect(await errorOf(backUp())).toMatchObject({ code: 'BACKUP_OUTDATED' });
    change(() => {
      chassis.serial = 'SN-2';
    });
    expect(await errorOf(backUp())).toMatchObject({ code: 'CHASSIS_WRONG_DEVICE' });
  });

  it('fails when the chassis starts or disconnects', async () => {
    const { files } = chassis.answers;
    files['/maps/2.png'] = (response) => {
      chassis.booting = 0.3;
      chassis.intercept = () => false;
      response.writeHead(503).end('{}');
    };
    expect(await errorOf(backUp())).toMatchObject({ code: 'CHASSIS_BOOTING' });

    await using leaving = await chassisWithMaps();
    await using other = clientOf(leaving, { expectedSerial: 'SN-1' });
    leaving.answers.files['/maps/2.pbstream'] = (response) => {
      void leaving[Symbol.asyncDispose]();
      response.destroy();
    };
    expect(await errorOf(backUp('all', undefined, other))).toMatchObject({ code: 'CHASSIS_NOT_CONNECTED' });
  });

  it('of more maps than a backup holds is refused with that limit, and names no other device', async () => {
    chassis.answers.list = Array.from({ length: 1_501 }, (_, at) => item(at + 1));
    const error = await errorOf(backUp());
    expect(error).toMatchObject({
      code: 'BACKUP_TOO_LARGE',
      message: 'The chassis lists 1501 maps; a backup holds at most 1000.',
      remedy: expect.stringContaining('gw map backup --map'),
    });
    expect(`${error.message} ${error.remedy}`).not.toMatch(/another device|proxy/);
    // As the remedy says: one of the many is backed up.
    const one = await backUp(['2']);
    expect(one.archive).toMatchObject({ complete: false, maps: [{ id: 2 }] });
  });

  it('ends at once when interrupted, also during a picture', async () => {
    const ending = new AbortController();
    chassis.answers.files['/maps/1.png'] = (response) => {
      response.writeHead(200).write('begin', () => ending.abort());
    };
    expect(await errorOf(backUp('all', ending.signal))).toMatchObject({ code: 'INTERRUPTED' });
  });
});
