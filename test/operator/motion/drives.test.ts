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
    const asked = '/?ziel=tour:breakfast';
    expect((await ask(server.full, asked)).data).not.toContain('name="although"');
    const cookie = await signIn(server.full);
    const page = async () => (await ask(server.full, asked, { headers: { cookie } })).data;
    expect(await page()).toMatch(/<input name="although"[^>]* required/);
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
    expect(await page()).not.toContain('name="although"');
    expect((await ask(server.readOnly, asked)).data).not.toContain('name="although"');
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

  it('asks for a sign-in before a drive, and lets a signed-in person drive', async () => {
    await using server = await startServer({ password: true, tourNeedsSignIn: true });
    const asked = '/?ziel=tour:breakfast';
    const go = /<button type="submit" class="go"( disabled)?/;
    const before = (await ask(server.full, asked)).data;
    expect(before).toContain('Fahren darf nur, wer angemeldet ist.');
    expect(go.exec(before)?.[1]).toBe(' disabled');
    const cookie = await signIn(server.full);
    const after = (await ask(server.full, asked, { headers: { cookie } })).data;
    expect(after).not.toContain('Fahren darf nur');
    expect(go.exec(after)?.[1]).toBeUndefined();
    const form = { method: 'POST', body: new URLSearchParams({ tour: 'breakfast' }) };
    const refused = await ask(server.full, '/api/touren/lauf', form);
    expect([refused.status, refused.data]).toEqual([401, expect.stringContaining('href="/anmeldung">Anmelden</a>')]);
  });

  it('is off by default: starting a tour needs no session', async () => {
    await using server = await startServer({ password: true });
    expect((await postJson(server.full, '/api/touren/lauf', { tour: 'breakfast' })).status).toBe(202);
    expect((await ask(server.full, '/')).data).not.toContain('Fahren darf nur');
  });
});

describe('a move that gw did not order', () => {
  it('is in the headline, in the question before a drive, and in the state for programs', async () => {
    await using server = await startServer();
    const unownedMove = { moveId: 7_007, type: 'standard', isBeingCancelled: false };
    server.motion.set({ unownedMove, gate: { open: false, reasons: ['move 7007'] } });
    const page = (await ask(server.full, '/?ziel=tour:breakfast')).data as string;
    expect(page.match(/fremden Auftrag \(Nr\. 7007\)/g)?.length).toBeGreaterThan(1);
    expect(page).toMatch(/class="go" disabled/);
    expect((await ask(server.full, '/api/touren')).data.unownedMove).toEqual(unownedMove);
  });

  it('and a drive in progress is shown, and another one is not offered', async () => {
    await using server = await startServer();
    await postJson(server.full, '/api/fahrt', { station: 'A' });
    const page = (await ask(server.full, '/?ziel=tour:breakfast')).data as string;
    expect(page).toContain('Fahrt zu A · seit');
    expect(page).toMatch(/class="go" disabled/);
  });
});

describe('an order that names the state which a person saw', () => {
  const stateOf = async (port: number) =>
    JSON.parse(
      /<script id="page-state" type="application\/json">([\s\S]*?)<\/script>/.exec((await ask(port, '/')).data)?.[1] ??
        '',
    ).state as { readonly id: string };

  it.each([
    ['/api/fahrt', { station: 'A' }],
    ['/api/touren/lauf', { tour: 'breakfast' }],
  ])('%s is accepted for two seconds, then refused with words, and nothing is ordered', async (path, target) => {
    await using server = await startServer();
    const { id } = await stateOf(server.full);
    server.clock.advance(2_001);
    const refused = await postJson(server.full, path, { ...target, seen: id });
    expect([refused.status, refused.data.error.code]).toEqual([409, 'STATE_OUTDATED']);
    expect((await postJson(server.full, path, { ...target, seen: 'another-1' })).status).toBe(409);
    expect(server.motion.calls).toEqual([]);
    expect((await postJson(server.full, path, { ...target, seen: (await stateOf(server.full)).id })).status).toBe(202);
  });

  it('is ordered from a form without script, which names none', async () => {
    await using server = await startServer();
    const form = (path: string, fields: Record<string, string>) =>
      ask(server.full, path, { method: 'POST', redirect: 'manual', body: new URLSearchParams(fields) });
    expect((await form('/api/fahrt', { station: 'A' })).status).toBe(303);
    expect((await form('/api/fahrt/ende', {})).status).toBe(303);
  });
});
