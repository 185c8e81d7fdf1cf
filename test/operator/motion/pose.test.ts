import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { GwError } from '../../../src/lib/error/index.ts';
import { runs } from '../../properties.ts';
import { ask, postJson, signIn } from '../server.ts';
import { sharedServer } from '../shared-server.ts';

const pose = { xM: 1.5, yM: -2, yawDeg: 90 };

const server = await sharedServer({ password: true });
const cookie = await signIn(server.full);
const send = (body: unknown, cookie?: string) =>
  postJson(server.full, '/api/pose', body, cookie === undefined ? {} : { cookie });

async function sendForm(fields: Record<string, string>, cookie: string) {
  const headers = { 'content-type': 'application/x-www-form-urlencoded', cookie, 'accept-language': 'de' };
  return ask(server.full, '/api/pose', { method: 'POST', body: `${new URLSearchParams(fields)}`, headers });
}

describe('setting the pose of the robot', () => {
  it('sends one order with the values of a signed-in person, in degrees', async () => {
    const { status, data } = await send(pose, cookie);
    expect([status, data.outcome.state]).toEqual([200, 'succeeded']);
    const chosen = {
      value: { ...pose, map: { uid: 'u7', version: 3, title: 'EG' } },
      mark: 'CHOSEN',
      source: 'signed-in person, 127.0.0.1',
    };
    expect(server.motion.calls).toEqual([`execute ${JSON.stringify({ kind: 'pose', pose: chosen })}`]);
  });

  it('keeps the map in which a place of a site file was measured', async () => {
    const map = { uid: 'u9', version: null, title: 'OG' };
    expect((await send({ ...pose, map }, cookie)).status).toBe(200);
    expect(server.motion.calls).toEqual([expect.stringContaining(JSON.stringify({ ...pose, map }).slice(0, -1))]);
  });

  it.each([361, 9007199254740992, -400])('refuses a heading of %d°', async (yawDeg) => {
    expect((await send({ ...pose, yawDeg }, cookie)).status).toBe(400);
    expect(server.motion.calls).toEqual([]);
  });

  it('orders nothing without a session, nor on the read-only socket', async () => {
    expect((await send(pose)).status).toBe(401);
    expect((await postJson(server.readOnly, '/api/pose', pose)).status).toBe(403);
    expect(server.motion.calls).toEqual([]);
  });

  it('passes on the refusal of the gate', async () => {
    server.motion.failNext = new GwError('MOTION_REFUSED', 'vendor.pose.request was not verified.');
    const { status, data } = await send(pose, cookie);
    const { code, message } = data.error;
    expect([status, code, message]).toEqual([409, 'MOTION_REFUSED', 'vendor.pose.request was not verified.']);
  });

  it('orders only a complete pose of numbers, whose range motion checks; everything else is 400', {
    tags: 'property',
  }, async () => {
    const number = fc.oneof(fc.double({ noNaN: false }), fc.string(), fc.constant(null), fc.constant([90]));
    const body = fc.record({ xM: number, yM: number, yawDeg: number, extra: fc.anything() }, { requiredKeys: [] });
    await fc.assert(
      fc.asyncProperty(body, async (wish) => {
        const before = server.motion.calls.length;
        const { status } = await send(wish, cookie);
        const { xM, yM, yawDeg, ...more } = JSON.parse(JSON.stringify(wish)) as Record<string, unknown>;
        const isPose = [xM, yM, yawDeg].every(Number.isFinite) && Object.keys(more).length === 0;
        expect(status).toBe(isPose ? 200 : 400);
        expect(server.motion.calls.length - before).toBe(isPose ? 1 : 0);
      }),
      { numRuns: runs(60) },
    );
  });

  it('refuses what a page orders by an outdated state, and accepts it by the present one', async () => {
    const page = (await ask(server.full, '/service', { headers: { cookie } })).data as string;
    const seen = /"state":\{"id":"([^"]+)"/.exec(page)?.[1];
    expect((await send({ ...pose, seen }, cookie)).status).toBe(200);
    server.clock.advance(2_500);
    const { status, data } = await send({ ...pose, seen }, cookie);
    expect([status, data.error.code, server.motion.calls.length]).toEqual([409, 'STATE_OUTDATED', 1]);
  });

  it('accepts the form of a page without script, and answers with a page', async () => {
    const { status, data } = await sendForm({ xM: '1,5', yM: ' -2', yawDeg: '90.0' }, cookie);
    expect([status, server.motion.calls[0]]).toEqual([200, expect.stringContaining(JSON.stringify(pose).slice(0, -1))]);
    expect(data).toContain('Position gesetzt');
    const form = await ask(server.full, '/service?setzen=position', { headers: { cookie } });
    expect(form.data).toContain('action="/api/pose"');
    // Without a session it is the technician page, which asks for one.
    expect((await ask(server.full, '/service?setzen=position')).data).not.toContain('action="/api/pose"');
    server.motion.failNext = new GwError('MOTION_REFUSED', 'vendor.pose.request was not verified.');
    const refused = await sendForm({ xM: '1', yM: '2', yawDeg: '3' }, cookie);
    expect([refused.status, refused.data]).toEqual([409, expect.stringContaining('Nicht ausgeführt')]);
  });

  it('says of a pose that the robot has not reported back that it is not set', async () => {
    server.motion.execute = async () => ({
      ...{ moveId: null, failReason: null, failReasonText: null, arrival: null, tookMs: 3_000 },
      state: 'failed',
      reason: 'The chassis accepted the pose, but reports another one.',
    });
    const { status, data } = await sendForm({ xM: '1', yM: '2', yawDeg: '3' }, cookie);
    expect([status, data]).toEqual([200, expect.stringContaining('Nicht gesetzt')]);
    expect(data).toContain('lang="en" class="technical">The chassis accepted the pose, but reports another one.');
    expect(data).not.toContain('Position gesetzt');
  });

  it('orders from a form only numbers as a person writes them', { tags: 'property' }, async () => {
    const text = fc.oneof(
      fc.double({ min: -400, max: 400, noNaN: true }).map((value) => value.toFixed(3)),
      fc.double({ min: -1e6, max: 1e6, noNaN: true }).map((value) => value.toFixed(3)),
      fc.string({ maxLength: 12 }),
      fc.constantFrom('', ' ', '1e3', '0x10', 'NaN', 'Infinity', '1,5', '1.', '--1', '9'.repeat(50)),
    );
    const fields = fc.record({ xM: text, yM: text, yawDeg: text }, { requiredKeys: ['xM', 'yM'] });
    await fc.assert(
      fc.asyncProperty(fields, async (wish) => {
        const before = server.motion.calls.length;
        const { status } = await sendForm(wish, cookie);
        const isNumber = (one = '') => /^\s*[+-]?\d{1,9}([.,]\d{0,20})?\s*$/.test(one);
        const isHeading = Math.abs(Number(wish.yawDeg?.replace(',', '.'))) <= 360;
        const isPose = [wish.xM, wish.yM, wish.yawDeg].every(isNumber) && isHeading;
        expect(status).toBe(isPose ? 200 : 400);
        expect(server.motion.calls.length - before).toBe(isPose ? 1 : 0);
      }),
      { numRuns: runs(60) },
    );
  });
});
