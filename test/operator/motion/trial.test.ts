import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runs } from '../../properties.ts';
import { ask, postJson, signIn } from '../server.ts';
import { sharedServer } from '../shared-server.ts';

const conditions = { robotWillMove: true, spaceFree: true, emergencyStopInHand: true };
const wish = { kind: 'stop', who: 'J. Doe', conditions };
const routes = [
  ['GET', '/api/versuch'],
  ['POST', '/api/versuch'],
  ['DELETE', '/api/versuch'],
  ['POST', '/api/versuch/lebenszeichen'],
  ['POST', '/api/evidenz/uebernahme'],
] as const;

const server = await sharedServer({ password: true });
const cookie = await signIn(server.full);

async function send(method: string, path: string, body?: unknown) {
  return ask(server.full, path, {
    method,
    headers: { cookie, ...(body !== undefined && { 'content-type': 'application/json' }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
}

describe('a trial over HTTP', () => {
  it.each(routes)('%s %s requires a signed-in person, and is not on the read-only socket', async (method, path) => {
    expect((await ask(server.full, path, { method })).status).toBe(401);
    expect((await ask(server.readOnly, path, { method })).status).toBe(403);
    expect(server.motion.calls).toEqual([]);
  });

  it('is started, kept alive by its id only, read and cancelled', async () => {
    const started = await send('POST', '/api/versuch', wish);
    expect(started).toMatchObject({ status: 202, data: { trial: { kind: 'stop', state: 'running' } } });
    const alive = (id: string) => send('POST', '/api/versuch/lebenszeichen', { id });
    expect((await alive('t1')).status).toBe(200);
    expect(await alive('other')).toMatchObject({ status: 404, data: { error: { code: 'NOT_FOUND' } } });
    expect((await send('GET', '/api/versuch')).data.trial.id).toBe('t1');
    const ended = await send('DELETE', '/api/versuch');
    expect(ended.data.trial).toMatchObject({ state: 'ended', reason: 'cancelled by 127.0.0.1' });
    expect(server.motion.calls[0]).toBe(`trial stop J. Doe ${JSON.stringify(conditions)}`);
  });

  it('starts with a complete request only: everything else is 400', { tags: 'property' }, async () => {
    const value = fc.oneof(fc.boolean(), fc.string(), fc.constant(null), fc.double(), fc.constant([]));
    const body = fc.oneof(
      fc.anything(),
      fc.record({ kind: value, who: value, conditions: fc.oneof(value, fc.dictionary(fc.string(), value)) }),
      fc
        .dictionary(fc.string(), value)
        .map((more) => ({ ...wish, conditions: { ...conditions, ...more, extra: true } })),
      value.map((unattended) => ({ ...wish, conditions: { ...conditions, unattended } })),
    );
    await fc.assert(
      fc.asyncProperty(body, async (sent) => {
        expect((await send('POST', '/api/versuch', sent ?? null)).status).toBe(400);
      }),
      { numRuns: runs(60) },
    );
    expect(server.motion.calls).toEqual([]);
  });

  it('evidence is adopted by a signed-in person', async () => {
    expect((await postJson(server.full, '/api/evidenz/uebernahme', {})).status).toBe(401);
    const { status, data } = await send('POST', '/api/evidenz/uebernahme', {});
    expect([status, data]).toEqual([200, { records: 1, adopted: ['vendor.move.request'], revoked: [] }]);
  });
});
