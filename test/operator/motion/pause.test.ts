import { describe, expect, it } from 'vitest';
import { GwError } from '../../../src/lib/error/index.ts';
import { ask, get, postJson, sendRaw, signIn, startServer, type TestServer } from '../server.ts';

const PAUSE = '/api/touren/lauf/pause';
const CONTINUE = '/api/touren/lauf/weiter';
const breakfast = { tour: 'breakfast' };
const started = async (more: Parameters<typeof startServer>[0] = {}): Promise<TestServer> => {
  const server = await startServer(more);
  await server.motion.startTour('breakfast');
  server.motion.calls.length = 0;
  return server;
};
const form = (server: TestServer, path: string, fields: Record<string, string>) =>
  ask(server.full, path, { method: 'POST', redirect: 'manual', body: new URLSearchParams(fields) });

describe(`POST ${PAUSE}`, () => {
  it('pauses without sign-in, by the id of the tour where one is given', async () => {
    await using server = await started({ password: true, tourNeedsSignIn: true });
    const { status, data } = await postJson(server.full, PAUSE, { id: 'r1' });
    expect([status, data.run.state]).toEqual([200, 'paused']);
    expect((await form(server, PAUSE, {})).status).toBe(303);
    expect(server.motion.calls).toEqual([
      'pauseTour operator surface, 127.0.0.1 r1',
      'pauseTour operator surface, 127.0.0.1 undefined',
    ]);
    expect((await get(server.readOnly, PAUSE, 'POST')).status).toBe(403);
  });

  it('is refused only where no tour runs, and never for its body', async () => {
    await using server = await startServer();
    const { status, data } = await postJson(server.full, PAUSE, {});
    expect([status, data.error.code]).toEqual([409, 'TOUR_NOT_RUNNING']);
    await server.motion.startTour('breakfast');
    for (const [type, body] of [
      ['application/json', '{"id":'],
      ['text/plain', 'stop'],
    ]) {
      const headers = [`Content-Type: ${type}`, `Content-Length: ${body?.length}`];
      const lines = [`POST ${PAUSE} HTTP/1.1`, 'Host: localhost', 'Connection: close', ...headers];
      expect((await sendRaw(server.full, `${lines.join('\r\n')}\r\n\r\n${body}`, 2_000)).status, type).toBe(200);
    }
  });
});

describe(`POST ${CONTINUE}`, () => {
  it('continues the tour that it names, also from a form', async () => {
    await using server = await started();
    await postJson(server.full, PAUSE, {});
    const { status, data } = await postJson(server.full, CONTINUE, breakfast);
    expect([status, data.run.state]).toEqual([202, 'running']);
    await postJson(server.full, PAUSE, {});
    expect((await form(server, CONTINUE, breakfast)).status).toBe(303);
    expect(server.motion.calls.filter((call) => call.startsWith('resume'))).toEqual([
      'resumeTour breakfast',
      'resumeTour breakfast',
    ]);
  });

  it('orders nothing for a request that names no tour', async () => {
    await using server = await started();
    await postJson(server.full, PAUSE, {});
    for (const body of [
      {},
      null,
      { tour: '' },
      { tour: 'breakfast', id: 'r1' },
      { tour: 'breakfast', although: 'x' },
    ]) {
      expect((await postJson(server.full, CONTINUE, body)).status).toBe(400);
    }
    expect((await ask(server.full, CONTINUE, { method: 'POST' })).status).toBe(400);
    expect((await postJson(server.readOnly, CONTINUE, breakfast)).status).toBe(403);
    expect(server.motion.calls.filter((call) => call.startsWith('resume'))).toEqual([]);
  });

  it('needs a session where starting a tour does, and to pass an alert', async () => {
    await using server = await started({ password: true, tourNeedsSignIn: true });
    await postJson(server.full, PAUSE, {});
    expect((await postJson(server.full, CONTINUE, breakfast)).data.error.code).toBe('NOT_SIGNED_IN');
    const cookie = await signIn(server.full);
    expect((await postJson(server.full, CONTINUE, { ...breakfast, although: [8004] }, { cookie })).status).toBe(202);
    await using open = await started({ password: true });
    await postJson(open.full, PAUSE, {});
    expect((await postJson(open.full, CONTINUE, { ...breakfast, although: [8004] })).status).toBe(401);
  });

  it('is refused for an outdated state, and with the reason of the gate; the tour stays paused', async () => {
    await using server = await started();
    await postJson(server.full, PAUSE, {});
    const outdated = await postJson(server.full, CONTINUE, { ...breakfast, seen: 'another-1' });
    expect([outdated.status, outdated.data.error.code]).toEqual([409, 'STATE_OUTDATED']);
    server.motion.failNext = new GwError('MOTION_STOPPED', 'as motion says');
    const stopped = await postJson(server.full, CONTINUE, breakfast);
    expect([stopped.status, stopped.data.error.message]).toEqual([423, 'as motion says']);
    expect(server.motion.status().tour?.state).toBe('paused');
    const page = (await ask(server.full, '/')).data as string;
    expect(page).toContain('Pause vor Station 1 von 2 (A)');
    expect(page).toContain('href="/?ziel=resume%3Abreakfast"');
  });
});
