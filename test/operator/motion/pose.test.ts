import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { GwError } from '../../../src/lib/error/index.ts';
import { ask, postJson, signIn, startServer, type TestServer } from '../server.ts';

const pose = { xM: 1.5, yM: -2, yawDeg: 90 };

async function send(server: TestServer, body: unknown, cookie?: string) {
  return ask(server.full, '/api/pose', {
    method: 'POST',
    body: JSON.stringify(body),
    headers: { 'content-type': 'application/json', ...(cookie !== undefined && { cookie }) },
  });
}

describe('setting the pose of the robot', () => {
  it('sends one order with the values of a signed-in person, in degrees', async () => {
    await using server = await startServer({ password: true });
    const { status, data } = await send(server, pose, await signIn(server.full));
    expect([status, data.outcome.state]).toEqual([200, 'succeeded']);
    expect(server.motion.calls).toEqual([
      `execute ${JSON.stringify({
        kind: 'pose',
        pose: { value: pose, mark: 'CHOSEN', source: 'signed-in person, 127.0.0.1' },
      })}`,
    ]);
  });

  it('orders nothing without a session, nor on the read-only socket', async () => {
    await using server = await startServer({ password: true });
    expect((await send(server, pose)).status).toBe(401);
    expect((await postJson(server.readOnly, '/api/pose', pose)).status).toBe(403);
    expect(server.motion.calls).toEqual([]);
  });

  it('passes on the refusal of the gate', async () => {
    await using server = await startServer({ password: true });
    server.motion.failNext = new GwError('MOTION_REFUSED', 'vendor.pose.request was not verified.');
    const { status, data } = await send(server, pose, await signIn(server.full));
    expect([status, data.error.code, data.error.message]).toEqual([
      409,
      'MOTION_REFUSED',
      'vendor.pose.request was not verified.',
    ]);
  });

  it('orders only a complete pose of numbers, whose range motion checks; everything else is 400', async () => {
    await using server = await startServer({ password: true });
    const cookie = await signIn(server.full);
    const number = fc.oneof(fc.double({ noNaN: false }), fc.string(), fc.constant(null), fc.constant([90]));
    const body = fc.record({ xM: number, yM: number, yawDeg: number, extra: fc.anything() }, { requiredKeys: [] });
    await fc.assert(
      fc.asyncProperty(body, async (wish) => {
        const before = server.motion.calls.length;
        const { status } = await send(server, wish, cookie);
        const { xM, yM, yawDeg, ...more } = JSON.parse(JSON.stringify(wish)) as Record<string, unknown>;
        const isPose = [xM, yM, yawDeg].every(Number.isFinite) && Object.keys(more).length === 0;
        expect(status).toBe(isPose ? 200 : 400);
        expect(server.motion.calls.length - before).toBe(isPose ? 1 : 0);
      }),
      { numRuns: 60 },
    );
  });
});
