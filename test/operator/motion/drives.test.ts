import { describe, expect, it } from 'vitest';
import { GwError } from '../../../src/lib/error/index.ts';
import { ask, get, postJson, sendRaw, signIn } from '../server.ts';
import { sharedServer } from '../shared-server.ts';

const TOUR = '/api/touren/lauf';
const DRIVE = '/api/fahrt';
const toA = { station: 'A' };
const breakfast = { tour: 'breakfast' };
const calls = { toA: 'startDrive {"station":"A"}', toDock: 'startDrive {"dock":true}' } as const;

/** Without a password everybody may start; with `tourNeedsSignIn` nobody without a session. */
const server = await sharedServer({ password: true });
const strict = await sharedServer({ password: true, tourNeedsSignIn: true });
const cookie = await signIn(server.full);
const strictCookie = await signIn(strict.full);

const start = (path: string, body: unknown, headers?: Record<string, string>) =>
  postJson(server.full, path, body, headers);
const refused = async (...of: Parameters<typeof start>) => {
  const { status, data } = await start(...of);
  return [status, data.error.code];
};
const form = (path: string, fields: Record<string, string>, headers: Record<string, string> = {}) =>
  ask(server.full, path, { method: 'POST', headers, body: new URLSearchParams(fields) });
const page = async (path: string, headers: Record<string, string> = {}, { full } = server) =>
  (await ask(full, path, { headers })).data as string;

describe(`POST ${DRIVE}`, () => {
  it('starts a drive to a station or to the dock, and shows it at GET', async () => {
    expect((await ask(server.full, DRIVE)).data).toEqual({ run: null });
    const { status, data } = await start(DRIVE, toA);
    expect([status, data.run]).toEqual([202, expect.objectContaining({ station: 'A', state: 'running' })]);
    expect((await ask(server.full, DRIVE)).data.run.id).toBe(data.run.id);
    expect((await start(DRIVE, { dock: true })).data.run.kind).toBe('dock');
    expect(server.motion.calls).toEqual([calls.toA, calls.toDock]);
  });

  it('orders nothing for a request without exactly one place', async () => {
    const bodies = [{}, [], null, 'A', { station: '' }, { station: 1 }, { dock: false }, { ...toA, dock: true }];
    for (const body of bodies) expect((await start(DRIVE, body)).status).toBe(400);
    expect((await postJson(server.readOnly, DRIVE, toA)).status).toBe(403);
    expect(server.motion.calls).toEqual([]);
  });

  it.each([
    ['STATION_UNKNOWN', 404],
    ['MOTION_STOPPED', 423],
    ['CHASSIS_NOT_CONNECTED', 503],
    ['TOUR_RUNNING', 409],
    ['MOTION_REFUSED', 409],
  ] as const)('answers %s with %i', async (code, expected) => {
    server.motion.failNext = new GwError(code, 'as motion says');
    const { status, data } = await start(DRIVE, toA);
    expect([status, data.error.code, data.error.message]).toEqual([expected, code, 'as motion says']);
  });
});

describe.each([
  [TOUR, { tour: 'demo' }, 'startTour demo'],
  [DRIVE, toA, calls.toA],
] as const)('a run of %s that its client supervises', (path, order, call) => {
  it('is kept by its id, without sign-in', async () => {
    const { status, data } = await start(path, { ...order, keepAlive: true });
    const { id } = data.run;
    expect(status).toBe(202);
    for (const [body, expected] of [
      [{ id }, 200],
      [{ id: 'another' }, 404],
      [{}, 400],
    ] as const)
      expect((await start(`${path}/lebenszeichen`, body)).status).toBe(expected);
    expect((await postJson(server.readOnly, `${path}/lebenszeichen`, { id })).status).toBe(403);
    expect((await start(path, { ...order, keepAlive: 'yes' })).status).toBe(400);
    expect(server.motion.calls).toEqual([`${call} supervised`, `keepAlive ${id}`, 'keepAlive another']);
  });
});

