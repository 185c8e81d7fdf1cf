import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { refuseOtherRobot } from '../../../src/lib/operator/http/other-robot.ts';
import { routes } from '../../../src/lib/operator/routes.ts';
import { ask, signIn, startServer, type TestServer } from '../server.ts';
import { SERIAL } from '../stand-ins.ts';

const OTHER = 'OTHER-0002';
/** Stops, ends, or takes access away. */
const ends = 'DELETE /api/touren/lauf|POST /api/touren/lauf/pause|DELETE /api/fahrt|POST /api/fahrt/ende';
const away =
  'POST /api/lieferung/ansage/ende|DELETE /api/versuch|DELETE /api/wartung/sitzung|POST /api/wartung/sitzung/ende|DELETE /api/anmeldung';
const forAny = `POST /api/stopp|${ends}|${away}`.split('|');

describe('a request that is meant for another robot', () => {
  let server: TestServer;
  let cookie: string;
  beforeAll(async () => {
    server = await startServer({ password: true });
    cookie = await signIn(server.full);
  });
  afterAll(() => server[Symbol.asyncDispose]());

  const orders = [
    ['POST', '/api/touren/lauf', { tour: 'breakfast' }],
    ['POST', '/api/touren/lauf/weiter', { tour: 'breakfast' }],
    ['POST', '/api/fahrt', { station: 'A' }],
    ['POST', '/api/fahrt', { dock: true }],
    ['POST', '/api/lieferung/weiter', { arrival: 'd1', next: 'q1' }],
    ['POST', '/api/lieferung/warteschlange', { station: 'A' }],
    ['POST', '/api/lieferung/automatik', {}],
    ['POST', '/api/pose', { xM: 0, yM: 0, yawDeg: 0 }],
    ['POST', '/api/versuch', { kind: 'stop', who: 'J. Doe', conditions: { unattended: true } }],
    ['DELETE', '/api/stopp', undefined],
    ['POST', '/api/evidenz/uebernahme', {}],
  ] as const;

  it.each(orders)('is refused with both serials, and orders nothing: %s %s %j', async (method, path, body) => {
    const before = server.motion.calls.length;
    const headers = { 'content-type': 'application/json', cookie, 'gw-robot': OTHER };
    const init = { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) };
    const { status, data } = await ask(server.full, path, init);
    expect([status, data.error.code]).toEqual([409, 'GATEWAY_OTHER_ROBOT']);
    expect(data.error.message).toContain(SERIAL);
    expect(data.error.message).toContain(OTHER);
    expect(server.motion.calls.slice(before)).toEqual([]);
    const own = { ...init, headers: { ...headers, 'gw-robot': SERIAL } };
    expect((await ask(server.full, path, own)).data.error?.code).not.toBe('GATEWAY_OTHER_ROBOT');
  });

  it('is never refused where it stops, ends or takes access away; every other change is', () => {
    const any = routes.filter((row) => row.method !== 'GET' && refuseOtherRobot(OTHER, SERIAL, row) === null);
    expect(any.map(({ method, path }) => `${method} ${path}`).toSorted()).toEqual(forAny.toSorted());
    for (const row of routes) {
      expect(refuseOtherRobot(undefined, SERIAL, row)).toBeNull();
      expect(refuseOtherRobot(SERIAL, SERIAL, row)).toBeNull();
    }
  });

  it('is an order to the commands that know this table, or changes nothing that the robot moves by', () => {
    const others = routes.filter(({ method, forAnyRobot, isOrder }) => method !== 'GET' && !forAnyRobot && !isOrder);
    const access = /^\/api\/(anmeldung|abmeldung)(\/alle)?$/;
    const left = others.filter(({ path }) => !path.endsWith('/lebenszeichen') && !access.test(path));
    expect(left.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'POST /api/cloud/pruefung',
      'POST /api/protokolle/stufe',
      'POST /api/fahrt/gesehen',
      'POST /api/lieferung/warteschlange/entfernen',
      'POST /api/lieferung/ansage',
      'POST /api/medien',
      'DELETE /api/medien/:name',
      'POST /api/medien/:name/loeschen',
    ]);
  });

  it('is recognised by the commands without a look at a variable part of its path', () => {
    const special = routes.filter(
      ({ isOrder, forAnyRobot, answersWithinMs }) => isOrder ?? forAnyRobot ?? answersWithinMs,
    );
    expect(special.filter(({ path }) => path.includes(':'))).toEqual([]);
  });

  it('stops, and the answer names the robot that was stopped', async () => {
    const init = { method: 'POST', headers: { 'gw-robot': OTHER } };
    const { status, data } = await ask(server.full, '/api/stopp', init);
    expect([status, data.robot]).toEqual([200, SERIAL]);
  });

  it('has the robot of this gateway in every answer, also in a refusal and on the read-only socket', async () => {
    for (const port of [server.full, server.readOnly]) {
      for (const path of ['/', '/api/health', '/api/einstellungen', '/nothing']) {
        const reply = await fetch(`http://127.0.0.1:${port}${path}`);
        expect([path, reply.headers.get('gw-robot')]).toEqual([path, SERIAL]);
        await reply.body?.cancel();
      }
    }
  });
});
