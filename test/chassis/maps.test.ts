import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { mapWritesOf } from '../../src/lib/chassis/map-writes.ts';
import { createPacedClock } from '../lifecycle/paced-clock.ts';
import { runs } from '../properties.ts';
import { answeringPeer, clientOf, deviceInfo, failureOf, fakeChassis, httpAnswer, rawPeer } from './peers.ts';

const map = {
  ...{ id: 7, uid: 'u7', map_name: 'Erdgeschoss' },
  ...{ grid_origin_x: -3, grid_origin_y: -3.5, grid_resolution: 0.05 },
  overlays: '{"type":"FeatureCollection","features":[]}',
};

/** Ends with the test. */
let stack: AsyncDisposableStack;
beforeEach(() => {
  stack = new AsyncDisposableStack();
});
afterEach(() => stack.disposeAsync());

async function robot(answers: Readonly<Record<string, string | Buffer>> = {}) {
  const chassis = stack.use(await fakeChassis());
  chassis.intercept = (request, response) => {
    const answer = answers[request.url ?? ''];
    if (answer === undefined || request.method !== 'GET') return false;
    response.writeHead(200, { 'content-type': 'application/json' }).end(answer);
    return true;
  };
  return { chassis, client: stack.use(clientOf(chassis, { expectedSerial: 'SN-1' })) };
}

describe('reading maps', () => {
  it('takes a uid that is longer than any for none: a shortened one would be that of another map', async () => {
    const named = (length: number) => ({ id: length, uid: 'u'.repeat(length), map_name: 'n'.repeat(60_000) });
    const { client } = await robot({ '/maps/': JSON.stringify([named(200), named(201)]) });
    const { maps } = await client.listMaps();
    expect(maps.map(({ uid, name }) => [uid?.length ?? null, name?.length])).toEqual([
      [200, 500],
      [null, 500],
    ]);
  });

  it('returns the document of a map byte for byte, whatever its whitespace, escapes and unknown keys', async () => {
    const body = Buffer.from(
      `\n {"never_seen" : 1.0, "overlays":"\\u007b}", "grid_origin_x":0,"grid_origin_y":-0.0 ,"grid_resolution":5e-2}\n`,
    );
    const { client } = await robot({ '/maps/7': body });
    expect(Buffer.from(await client.mapBytes('7'))).toEqual(body);
  });

  it('accepts overlays as a JSON text, an object, null and missing', async () => {
    for (const overlays of [map.overlays, { type: 'FeatureCollection', features: [] }, null, undefined]) {
      const { client } = await robot({ '/maps/7': JSON.stringify({ ...map, overlays }) });
      await expect(client.mapBytes('7')).resolves.toBeInstanceOf(Uint8Array);
    }
  });

  it('rejects documents that are not maps', async () => {
    for (const body of ['[]', '{}', '<html>', JSON.stringify({ ...map, grid_resolution: 0 })]) {
      const { client } = await robot({ '/maps/7': body });
      expect((await failureOf(client.mapBytes('7'))).code).toBe('CHASSIS_BAD_ANSWER');
    }
  });

  it('throws only gw errors, whatever the bytes', { tags: 'property' }, async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 60 }), async (bytes) => {
        await using peer = await answeringPeer(httpAnswer(Buffer.from(bytes)));
        await using client = clientOf(peer);
        expect((await failureOf(client.mapBytes('7'))).code).toBe('CHASSIS_BAD_ANSWER');
        expect((await failureOf(client.currentMap())).code).toBe('CHASSIS_BAD_ANSWER');
      }),
      { numRuns: runs(40) },
    );
  });

  it('distinguishes no current map from one that was set from data', async () => {
    expect(await (await robot()).client.currentMap()).toBeNull();
    const fromData = { id: -1, uid: '', map_name: 'x', map_version: 1 };
    const { client } = await robot({ '/chassis/current-map': JSON.stringify(fromData) });
    expect(await client.currentMap()).toEqual({ id: -1, uid: null, name: 'x', mapVersion: 1 });
  });

  it('returns localisation data unchanged, and the error when there is none', async () => {
    const body = Buffer.from([0, 255, 13, 10]);
    const { client } = await robot({ '/maps/7.pbstream': body });
    expect(Buffer.from(await client.mapLocalisation('7'))).toEqual(body);
    const error = await failureOf(client.mapLocalisation('8'));
    expect(error).toMatchObject({ code: 'CHASSIS_REFUSED', details: { status: 404 } });
  });

  it('waits longer for a map than for a short answer, but not endlessly', async () => {
    const time = createPacedClock();
    await using peer = await rawPeer((socket) => {
      socket.once('data', () => time.after(300, () => socket.end(httpAnswer(JSON.stringify(map)))));
    });
    await using client = clientOf(peer, { timeoutMs: 100, clock: time });
    await expect(client.mapBytes('7')).resolves.toBeInstanceOf(Uint8Array);
    expect((await failureOf(client.currentMap())).code).toBe('CHASSIS_NOT_CONNECTED');
  });

  it('never lets an id address a path outside the maps', async () => {
    const { client, chassis } = await robot();
    for (const id of ['', '..', '7/../../services', '7?x', '%2e', 'a b']) {
      for (const call of [client.mapBytes, client.mapLocalisation]) {
        expect((await failureOf(call(id))).code).toBe('USAGE');
      }
      expect((await failureOf(mapWritesOf(client).patchOverlays(id, '{}'))).code).toBe('USAGE');
    }
    expect(chassis.requests).toEqual([]);
  });
});

