import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { faultNames, type Sim, startSim } from '../../../src/lib/sim/index.ts';
import { runs } from '../../properties.ts';
import { call, exchange, listen, pongOf } from '../raw-client.ts';

// The simulator survives any input: an exception in it would fail the whole test run.

let sim: Sim;
beforeAll(async () => {
  sim = await startSim();
});
afterAll(async () => {
  await sim[Symbol.asyncDispose]();
});

async function isWell(): Promise<void> {
  expect((await call(sim, 'GET', '/device/info')).status).toBe(200);
}

const bytes = fc.uint8Array({ maxLength: 300 }).map((array) => Buffer.from(array));
const paths = [
  '/chassis/moves',
  '/chassis/moves/current',
  '/chassis/pose',
  '/chassis/current-map',
  '/maps/1',
  '/maps',
  '/services/wheel_control/set_control_mode',
  '/services/wheel_control/set_emergency_stop',
];
const keys = [
  'type',
  'target_x',
  'target_y',
  'target_ori',
  'creator',
  'position',
  'ori',
  'state',
  'map_id',
  'overlays',
];
const keyed = fc.dictionary(fc.constantFrom(...keys, '__proto__', 'occupancy_grid', 'map_name'), fc.jsonValue());

describe('any input', () => {
  it('as bytes on the port: the simulator answers or closes, and still works', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(
          bytes,
          bytes.map((tail) => Buffer.concat([Buffer.from('GET /maps/'), tail])),
        ),
        async (sent) => {
          await exchange(sim, sent, 15);
        },
      ),
      { numRuns: runs(60) },
    );
    await isWell();
  });

  it('as a body: the answer is 2xx or 4xx, never 5xx', async () => {
    const method = fc.constantFrom('POST', 'PATCH');
    const body = fc.oneof(
      bytes,
      keyed.map((value) => JSON.stringify(value)),
      fc.json(),
    );
    await fc.assert(
      fc.asyncProperty(method, fc.constantFrom(...paths), body, async (verb, path, sent) => {
        const { status } = await call(sim, verb, path, sent, { raw: true });
        expect(status).toBeGreaterThanOrEqual(200);
        expect(status).toBeLessThan(500);
      }),
      { numRuns: runs(200) },
    );
    await isWell();
  });

  it('as a path: 200 or an error status', async () => {
    const path = fc.oneof(fc.webPath(), fc.string().map(encodeURI)).map((text) => `/${text}`);
    await fc.assert(
      fc.asyncProperty(path, async (sent) => {
        const { status } = await call(sim, 'GET', sent);
        expect([200, 400, 404, 405]).toContain(status);
      }),
      { numRuns: runs(100) },
    );
  });

  it('as a topic message: the connection stays open', async () => {
    await using listener = await listen(sim);
    const topic = fc.constantFrom('/tracked_pose', '/alerts', '/nothing', '__proto__', 'constructor');
    const request = fc.record(
      {
        enable_topic: fc.oneof(topic, fc.array(topic), fc.jsonValue()),
        disable_topic: fc.oneof(topic, fc.jsonValue()),
      },
      { requiredKeys: [] },
    );
    const message = fc.oneof(
      fc.string(),
      fc.json(),
      request.map((value) => JSON.stringify(value)),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(message, { maxLength: 5 }), async (messages) => {
        for (const text of messages) listener.ws.send(text);
      }),
      { numRuns: runs(200) },
    );
    expect(await pongOf(listener)).toBe(true);
    await isWell();
  });

  it('as frames on a topic connection: only that connection may end', async () => {
    await using bystander = await listen(sim);
    const handshake =
      'GET /ws/v2/topics HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n' +
      'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n';
    await fc.assert(
      fc.asyncProperty(bytes, async (frames) => {
        const answer = await exchange(sim, Buffer.concat([Buffer.from(handshake), frames]), 15, 3000);
        expect(answer.toString('latin1')).toMatch(/^HTTP\/1\.1 101 /);
      }),
      { numRuns: runs(60) },
    );
    expect(await pongOf(bystander)).toBe(true);
    await isWell();
  });

  it('is refused when it is nested too deeply', async () => {
    const deep = `${'[1,'.repeat(50_000)}1${']'.repeat(50_000)}`;
    expect((await call(sim, 'POST', '/chassis/moves', deep, { raw: true })).status).toBe(400);
    const overlays = `{"features":${'['.repeat(9000)}${']'.repeat(9000)}}`;
    expect((await call(sim, 'PATCH', '/maps/1', { overlays })).status).toBe(400);
    await isWell();
  });

  it('as an occupancy grid: a picture, or 400', async () => {
    const claimsToBeLarge = Buffer.concat([
      Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13]),
      Buffer.from('IHDR'),
      Buffer.from([0x7f, 0xff, 0xff, 0xff, 0x7f, 0xff, 0xff, 0xff, 8, 0, 0, 0, 0, 0, 0, 0, 0]),
    ]);
    const map = { map_name: 'x', grid_resolution: 0.05, grid_origin_x: 0, grid_origin_y: 0 };
    for (const grid of [claimsToBeLarge, Buffer.from('no picture'), Buffer.alloc(0)]) {
      const body = { ...map, occupancy_grid: grid.toString('base64') };
      expect((await call(sim, 'POST', '/maps/', body)).status).toBe(400);
    }
  });

  it('in any order with any faults: once they are off, the simulator works', async () => {
    await using other = await startSim();
    const step = fc.tuple(fc.constantFrom(...faultNames), fc.boolean());
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
        for (const [name, on] of steps) {
          other.setFault(name, on);
          void call(other, 'GET', '/maps/1', undefined, { timeoutMs: 20 }).catch(() => {});
        }
        await new Promise((resolve) => setTimeout(resolve, 30));
        for (const name of faultNames) other.setFault(name, false);
        await other.settled();
        expect((await call(other, 'GET', '/device/info')).status).toBe(200);
      }),
      { numRuns: runs(25) },
    );
  });
});
