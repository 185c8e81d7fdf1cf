import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { faultNames } from '../../../src/lib/sim/index.ts';
import { shared } from '../../lifecycle/shared.ts';
import { runs } from '../../properties.ts';
import { call, exchange, listen, startWorld } from '../raw-client.ts';

// The simulator survives any input: an exception in it would fail the whole test run.

const w = shared(await startWorld());

async function isWell(): Promise<void> {
  expect((await w.info()).status).toBe(200);
}
const raw = (method: string, path: string, body?: string | Buffer) => call(w.sim, method, path, body, { raw: true });

const bytes = fc.uint8Array({ maxLength: 300 }).map((array) => Buffer.from(array));
const paths = `/chassis/moves /chassis/moves/current /chassis/pose /chassis/current-map /maps/1 /maps
  /services/wheel_control/set_control_mode /services/wheel_control/set_emergency_stop`.split(/\s+/);
const keys = `type target_x target_y target_ori creator position ori state map_id overlays __proto__ occupancy_grid
  map_name`.split(/\s+/);
const body = fc.oneof(
  bytes,
  fc.dictionary(fc.constantFrom(...keys), fc.jsonValue()).map((value) => JSON.stringify(value)),
  fc.json(),
);

describe('any input', () => {
  it('as bytes on the port: the simulator answers or closes, and still works', { tags: 'property' }, async () => {
    const sent = fc.oneof(
      bytes,
      bytes.map((tail) => Buffer.concat([Buffer.from('GET /maps/'), tail])),
    );
    await fc.assert(
      fc.asyncProperty(sent, async (input) => void (await exchange(w.sim, input))),
      { numRuns: runs(60) },
    );
    await isWell();
  });

  it('as a body: the answer is 2xx or 4xx, never 5xx', { tags: 'property' }, async () => {
    await fc.assert(
      fc.asyncProperty(fc.constantFrom('POST', 'PATCH'), fc.constantFrom(...paths), body, async (verb, path, sent) => {
        const { status } = await raw(verb, path, sent);
        expect(status).toBeGreaterThanOrEqual(200);
        expect(status).toBeLessThan(500);
      }),
      { numRuns: runs(200) },
    );
    await isWell();
  });

  it('as a topic message: the connection stays open', { tags: 'property' }, async () => {
    await using listener = await listen(w.sim);
    const topic = fc.constantFrom('/tracked_pose', '/alerts', '/nothing', '__proto__', 'constructor');
    const any = {
      enable_topic: fc.oneof(topic, fc.array(topic), fc.jsonValue()),
      disable_topic: fc.oneof(topic, fc.jsonValue()),
    };
    const request = fc.record(any, { requiredKeys: [] }).map((value) => JSON.stringify(value));
    await fc.assert(
      fc.asyncProperty(fc.array(fc.oneof(fc.string(), fc.json(), request), { maxLength: 5 }), async (messages) => {
        for (const text of messages) listener.ws.send(text);
      }),
      { numRuns: runs(200) },
    );
    expect(await listener.pong('open')).toBe('open');
    await isWell();
  });

  it('as frames on a topic connection: only that connection may end', { tags: 'property' }, async () => {
    const handshake =
      'GET /ws/v2/topics HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n' +
      'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n';
    await fc.assert(
      fc.asyncProperty(bytes, async (frames) => {
        const answer = await exchange(w.sim, Buffer.concat([Buffer.from(handshake), frames]));
        expect(answer.toString('latin1')).toMatch(/^HTTP\/1\.1 101 /);
      }),
      { numRuns: runs(60) },
    );
    expect(await w.listener.pong('open')).toBe('open');
    await isWell();
  });

  it('is refused when it is nested too deeply', async () => {
    const deep = `${'[1,'.repeat(50_000)}1${']'.repeat(50_000)}`;
    expect((await raw('POST', '/chassis/moves', deep)).status).toBe(400);
    const overlays = `{"features":${'['.repeat(9000)}${']'.repeat(9000)}}`;
    expect((await w.patch('/maps/1', { overlays })).status).toBe(400);
    await isWell();
  });

  it('as an occupancy grid that is no picture, or claims to be a large one, is refused', async () => {
    const claimsToBeLarge = Buffer.concat([
      Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13]),
      Buffer.from('IHDR'),
      Buffer.from([0x7f, 0xff, 0xff, 0xff, 0x7f, 0xff, 0xff, 0xff, 8, 0, 0, 0, 0, 0, 0, 0, 0]),
    ]);
    const map = { map_name: 'x', grid_resolution: 0.05, grid_origin_x: 0, grid_origin_y: 0 };
    for (const grid of [claimsToBeLarge, Buffer.from('no picture'), Buffer.alloc(0)]) {
      expect((await w.post('/maps/', { ...map, occupancy_grid: grid.toString('base64') })).status).toBe(400);
    }
  });

  it('in any order with any faults: once they are off, the simulator works', { tags: 'property' }, async () => {
    await using other = await startWorld();
    const quiet = faultNames.filter((name) => name !== 'huge');
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.constantFrom(...quiet), fc.boolean()), { maxLength: 12 }),
        async (steps) => {
          const asked = steps.map(([name, on]) => {
            other.sim.setFault(name, on);
            return other.get('/maps/1').catch(() => {});
          });
          await other.seconds(0.5);
          for (const name of faultNames) other.sim.setFault(name, false);
          await other.sim.settled();
          await other.during(Promise.all(asked));
          expect((await other.info()).status).toBe(200);
        },
      ),
      { numRuns: runs(25) },
    );
  });
});