describe('writing maps', () => {
  /** A chassis that accepts every write, and remembers it. */
  async function writable() {
    const { chassis, client } = await robot();
    const seen: { method: string; path: string; body: Record<string, unknown> }[] = [];
    chassis.intercept = (request, response) => {
      if (request.method === 'GET') return false;
      const pieces: Buffer[] = [];
      request.on('data', (piece) => pieces.push(piece));
      request.on('end', () => {
        const { method = '', url: path = '' } = request;
        seen.push({ method, path, body: JSON.parse(Buffer.concat(pieces).toString()) });
        response.writeHead(201, { 'content-type': 'application/json' }).end('{"id":12,"uid":"u7"}');
      });
      return true;
    };
    return { chassis, writes: mapWritesOf(client), seen };
  }

  it('sends overlays as the exact given text, and nothing else', { tags: 'property' }, async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: fc.constantFrom(...'aä"\\\0\n\u2028😀{') }), async (text) => {
        const { writes, seen } = await writable();
        await writes.patchOverlays('7', text);
        expect(seen).toEqual([{ method: 'PATCH', path: '/maps/7', body: { overlays: text } }]);
      }),
      { numRuns: runs(30) },
    );
  });

  it('verifies the serial number on the same connection before each write', async () => {
    const { writes, seen, chassis } = await writable();
    const image = new Uint8Array([1]);
    await writes.patchOverlays('7', '{}');
    await writes.createMap({
      ...{ name: 'n', uid: null, mapVersion: null, overlaysVersion: null, overlays: null },
      ...{ originXM: 0, originYM: 0, resolutionM: 0.05, image, localisation: image },
    });
    await writes.useMap(12);
    await writes.restartService();
    const paths = ['PATCH /maps/7', 'POST /maps/', 'POST /chassis/current-map', 'POST /services/restart_service'];
    expect(chassis.requests).toEqual(paths.flatMap((path) => ['GET /device/info', path]));
    expect(chassis.connections()).toBe(4);
    chassis.serial = 'SN-2';
    expect((await failureOf(writes.restartService())).code).toBe('CHASSIS_WRONG_DEVICE');
    expect(seen).toHaveLength(4);
  });

  it('creates a map from the full backup, and returns the number assigned by the chassis', async () => {
    const { writes, seen } = await writable();
    const made = await writes.createMap({
      ...{ name: 'Erdgeschoss', uid: 'u7', mapVersion: 3, overlaysVersion: 4, overlays: map.overlays },
      ...{ originXM: -3, originYM: -3.5, resolutionM: 0.05 },
      ...{ image: new Uint8Array([0x89, 0x50]), localisation: new Uint8Array([0, 255]) },
    });
    expect(made).toEqual({ id: 12, uid: 'u7' });
    expect(seen[0]?.body).toEqual({
      ...{ map_name: 'Erdgeschoss', uid: 'u7', map_version: 3, overlays_version: 4, overlays: map.overlays },
      ...{ grid_origin_x: -3, grid_origin_y: -3.5, grid_resolution: 0.05 },
      ...{ occupancy_grid: 'iVA=', carto_map: 'AP8=' },
    });
  });

  it('reports unknown acceptance when the connection is lost during the order, and sends it once', async () => {
    let writes = 0;
    await using peer = await rawPeer((socket) => {
      socket.on('data', (data) => {
        if (data.includes('GET /device/info')) socket.write(httpAnswer(JSON.stringify(deviceInfo())));
        else {
          writes += 1;
          socket.destroy();
        }
      });
    });
    await using client = clientOf(peer, { expectedSerial: 'SN-1' });
    const error = await failureOf(mapWritesOf(client).patchOverlays('7', '{}'));
    expect(error).toMatchObject({ code: 'CHASSIS_NOT_CONNECTED', details: { orderAccepted: 'unknown' } });
    expect(writes).toBe(1);
  });
});