describe.each([
  [TOUR, 'endTour'],
  [DRIVE, 'endDrive'],
] as const)('DELETE %s', (path, call) => {
  it('ends the current run without a session, by its id where one is given', async () => {
    const init = { method: 'DELETE', headers: { 'content-type': 'application/json' }, body: '{"id":"r7"}' };
    expect((await ask(strict.full, path, init)).status).toBe(200);
    expect((await ask(strict.full, path, { method: 'DELETE' })).status).toBe(200);
    const by = `${call} operator surface, 127.0.0.1`;
    expect(strict.motion.calls).toEqual([`${by} r7`, `${by} undefined`]);
  });

  it('is accepted in every form of request, and latches nothing', async () => {
    for (const [type, body] of [
      ['application/json', '{"id":'],
      ['text/plain', 'stop'],
      ['nonsense', '\u0000'],
    ]) {
      const headers = [`Content-Type: ${type}`, `Content-Length: ${body?.length}`];
      const lines = [`DELETE ${path} HTTP/1.1`, 'Host: localhost', 'Connection: close', ...headers];
      expect((await sendRaw(server.full, `${lines.join('\r\n')}\r\n\r\n${body}`)).status, type).toBe(200);
    }
    expect((await get(server.readOnly, path, 'DELETE')).status).toBe(403);
    expect(server.motion.calls).toHaveLength(3);
    expect(server.motion.status().stop.latched).toBe(false);
  });
});

describe('alerts that a person passes', () => {
  const starts = [
    [TOUR, breakfast, 'startTour breakfast'],
    [DRIVE, toA, calls.toA],
    [DRIVE, { dock: true }, calls.toDock],
  ] as const;

  it.each(starts)('by their numbers need sign-in, at %s %j', async (path, order, call) => {
    const passing = { ...order, although: [8004, 1012] };
    expect(await refused(path, passing)).toEqual([401, 'NOT_SIGNED_IN']);
    expect(server.motion.calls).toEqual([]);
    expect((await start(path, passing, { cookie })).status).toBe(202);
    expect(server.motion.calls).toEqual([`${call} although 8004,1012`]);
  });

  it.each(['yes', '8004 and more', '', true, [1.5], ['8004'], Array.from({ length: 17 }, () => 1)])(
    'are never %j',
    async (although) => {
      for (const [path, order] of starts) {
        expect((await start(path, { ...order, although }, { cookie })).status).toBe(400);
      }
      expect(server.motion.calls).toEqual([]);
    },
  );

  it('are entered by their numbers in a form of a signed-in person, shown only while they alone close the gate', async () => {
    server.motion.set({ gate: { open: false, reasons: ['alert'], passableAlerts: [8004] } });
    const asked = '/?ziel=tour:breakfast';
    expect(await page(asked)).not.toContain('name="although"');
    expect(await page(asked, { cookie })).toMatch(/<input name="although"[^>]* required/);
    const passing = (although: string) => form(TOUR, { ...breakfast, although }, { cookie });
    expect((await passing('')).status).toBe(400);
    expect(server.motion.calls).toEqual([]);
    expect((await passing('8004, 1012')).status).toBe(303);
    expect(server.motion.calls).toEqual(['startTour breakfast although 8004,1012']);
    server.motion.set({ gate: { open: true, reasons: [] } });
    expect(await page(asked, { cookie })).not.toContain('name="although"');
    expect((await ask(server.readOnly, asked)).data).not.toContain('name="although"');
  });
});

describe('operator.tourNeedsSignIn', () => {
  const starts = [
    [TOUR, breakfast],
    [DRIVE, toA],
  ] as const;

  it('restricts starting to signed-in persons; a malformed request is still malformed', async () => {
    for (const [path, body] of starts) {
      const { status, data } = await postJson(strict.full, path, body);
      expect([status, data.error.code]).toEqual([401, 'NOT_SIGNED_IN']);
      expect((await postJson(strict.full, path, {})).status).toBe(400);
    }
    expect(strict.motion.calls).toEqual([]);
    const signedIn = { cookie: strictCookie };
    for (const [path, body] of starts) expect((await postJson(strict.full, path, body, signedIn)).status).toBe(202);
  });

  it('never applies to a stop', async () => {
    expect((await postJson(strict.full, '/api/stopp', {})).status).toBe(200);
  });

  it('asks for a sign-in before a drive, and lets a signed-in person drive', async () => {
    const asked = '/?ziel=tour:breakfast';
    const go = /<button type="submit" class="go[^"]*"( disabled)?/;
    const before = await page(asked, {}, strict);
    expect(before).toContain('Fahren darf nur, wer angemeldet ist.');
    expect(go.exec(before)?.[1]).toBe(' disabled');
    const after = await page(asked, { cookie: strictCookie }, strict);
    expect(after).not.toContain('Fahren darf nur');
    expect(go.exec(after)?.[1]).toBeUndefined();
    const { status, data } = await ask(strict.full, TOUR, { method: 'POST', body: new URLSearchParams(breakfast) });
    expect([status, data]).toEqual([401, expect.stringContaining('href="/anmeldung">Anmelden</a>')]);
  });

  it('is off by default: starting a tour needs no session', async () => {
    expect((await start(TOUR, breakfast)).status).toBe(202);
    expect(await page('/')).not.toContain('Fahren darf nur');
  });
});

