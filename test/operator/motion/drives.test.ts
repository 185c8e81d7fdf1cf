import { describe, expect, it } from 'vitest';
import { GwError } from '../../../src/lib/error/index.ts';
import { ask, get, postJson, sendRaw, signIn, startServer } from '../server.ts';

describe('POST /api/fahrt', () => {
  it('starts a drive to a station or to the dock, and shows it at GET', async () => {
    await using server = await startServer();
    expect((await ask(server.full, '/api/fahrt')).data).toEqual({ run: null });
    const { status, data } = await postJson(server.full, '/api/fahrt', { station: 'A' });
    expect([status, data.run]).toEqual([202, expect.objectContaining({ station: 'A', state: 'running' })]);
    expect((await ask(server.full, '/api/fahrt')).data.run.id).toBe(data.run.id);
    expect((await postJson(server.full, '/api/fahrt', { dock: true })).data.run.kind).toBe('dock');
    expect(server.motion.calls).toEqual(['startDrive {"station":"A"}', 'startDrive {"dock":true}']);
  });

  it('orders nothing for a request without exactly one place', async () => {
    await using server = await startServer();
    const bodies = [{}, [], null, 'A', { station: '' }, { station: 1 }, { dock: false }, { station: 'A', dock: true }];
    for (const body of bodies) expect((await postJson(server.full, '/api/fahrt', body)).status).toBe(400);
    expect((await postJson(server.readOnly, '/api/fahrt', { station: 'A' })).status).toBe(403);
    expect(server.motion.calls).toEqual([]);
  });

  it.each([
    ['STATION_UNKNOWN', 404],
    ['MOTION_STOPPED', 423],
    ['CHASSIS_NOT_CONNECTED', 503],
    ['TOUR_RUNNING', 409],
    ['MOTION_REFUSED', 409],
  ] as const)('answers %s with %i', async (code, expected) => {
    await using server = await startServer();
    server.motion.failNext = new GwError(code, 'as motion says');
    const { status, data } = await postJson(server.full, '/api/fahrt', { station: 'A' });
    expect([status, data.error.code, data.error.message]).toEqual([expected, code, 'as motion says']);
  });
});

describe.each([
  ['/api/touren/lauf', { tour: 'demo' }, 'startTour demo'],
  ['/api/fahrt', { station: 'A' }, 'startDrive {"station":"A"}'],
] as const)('a run of %s that its client supervises', (path, order, call) => {
  it('is kept by its id, without sign-in', async () => {
    await using server = await startServer();
    const { status, data } = await postJson(server.full, path, { ...order, keepAlive: true });
    expect(status).toBe(202);
    expect((await postJson(server.full, `${path}/lebenszeichen`, { id: data.run.id })).status).toBe(200);
    expect((await postJson(server.full, `${path}/lebenszeichen`, { id: 'another' })).status).toBe(404);
    expect((await postJson(server.full, `${path}/lebenszeichen`, {})).status).toBe(400);
    expect((await postJson(server.readOnly, `${path}/lebenszeichen`, { id: data.run.id })).status).toBe(403);
    expect((await postJson(server.full, path, { ...order, keepAlive: 'yes' })).status).toBe(400);
    expect(server.motion.calls).toEqual([`${call} supervised`, `keepAlive ${data.run.id}`, 'keepAlive another']);
  });
});

describe.each([
  ['/api/touren/lauf', 'endTour'],
  ['/api/fahrt', 'endDrive'],
] as const)('DELETE %s', (path, call) => {
  it('ends the current run, by its id where one is given', async () => {
    await using server = await startServer({ password: true, tourNeedsSignIn: true });
    const init = { method: 'DELETE', headers: { 'content-type': 'application/json' }, body: '{"id":"r7"}' };
    expect((await ask(server.full, path, init)).status).toBe(200);
    expect((await ask(server.full, path, { method: 'DELETE' })).status).toBe(200);
    expect(server.motion.calls).toEqual([
      `${call} operator surface, 127.0.0.1 r7`,
      `${call} operator surface, 127.0.0.1 undefined`,
    ]);
  });

  it('is accepted in every form of request, and latches nothing', async () => {
    await using server = await startServer();
    for (const [type, body] of [
      ['application/json', '{"id":'],
      ['text/plain', 'stop'],
      ['nonsense', '\u0000'],
    ]) {
      const headers = [`Content-Type: ${type}`, `Content-Length: ${body?.length}`];
      const lines = [`DELETE ${path} HTTP/1.1`, 'Host: localhost', 'Connection: close', ...headers];
      expect((await sendRaw(server.full, `${lines.join('\r\n')}\r\n\r\n${body}`, 2_000)).status, type).toBe(200);
    }
    expect((await get(server.readOnly, path, 'DELETE')).status).toBe(403);
    expect(server.motion.calls).toHaveLength(3);
    expect(server.motion.status().stop.latched).toBe(false);
  });
});

