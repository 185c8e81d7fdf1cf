import { beforeEach, describe, expect, it } from 'vitest';
import { GwError } from '../../src/lib/error/index.ts';
import type { SessionEntry } from '../../src/lib/tunnel/index.ts';
import { until } from '../waiting.ts';
import { client, head } from './connections/client.ts';
import { ask, get, signIn } from './server.ts';
import { sharedServer } from './shared-server.ts';
import { runningSupport, standInSupport, waitingSupport } from './support-stand-in.ts';

const STATE = '/api/wartung/sitzung';
const LIST = '/api/wartung/sitzungen';
const FORM = '/api/wartung/sitzung/ende';
const asForm = { method: 'POST', headers: { 'content-type': 'application/x-www-form-urlencoded' } } as const;

const support = standInSupport();
const server = await sharedServer({ password: true, more: { support } });
const without = await sharedServer({ password: true });
const cookie = await signIn(server.full);
beforeEach(() => {
  Object.assign(support, standInSupport(runningSupport));
});
const end = () => ask(server.full, STATE, { method: 'DELETE' });
const endByForm = ({ full } = server) => ask(full, FORM, { ...asForm, body: '' });

describe('GET /api/wartung/sitzung', () => {
  it('answers with the state on both sockets, without a sign-in', async () => {
    for (const port of [server.full, server.readOnly]) {
      const { status, data } = await ask(port, STATE);
      expect(status).toBe(200);
      expect(data).toEqual(JSON.parse(JSON.stringify(runningSupport)));
    }
  });

  it('is not configured, and nothing is checked, without a cloud', async () => {
    const { status, data } = await ask(without.readOnly, STATE);
    expect(status).toBe(200);
    expect(data).toMatchObject({ status: 'not-configured', running: null, records: { status: 'not-checked' } });
  });

  it('shows no query of a URL, in no text', async () => {
    support.state = { ...waitingSupport, detail: 'failed: https://t.example.test/a?access-token=c0ffee' };
    expect((await ask(server.readOnly, STATE)).data.detail).toBe('failed: https://t.example.test/a');
  });
});

describe('GET /api/wartung/sitzungen', () => {
  const refused = (n: number): SessionEntry => ({
    ...{ kind: 'refused', at: `2026-11-${String(10 + n)}T10:00:00.000Z`, reason: 'other-region' },
    ...{ detail: 'The region is not eu-central-1.', region: 'us-east-1', services: ['web'] },
  });
  const list = (query = '') => ask(server.full, `${LIST}${query}`, { headers: { cookie } });

  it('lists sessions and refusals for a signed-in person, newest first as the records are', async () => {
    support.entries = [refused(2), ...support.entries, refused(1)];
    const { status, data } = await list();
    expect(status).toBe(200);
    expect(data).toEqual({ sessions: JSON.parse(JSON.stringify(support.entries)), hasMore: false });
  });

  it('is bounded, and says whether there are older ones', async () => {
    support.entries = [refused(3), refused(2), refused(1)];
    expect((await list('?limit=2')).data).toMatchObject({ sessions: [{ at: refused(3).at }, {}], hasMore: true });
    expect((await list('?limit=3')).data).toMatchObject({ sessions: [{}, {}, {}], hasMore: false });
    await list();
    expect(support.calls).toEqual(['sessions 3', 'sessions 4', 'sessions 51']);
  });

  it.each('limit=0 limit=-1 limit=1001 limit=9999999 limit=ten limit= limit=1&limit=2 x=1'.split(' '))(
    'is 400 for ?%s, and reads nothing',
    async (query) => {
      const { status, data } = await list(`?${query}`);
      expect([status, data.error.code]).toEqual([400, 'BAD_REQUEST']);
      expect(support.calls).toEqual([]);
    },
  );

  it('is an error, and no empty list, where the records cannot be read or nothing is configured', async () => {
    support.failNext = new GwError('FILE_UNREADABLE', 'The records cannot be read: line 7.');
    const { status, data } = await list();
    const { code, message } = data.error;
    expect([status, code, message]).toEqual([500, 'FILE_UNREADABLE', 'The records cannot be read: line 7.']);
    const none = await ask(without.full, LIST, { headers: { cookie: await signIn(without.full) } });
    expect([none.status, none.data.error.code]).toEqual([409, 'NOT_CONFIGURED']);
  });

  it('is 401 on the read-only socket, with the cookie of a session too', async () => {
    expect((await ask(server.readOnly, LIST, { headers: { cookie } })).status).toBe(401);
    expect(support.calls).toEqual([]);
  });
});

