import { describe, expect, it } from 'vitest';
import { GwError } from '../../../src/lib/error/index.ts';
import { ask, get, postJson, sendRaw, signIn } from '../server.ts';
import { sharedServer } from '../shared-server.ts';

const PAUSE = '/api/touren/lauf/pause';
const CONTINUE = '/api/touren/lauf/weiter';
const breakfast = { tour: 'breakfast' };
const server = await sharedServer({ password: true });
const strict = await sharedServer({ password: true, tourNeedsSignIn: true });

/** A tour that runs, or one that was paused. */
async function started(of = server, isPaused = false) {
  await of.motion.startTour('breakfast');
  if (isPaused) await of.motion.pauseTour('test');
  of.motion.calls.length = 0;
}
const form = (path: string, fields: Record<string, string>, { full } = server) =>
  ask(full, path, { method: 'POST', body: new URLSearchParams(fields) });
const resume = (body: unknown, { full } = server, headers?: Record<string, string>) =>
  postJson(full, CONTINUE, body, headers);

describe(`POST ${PAUSE}`, () => {
  it('pauses without sign-in, by the id of the tour where one is given', async () => {
    await started(strict);
    const { status, data } = await postJson(strict.full, PAUSE, { id: 'r1' });
    expect([status, data.run.state]).toEqual([200, 'paused']);
    expect((await form(PAUSE, {}, strict)).status).toBe(303);
    const by = 'pauseTour operator surface, 127.0.0.1';
    expect(strict.motion.calls).toEqual([`${by} r1`, `${by} undefined`]);
    expect((await get(strict.readOnly, PAUSE, 'POST')).status).toBe(403);
  });

  it('is refused only where no tour runs, and never for its body', async () => {
    const { status, data } = await postJson(server.full, PAUSE, {});
    expect([status, data.error.code]).toEqual([409, 'TOUR_NOT_RUNNING']);
    await started();
    for (const [type, body] of [
      ['application/json', '{"id":'],
      ['text/plain', 'stop'],
    ]) {
      const headers = [`Content-Type: ${type}`, `Content-Length: ${body?.length}`];
      const lines = [`POST ${PAUSE} HTTP/1.1`, 'Host: localhost', 'Connection: close', ...headers];
      expect((await sendRaw(server.full, `${lines.join('\r\n')}\r\n\r\n${body}`)).status, type).toBe(200);
    }
  });
});

describe(`POST ${CONTINUE}`, () => {
  it('continues the tour that it names, also from a form', async () => {
    await started(server, true);
    const { status, data } = await resume(breakfast);
    expect([status, data.run.state]).toEqual([202, 'running']);
    await started(server, true);
    expect((await form(CONTINUE, breakfast)).status).toBe(303);
    expect(server.motion.calls).toEqual(['resumeTour breakfast']);
  });

  it('orders nothing for a request that names no tour', async () => {
    await started(server, true);
    for (const body of [{}, null, { tour: '' }, { ...breakfast, id: 'r1' }, { ...breakfast, although: 'x' }]) {
      expect((await resume(body)).status).toBe(400);
    }
    expect((await ask(server.full, CONTINUE, { method: 'POST' })).status).toBe(400);
    expect((await postJson(server.readOnly, CONTINUE, breakfast)).status).toBe(403);
    expect(server.motion.calls).toEqual([]);
  });

  it('needs a session where starting a tour does, and to pass an alert', async () => {
    await started(strict, true);
    const passing = { ...breakfast, although: [8004] };
    expect((await resume(breakfast, strict)).data.error.code).toBe('NOT_SIGNED_IN');
    expect((await resume(passing, strict, { cookie: await signIn(strict.full) })).status).toBe(202);
    await started(server, true);
    expect((await resume(passing)).status).toBe(401);
  });

  it('is refused for an outdated state, and with the reason of the gate; the tour stays paused', async () => {
    await started(server, true);
    const outdated = await resume({ ...breakfast, seen: 'another-1' });
    expect([outdated.status, outdated.data.error.code]).toEqual([409, 'STATE_OUTDATED']);
    server.motion.failNext = new GwError('MOTION_STOPPED', 'as motion says');
    const stopped = await resume(breakfast);
    expect([stopped.status, stopped.data.error.message]).toEqual([423, 'as motion says']);
    expect(server.motion.status().tour?.state).toBe('paused');
    const page = (await ask(server.full, '/')).data as string;
    expect(page).toContain('Pause vor Station 1 von 2 (A)');
    expect(page).toContain('href="/?ziel=resume%3Abreakfast"');
  });
});