describe('alerts that a person passes', () => {
  const starts = [
    ['/api/touren/lauf', { tour: 'breakfast' }, 'startTour breakfast'],
    ['/api/fahrt', { station: 'A' }, 'startDrive {"station":"A"}'],
    ['/api/fahrt', { dock: true }, 'startDrive {"dock":true}'],
  ] as const;

  it.each(starts)('by their numbers need sign-in, at %s %j', async (path, order, call) => {
    await using server = await startServer({ password: true });
    const passing = { ...order, although: [8004, 1012] };
    const { status, data } = await postJson(server.full, path, passing);
    expect([status, data.error.code]).toEqual([401, 'NOT_SIGNED_IN']);
    expect(server.motion.calls).toEqual([]);
    const cookie = await signIn(server.full);
    expect((await postJson(server.full, path, passing, { cookie })).status).toBe(202);
    expect(server.motion.calls).toEqual([`${call} although 8004,1012`]);
  });

  it.each(['yes', '8004 and more', '', true, [1.5], ['8004'], Array.from({ length: 17 }, () => 1)])(
    'are never %j',
    async (although) => {
      await using server = await startServer({ password: true });
      const cookie = await signIn(server.full);
      for (const [path, order] of starts) {
        expect((await postJson(server.full, path, { ...order, although }, { cookie })).status).toBe(400);
      }
      expect(server.motion.calls).toEqual([]);
    },
  );

  it('are entered by their numbers in a form of a signed-in person, shown only while they alone close the gate', async () => {
    await using server = await startServer({ password: true });
    server.motion.set({ gate: { open: false, reasons: ['alert'], passableAlerts: [8004] } });
    expect((await ask(server.full, '/')).data).toMatch(/data-pass="yes"/);
    expect((await ask(server.full, '/')).data).not.toContain('name="although"');
    const cookie = await signIn(server.full);
    const page = async () => (await ask(server.full, '/', { headers: { cookie } })).data;
    expect(await page()).toMatch(/<input name="although"[^>]* required>/);
    const form = (although: string) =>
      ask(server.full, '/api/touren/lauf', {
        method: 'POST',
        redirect: 'manual',
        headers: { cookie, 'content-type': 'application/x-www-form-urlencoded' },
        body: new URLSearchParams({ tour: 'breakfast', although }).toString(),
      });
    expect((await form('')).status).toBe(400);
    expect(server.motion.calls).toEqual([]);
    expect((await form('8004, 1012')).status).toBe(303);
    expect(server.motion.calls).toEqual(['startTour breakfast although 8004,1012']);
    server.motion.set({ gate: { open: true, reasons: [] } });
    expect(await page()).toMatch(/data-pass="no"/);
    expect((await ask(server.readOnly, '/')).data).not.toContain('name="although"');
  });
});

describe('operator.tourNeedsSignIn', () => {
  const starts = [
    ['/api/touren/lauf', { tour: 'breakfast' }],
    ['/api/fahrt', { station: 'A' }],
  ] as const;

  it('restricts starting to signed-in persons; a malformed request is still malformed', async () => {
    await using server = await startServer({ password: true, tourNeedsSignIn: true });
    for (const [path, body] of starts) {
      const { status, data } = await postJson(server.full, path, body);
      expect([status, data.error.code]).toEqual([401, 'NOT_SIGNED_IN']);
      expect((await postJson(server.full, path, {})).status).toBe(400);
    }
    expect(server.motion.calls).toEqual([]);
    const cookie = await signIn(server.full);
    for (const [path, body] of starts) expect((await postJson(server.full, path, body, { cookie })).status).toBe(202);
  });

  it('never applies to a stop', async () => {
    await using server = await startServer({ password: true, tourNeedsSignIn: true });
    expect((await postJson(server.full, '/api/stopp', {})).status).toBe(200);
  });

  it('shows the sign-in in place of the buttons, and the buttons after sign-in', async () => {
    await using server = await startServer({ password: true, tourNeedsSignIn: true });
    const before = (await ask(server.full, '/')).data;
    expect(before).not.toContain('name="tour"');
    expect(before).toContain('Touren starten darf nur, wer <a href="/anmeldung">angemeldet</a> ist: breakfast.');
    const cookie = await signIn(server.full);
    const after = (await ask(server.full, '/', { headers: { cookie } })).data;
    expect(after).toContain('<button name="tour" value="breakfast"');
    expect(after).not.toContain('Touren starten darf nur');
    const form = { method: 'POST', body: new URLSearchParams({ tour: 'breakfast' }) };
    const refused = await ask(server.full, '/api/touren/lauf', form);
    expect([refused.status, refused.data]).toEqual([401, expect.stringContaining('href="/anmeldung">Anmelden</a>')]);
  });

  it('is off by default: starting a tour needs no session', async () => {
    await using server = await startServer({ password: true });
    expect((await postJson(server.full, '/api/touren/lauf', { tour: 'breakfast' })).status).toBe(202);
    expect((await ask(server.full, '/')).data).toContain('<button name="tour" value="breakfast"');
  });
});

describe('a move that gw did not order', () => {
  it('is in the headline, above the tours and in the state for programs', async () => {
    await using server = await startServer();
    const unownedMove = { moveId: 7_007, type: 'standard', isBeingCancelled: false };
    server.motion.set({ unownedMove, gate: { open: false, reasons: ['move 7007'] } });
    const page = (await ask(server.full, '/')).data as string;
    expect(page.match(/Auftrag \(Nr\. 7007\), den dieses Gateway nicht erteilt hat/g)?.length).toBeGreaterThan(1);
    expect(page).toMatch(/name="tour"[^>]* disabled/);
    expect((await ask(server.full, '/api/touren')).data.unownedMove).toEqual(unownedMove);
  });

  it('and a drive in progress is shown, and disables tours', async () => {
    await using server = await startServer();
    await postJson(server.full, '/api/fahrt', { station: 'A' });
    const page = (await ask(server.full, '/')).data as string;
    expect(page).toContain('Fahrt zu Station A läuft');
    expect(page).toContain('Es läuft schon eine Fahrt.');
    expect(page).toMatch(/name="tour"[^>]* disabled/);
  });
});