describe('a move that gw did not order', () => {
  it('is in the headline, in the question before a drive, and in the state for programs', async () => {
    const unownedMove = { moveId: 7_007, type: 'standard', isBeingCancelled: false };
    server.motion.set({ unownedMove, gate: { open: false, reasons: ['move 7007'] } });
    const shown = await page('/?ziel=tour:breakfast');
    expect(shown.match(/fremden Auftrag \(Nr\. 7007\)/g)?.length).toBeGreaterThan(1);
    expect(shown).toMatch(/class="go[^"]*" disabled/);
    expect((await ask(server.full, '/api/touren')).data.unownedMove).toEqual(unownedMove);
  });

  it('and a drive in progress is shown, and another one is not offered', async () => {
    await start(DRIVE, toA);
    const shown = await page('/?ziel=tour:breakfast');
    expect(shown).toContain('Fahrt zu A · seit');
    expect(shown).toMatch(/class="go[^"]*" disabled/);
  });
});

describe('a drive that failed', () => {
  const failed = { id: 'd1', kind: 'move', station: 'B', state: 'failed', outcome: null, reason: 'x' } as const;
  const level = async () => /class="headline" data-level="([^"]+)"/.exec(await page('/'))?.[1];
  const SEEN = '/api/fahrt/gesehen';

  it('is the headline until a person on site has seen it, without signing in', async () => {
    server.motion.set({ drive: failed });
    const text = await page('/');
    expect(text).toContain('<h1 aria-live="polite">Fahrt zu B gescheitert</h1>');
    expect(text).toContain('action="/api/fahrt/gesehen"');
    expect(await level()).toBe('attention');
    expect(await refused(SEEN, { id: 'd0' })).toEqual([404, 'NOT_FOUND']);
    expect(await refused(SEEN, {})).toEqual([400, 'BAD_REQUEST']);
    expect((await postJson(server.readOnly, SEEN, { id: 'd1' })).status).toBe(403);
    expect(await level()).toBe('attention');
    const far = await page('/', {}, { ...server, full: server.readOnly });
    expect([far.includes('Fahrt zu B gescheitert'), far.includes('gesehen')]).toEqual([true, false]);
    expect((await start(SEEN, { id: 'd1' })).data).toEqual({ seen: true, saved: true });
    expect(await level()).toBe('good');
    server.motion.set({ drive: { ...failed, id: 'd2' } });
    expect(await level()).toBe('attention');
    expect((await form(SEEN, { id: 'd2' })).status).toBe(303);
    expect(await level()).toBe('good');
  });

  it('is none where a person ended it', async () => {
    for (const [id, end] of [
      ['e1', () => ask(server.full, DRIVE, { method: 'DELETE' })],
      ['e2', () => form('/api/fahrt/ende', {})],
    ] as const) {
      server.motion.set({ drive: { ...failed, id, state: 'running' } });
      await end();
      server.motion.set({ drive: { ...failed, id, state: 'stopped' } });
      expect([id, await level()]).toEqual([id, 'good']);
    }
    server.motion.set({ drive: { ...failed, id: 'e3', state: 'stopped' } });
    expect(await level()).toBe('attention');
  });
});

describe('an order that names the state which a person saw', () => {
  const seen = async () => /"state":\{"id":"([^"]+)"/.exec(await page('/'))?.[1];

  it.each([
    [DRIVE, toA],
    [TOUR, breakfast],
  ])('%s is accepted for two seconds, then refused with words, and nothing is ordered', async (path, target) => {
    const old = await seen();
    server.clock.advance(2_001);
    for (const id of [old, 'another-1']) {
      expect(await refused(path, { ...target, seen: id })).toEqual([409, 'STATE_OUTDATED']);
    }
    expect(server.motion.calls).toEqual([]);
    expect((await start(path, { ...target, seen: await seen() })).status).toBe(202);
  });

  it('is ordered from a form without script, which names none', async () => {
    expect((await form(DRIVE, toA)).status).toBe(303);
    expect((await form('/api/fahrt/ende', {})).status).toBe(303);
  });
});
