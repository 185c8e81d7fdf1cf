import { describe, expect, it } from 'vitest';
import { createWorld } from '../delivery/world.ts';
import { ask, postJson, signIn, startServer } from './server.ts';

const orders = ['weiter', 'warteschlange', 'warteschlange/entfernen', 'ansage', 'ansage/ende', 'automatik'];

/** A server whose deliveries follow a robot of their own. */
async function serve(setUp: Parameters<typeof startServer>[0] = {}) {
  const world = createWorld({ nextAfterSeconds: 10, return: { afterMinutes: 1 } });
  await world.restart();
  const server = await startServer({ ...setUp, more: { delivery: world.delivery() } });
  const post = (path: string, body: object = {}, headers?: Record<string, string>) =>
    postJson(server.full, `/api/lieferung/${path}`, body, headers);
  return { world, server, post, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}
const codeOf = ({ status, data }: { status: number; data: { error: { code: string } } }) => [status, data.error.code];

describe('deliveries over HTTP', () => {
  it('queue, arrival and what comes next, by the ids that a person saw', async () => {
    await using set = await serve();
    const { world, post, server } = set;
    expect(codeOf(await post('warteschlange', { station: 'B' }))).toEqual([409, 'QUEUE_CLOSED']);
    await world.motion.startDrive({ station: 'A' }, { by: 'page' });
    expect(codeOf(await post('warteschlange', { station: 'nowhere' }))).toEqual([404, 'STATION_UNKNOWN']);
    const { data } = await post('warteschlange', { station: 'B' });
    expect(data.delivery).toMatchObject({ queue: [{ id: 'q1', station: 'B' }], isOpen: true });
    // A second touch of the same finger.
    expect((await post('warteschlange', { station: 'B' })).data.delivery.queue).toHaveLength(1);
    for (let more = 0; more < 7; more += 1) {
      expect((await post('warteschlange', { station: more % 2 === 0 ? 'A' : 'B' })).status).toBe(200);
    }
    expect(codeOf(await post('warteschlange', { station: 'C' }))).toEqual([409, 'QUEUE_FULL']);

    world.end('succeeded');
    expect((await ask(server.full, '/api/lieferung')).data.delivery.arrival).toMatchObject({ id: 'd1', station: 'A' });
    expect(codeOf(await post('weiter', { arrival: 'd1', next: 'q2' }))).toEqual([409, 'STATE_OUTDATED']);
    expect(codeOf(await post('weiter', { arrival: null, next: 'q1' }))).toEqual([409, 'STATE_OUTDATED']);
    expect(codeOf(await post('weiter', { arrival: 'd1', next: 'q1', seen: 'long-ago' }))).toEqual([
      409,
      'STATE_OUTDATED',
    ]);
    expect(world.robot.orders).toHaveLength(1);
    expect((await post('weiter', { arrival: 'd1', next: 'q1' })).data.delivery).toMatchObject({ arrival: null });
    expect(world.robot.orders.map(({ station, by }) => [station, by])).toEqual([
      ['A', 'page'],
      ['B', 'page'],
    ]);
    expect(codeOf(await post('warteschlange/entfernen', { id: 'q1' }))).toEqual([404, 'NOT_FOUND']);
    expect((await post('warteschlange/entfernen', { id: 'q2' })).data.delivery.queue[0].id).toBe('q3');
  });

  it('423 while stopped; the end of a countdown is never refused, whatever it carries', async () => {
    await using set = await serve();
    const { world, post, server } = set;
    world.robot.stop = true;
    world.changed();
    for (const [path, body] of [
      ['weiter', { arrival: null, next: 'q1' }],
      ['warteschlange', { station: 'A' }],
      ['automatik', {}],
    ] as const) {
      expect([path, ...codeOf(await post(path, body))]).toEqual([path, 423, 'MOTION_STOPPED']);
    }
    for (const body of ['', '{', '[]', '{"id":7}']) {
      const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body };
      const { status, data } = await ask(server.full, '/api/lieferung/ansage/ende', init);
      expect([body, status, data]).toEqual([body, 200, { ended: false }]);
    }
    world.robot.stop = false;
    world.robot.fault = true;
    expect(codeOf(await post('automatik'))).toEqual([409, 'MOTION_REFUSED']);
    world.robot.fault = false;
    expect((await post('automatik')).data.delivery.hold).toBeNull();
    await post('ansage/ende');
    expect((await ask(server.full, '/api/lieferung')).data.delivery.hold.cause).toBe('person');
  });

  it('a page that shows a countdown by a state that is too old does not count', async () => {
    await using set = await serve();
    const { world, post } = set;
    await post('automatik');
    await world.motion.startDrive({ station: 'A' }, { by: 'page' });
    await post('warteschlange', { station: 'B' });
    world.end('succeeded');
    const leftMs = () => world.delivery().view()?.countdown?.leftMs ?? Number.NaN;
    for (let tick = 0; tick < 80 && Number.isNaN(leftMs()); tick += 1) await world.tick();
    const id = world.delivery().view()?.countdown?.id;
    const leftAfter = async (body: object) => {
      const answer = await post('ansage', body);
      for (let tick = 0; tick < 4; tick += 1) await world.tick();
      return [answer.status, leftMs()];
    };
    expect(await leftAfter({ id, seen: 'long-ago' })).toEqual([409, 10_000]);
    expect(await leftAfter({ id })).toEqual([200, 8_000]);
  });

  it('what leads to a drive needs a session where a drive does; what ends one never', async () => {
    await using set = await serve({ password: true, tourNeedsSignIn: true });
    const { post, server } = set;
    for (const [path, body] of [
      ['weiter', { arrival: null, next: 'q1' }],
      ['warteschlange', { station: 'A' }],
      ['automatik', {}],
    ] as const) {
      expect([path, ...codeOf(await post(path, body))]).toEqual([path, 401, 'NOT_SIGNED_IN']);
    }
    expect((await post('ansage/ende')).status).toBe(200);
    expect((await post('automatik', {}, { cookie: await signIn(server.full) })).status).toBe(200);
  });

  it('the read-only socket takes none of it', async () => {
    await using set = await serve();
    for (const path of orders) {
      expect(codeOf(await postJson(set.server.readOnly, `/api/lieferung/${path}`, {}))).toEqual([403, 'READ_ONLY']);
    }
    expect((await ask(set.server.readOnly, '/api/lieferung')).status).toBe(403);
  });

  it('is said to be not set up where the site file names none', async () => {
    await using server = await startServer();
    expect((await ask(server.full, '/api/lieferung')).data).toEqual({ delivery: null });
    const path = '/api/lieferung/warteschlange';
    expect(codeOf(await postJson(server.full, path, { station: 'A' }))).toEqual([409, 'NOT_CONFIGURED']);
  });

  it('without script the same by forms, and the question names what comes next', async () => {
    await using set = await serve();
    const { world, server } = set;
    await world.motion.startDrive({ station: 'A' }, { by: 'page' });
    const form = (path: string, fields: Record<string, string>) =>
      ask(server.full, `/api/lieferung/${path}`, { method: 'POST', body: new URLSearchParams(fields) });
    expect((await form('warteschlange', { station: 'B' })).status).toBe(303);
    world.end('succeeded');
    const page = (await ask(server.full, '/?ziel=next%3Aq1')).data as string;
    expect(page).toContain('<input type="hidden" name="next" value="q1"/>');
    expect((await form('weiter', { arrival: 'd1', next: 'q1' })).status).toBe(303);
    world.end('succeeded');
    expect((await form('weiter', { arrival: 'd2' })).status).toBe(303);
    expect((await ask(server.full, '/api/lieferung')).data.delivery.arrival).toBeNull();
    expect(world.robot.orders.map(({ station }) => station)).toEqual(['A', 'B']);
  });
});