describe('DELETE /api/wartung/sitzung', () => {
  it('ends the session without a sign-in, and names who and from where', async () => {
    const { status, data } = await end();
    expect([status, data]).toEqual([200, { ended: true }]);
    expect(support.calls).toEqual(['end person without sign-in, 127.0.0.1']);
    support.state = runningSupport;
    await ask(server.full, STATE, { method: 'DELETE', headers: { cookie } });
    expect(support.calls.at(-1)).toBe('end signed-in person, 127.0.0.1');
  });

  it('answers that none ran', async () => {
    support.state = waitingSupport;
    const { status, data } = await end();
    expect([status, data]).toEqual([200, { ended: false }]);
  });

  it.each(['{', '"x"', '{"session":"s-1"}', 'x'.repeat(20_000)])('is not refused for its body %#', async (body) => {
    const headers = { 'content-type': 'application/json' };
    const { status, data } = await ask(server.full, STATE, { method: 'DELETE', headers, body });
    expect([status, data]).toEqual([200, { ended: true }]);
  });

  it('is refused on the read-only socket by any method that could end it, and ends nothing', async () => {
    for (const [method, path, more] of [
      ['DELETE', STATE, []],
      ['DELETE', STATE, [`Cookie: ${cookie}`]],
      ['POST', FORM, ['Content-Length: 0']],
      ['GET', FORM, []],
      ['GET', STATE, ['X-HTTP-Method-Override: DELETE']],
    ] as const) {
      const { status } = await get(server.readOnly, path, method, more);
      expect([method, path, status]).toEqual([method, path, path === STATE && method === 'GET' ? 200 : 403]);
    }
    expect(support.calls).toEqual([]);
    expect(support.state.status).toBe('running');
  });

  it('is 409 without a cloud, and an error of its own where the end fails', async () => {
    const none = await ask(without.full, STATE, { method: 'DELETE' });
    expect([none.status, none.data.error.code]).toEqual([409, 'NOT_CONFIGURED']);
    support.failNext = new GwError('INTERRUPTED', 'The gateway is stopping.');
    const { status, data } = await end();
    expect([status, data.error.code]).toEqual([503, 'INTERRUPTED']);
  });

  it('is not confirmed where the end takes longer than 4 s, and said so', async () => {
    let calls = 0;
    support.endOnSite = () => {
      calls += 1;
      return new Promise<boolean>(() => {});
    };
    for (const [nth, path, more] of [
      [1, STATE, { method: 'DELETE' }],
      [2, FORM, { ...asForm, body: '' }],
    ] as const) {
      const answer = ask(server.full, path, more);
      await until(
        () => calls,
        (count) => count === nth,
      );
      server.clock.advance(4_000);
      const { status, data } = await answer;
      expect(status).toBe(503);
      expect(typeof data === 'string' ? data : data.error.code).toContain('NOT_CONFIRMED');
      expect(JSON.stringify(data)).not.toMatch(/Nicht ausgeführt|ist beendet/);
    }
  });

  it('ends the session also when its body never arrives', async () => {
    using half = await client(server.full);
    half.send(`${head(`DELETE ${STATE}`, 'Content-Length: 9')}{`);
    const look = () => {
      server.clock.advance(10);
      return support.calls;
    };
    expect(await until(look, ({ length }) => length > 0)).toHaveLength(1);
  });
});

describe('the form that ends a session', () => {
  it('confirms the end on a page', async () => {
    const { status, headers, data } = await endByForm();
    expect([status, headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(data).toContain('<h1>Fernwartung beendet</h1>');
    expect(data).toContain('href="/service"');
    expect(data).toContain('action="/api/stopp"');
    expect(support.calls).toEqual(['end person without sign-in, 127.0.0.1']);
  });

  it('says that none ran, and never that one was ended', async () => {
    support.state = waitingSupport;
    const { data } = await endByForm();
    expect(data).toContain('<h1>Es läuft keine Fernwartung</h1>');
    expect(data).not.toMatch(/Fernwartung beendet<|ist beendet/);
  });

  it('says that another session runs where the cloud opened one meanwhile', async () => {
    support.endOnSite = async () => true;
    const { data } = await endByForm();
    expect(data).toContain('<h1>Fernwartung läuft wieder</h1>');
    expect(data).toContain('Inzwischen läuft eine andere Sitzung');
  });

  it('shows a page also where it is refused', async () => {
    const { status, data } = await endByForm(without);
    expect(status).toBe(409);
    expect(data).toContain('Nicht ausgeführt');
  });
});
