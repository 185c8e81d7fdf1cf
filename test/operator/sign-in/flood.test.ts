import crypto from 'node:crypto';
import { once } from 'node:events';
import { type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http';
import { syncBuiltinESMExports } from 'node:module';
import { describe, expect, it } from 'vitest';
import { parsePasswordHash } from '../../../src/lib/operator/sign-in/password-hash.ts';
import {
  createDeviceMarks,
  createFailedTries,
  createSignIn,
  failedTryRules,
} from '../../../src/lib/operator/sign-in/sign-in.ts';
import { queueLimits } from '../../../src/lib/operator/sign-in/sign-in-queue.ts';
import { isFull } from '../../properties.ts';
import { until } from '../../waiting.ts';
import { client, head, parsedRequests } from '../connections/client.ts';
import { ask, hashOf, PASSWORD, signIn, startServer } from '../server.ts';
import { standInClock } from '../stand-ins.ts';

function parsed(text: string) {
  const hash = parsePasswordHash(text);
  if (hash === null) throw new Error('expected a valid hash');
  return hash;
}

function service() {
  const clock = standInClock();
  return { clock, signIn: createSignIn(parsed(hashOf(PASSWORD)), clock) };
}

interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A sign-in from one of the many loopback addresses. */
async function post(port: number, localAddress: string, password: string, cookie?: string): Promise<Answer> {
  const asked = request({
    ...{ host: '127.0.0.1', port, localAddress, path: '/api/anmeldung', method: 'POST', agent: false },
    headers: { 'content-type': 'application/json', ...(cookie !== undefined && { cookie }) },
  });
  asked.end(JSON.stringify({ password }));
  const [response] = (await once(asked, 'response')) as [IncomingMessage];
  const body = Buffer.concat(await response.toArray()).toString();
  return { status: response.statusCode ?? 0, headers: response.headers, body };
}

/** No hash ends before it is released. */
function heldHashes() {
  const { scrypt } = crypto;
  const set = (to: typeof scrypt) => {
    crypto.scrypt = to;
    syncBuiltinESMExports();
  };
  const held: (() => void)[] = [];
  set(((...args: Parameters<typeof scrypt>) => void held.push(() => scrypt(...args))) as typeof scrypt);
  return {
    untilHeld: (count: number) =>
      until(
        () => held.length,
        (length) => length >= count,
      ),
    [Symbol.dispose]() {
      set(scrypt);
      for (const go of held.splice(0)) go();
    },
  };
}

describe('sign-in under a flood', () => {
  it('accepts the right password although every address of an attacker is blocked', { tags: 'property' }, async () => {
    const { signIn } = service();
    const addresses = isFull ? 254 : 40;
    for (let address = 0; address < addresses; address += 1) {
      for (let i = 0; i < failedTryRules.wrongTries; i += 1) {
        await signIn.try('wrong', { address: `192.0.2.${address}` });
      }
    }
    const flood = Array.from({ length: addresses }, (_, i) => signIn.try('wrong', { address: `192.0.2.${i}` }));
    expect((await signIn.try(PASSWORD, { address: '198.51.100.7' })).kind).toBe('signed-in');
    expect(new Set((await Promise.all(flood)).map(({ kind }) => kind))).toEqual(new Set(['too-many-tries']));
  });

  it('serves an address without failures before a whole network with failures', async () => {
    const { signIn } = service();
    for (let i = 0; i < 200; i += 1) await signIn.try('wrong', { address: `192.0.2.${i}` });
    const order: string[] = [];
    const flood = Array.from({ length: 200 }, (_, i) =>
      signIn.try('wrong', { address: `192.0.2.${i}` }).then(({ kind }) => order.push(kind)),
    );
    const honest = signIn.try(PASSWORD, { address: '198.51.100.7' }).then(({ kind }) => order.push(kind));
    await Promise.all([...flood, honest]);
    const hashed = order.filter((kind) => kind !== 'busy');
    expect(hashed.indexOf('signed-in')).toBeLessThan(queueLimits.atOnce * 2);
    expect(hashed).toHaveLength(queueLimits.atOnce + queueLimits.waiting.failed + 1);
  });

  it('serves a known device, from whatever address, before any number of new ones', async () => {
    const { signIn, clock } = service();
    const first = await signIn.try(PASSWORD, { address: '192.0.2.1' });
    if (first.kind !== 'signed-in') throw new Error(first.kind);
    signIn.signOut(first.token);
    clock.advance(24 * 60 * 60_000);
    const flood = Array.from({ length: 2_000 }, (_, i) =>
      signIn.try('wrong', { address: `10.${i >> 16}.${(i >> 8) & 255}.${i & 255}` }),
    );
    const again = await signIn.try(PASSWORD, { address: '203.0.113.9', deviceMark: first.deviceMark });
    expect(again.kind).toBe('signed-in');
    // Only those already in progress were hashed meanwhile.
    const answered = await Promise.all(flood);
    expect(answered.filter(({ kind }) => kind === 'wrong')).toHaveLength(queueLimits.atOnce + queueLimits.waiting.new);
  });

  it('serves an address again that signed in, also without its device cookie', async () => {
    const { signIn } = service();
    expect((await signIn.try(PASSWORD, { address: '192.0.2.1' })).kind).toBe('signed-in');
    const flood = () => Array.from({ length: 200 }, (_, i) => signIn.try('wrong', { address: `10.0.0.${i}` }));
    const rounds = flood();
    expect((await signIn.try(PASSWORD, { address: '192.0.2.1' })).kind).toBe('signed-in');
    await Promise.all(rounds);
  });

  it('serves an address that signed in and then failed after new ones, as any that failed', async () => {
    const { signIn } = service();
    expect((await signIn.try(PASSWORD, { address: '192.0.2.1' })).kind).toBe('signed-in');
    expect((await signIn.try('mistyped', { address: '192.0.2.1' })).kind).toBe('wrong');
    const ended: string[] = [];
    const tryFrom = (address: string) => signIn.try('wrong', { address }).then(() => void ended.push(address));
    const strangers = Array.from({ length: 12 }, (_, i) => tryFrom(`10.0.0.${i}`));
    await Promise.all([...strangers, tryFrom('192.0.2.1')]);
    // Two are served concurrently; it has the fourth turn of the waiting ones.
    expect(ended.indexOf('192.0.2.1')).toBeGreaterThanOrEqual(4);
  });

  it('no longer treats an address as known once it failed', async () => {
    const { signIn } = service();
    const address = '192.0.2.1';
    expect((await signIn.try(PASSWORD, { address })).kind).toBe('signed-in');
    for (let i = 0; i < 2; i += 1) expect((await signIn.try('wrong', { address })).kind).toBe('wrong');
    const others = Array.from({ length: queueLimits.atOnce + queueLimits.waiting.failed }, (_, i) => `10.0.0.${i}`);
    for (const other of others) await signIn.try('wrong', { address: other });
    const flood = others.map((other) => signIn.try('wrong', { address: other }));
    // They failed once each, and this one twice: its queue is full.
    expect((await signIn.try(PASSWORD, { address })).kind).toBe('busy');
    await Promise.all(flood);
  });

  it('counts wrong passwords by the device first, and then by its address', async () => {
    const { signIn } = service();
    const first = await signIn.try(PASSWORD, { address: '192.0.2.1' });
    if (first.kind !== 'signed-in') throw new Error(first.kind);
    const { deviceMark } = first;
    const outcomes: string[] = [];
    for (let i = 0; i < 12; i += 1) {
      outcomes.push((await signIn.try('wrong', { address: '192.0.2.77', deviceMark })).kind);
    }
    const allowed = failedTryRules.wrongTries * 2;
    expect(outcomes).toEqual([...Array(allowed).fill('wrong'), ...Array(12 - allowed).fill('too-many-tries')]);
  });

  it('never limits commands on the gateway', async () => {
    const { signIn } = service();
    for (let i = 0; i < 20; i += 1) expect((await signIn.try('wrong', { address: null })).kind).toBe('wrong');
    const atOnce = Array.from({ length: 5 }, () => signIn.try(PASSWORD, { address: null }));
    expect((await Promise.all(atOnce)).map(({ kind }) => kind)).toEqual(Array(5).fill('signed-in'));
  });

  it('neither counts nor hashes a password that cannot be set', async () => {
    const { signIn } = service();
    const long = 'x'.repeat(10_000);
    for (let i = 0; i < 20; i += 1) expect((await signIn.try(long, { address: '192.0.2.1' })).kind).toBe('wrong');
    expect((await signIn.try(PASSWORD, { address: '192.0.2.1' })).kind).toBe('signed-in');
  });
});

describe('the device cookie', () => {
  it('is accepted as issued, and rejected with one character changed, of another password, or invented', () => {
    const marks = createDeviceMarks(parsed(hashOf(PASSWORD)));
    const mark = marks.make(null);
    const name = marks.nameOf(mark);
    expect(name).toMatch(/^[A-Za-z0-9_-]{22}$/);
    expect(marks.nameOf(marks.make(name))).toBe(name);
    expect(createDeviceMarks(parsed(hashOf(PASSWORD))).nameOf(mark)).toBe(name);
    expect(createDeviceMarks(parsed(hashOf('another password'))).nameOf(mark)).toBeNull();
    expect(createDeviceMarks(parsed(hashOf(PASSWORD, 8))).nameOf(mark)).toBeNull();
    for (const bad of ['', '.', `${mark}x`, mark.slice(1), mark.replace('.', ''), `A${mark.slice(1)}`, '__proto__']) {
      if (bad !== mark) expect(marks.nameOf(bad), bad).toBeNull();
    }
  });
});

describe('the table of failed attempts', () => {
  it('is bounded, and contains the latest failure', () => {
    const clock = standInClock();
    const failed = createFailedTries(clock);
    for (let i = 0; i < failedTryRules.keys * 2; i += 1) failed.add(`10.0.${i >> 8}.${i & 255}`);
    expect(failed.size()).toBe(failedTryRules.keys);
    const last = failedTryRules.keys * 2 - 1;
    expect(failed.count(`10.0.${last >> 8}.${last & 255}`)).toBe(1);
    expect(failed.count('10.0.0.0')).toBe(0);
  });

  it('blocks for the rest of the minute, and remembers longer than it blocks', () => {
    const clock = standInClock();
    const failed = createFailedTries(clock);
    for (let i = 0; i < failedTryRules.wrongTries; i += 1) {
      expect(failed.blockedForMs('x')).toBe(0);
      failed.add('x');
      clock.advance(1_000);
    }
    expect(failed.blockedForMs('x')).toBe(failedTryRules.wrongTriesWithinMs - 5_000);
    clock.advance(failedTryRules.wrongTriesWithinMs - 5_000);
    expect([failed.blockedForMs('x'), failed.count('x')]).toEqual([0, failedTryRules.wrongTries]);
    clock.advance(failedTryRules.rememberedMs);
    expect(failed.count('x')).toBe(0);
  });
});

describe('POST /api/anmeldung over real connections from many addresses', () => {
  it('answers 429 with its own code when the queue is full, and never a server error', async () => {
    await using server = await startServer({ password: true });
    const held = heldHashes();
    const length = queueLimits.atOnce + queueLimits.waiting.new;
    const flood = Array.from({ length }, (_, i) => post(server.full, `127.0.7.${i + 1}`, 'wrong'));
    await held.untilHeld(queueLimits.atOnce);
    const busy = await Promise.race([...flood, post(server.full, '127.0.8.1', 'wrong')]);
    expect([busy.status, busy.headers['retry-after']]).toEqual([429, '1']);
    expect(JSON.parse(busy.body)).toMatchObject({ error: { code: 'SIGN_IN_BUSY' } });
    // The others wait until their time in the queue is over.
    server.clock.advance(queueLimits.waitMs);
    held[Symbol.dispose]();
    const statuses = (await Promise.all(flood)).map(({ status }) => status);
    expect(new Set(statuses)).toEqual(new Set([401, 429]));
    expect((await post(server.full, '127.0.9.1', PASSWORD)).status).toBe(200);
  });

  it('sets a second cookie that grants no access and survives the sign-out', async () => {
    await using server = await startServer({ password: true });
    const { headers } = await post(server.full, '127.0.0.1', PASSWORD);
    const [session = '', device = ''] = headers['set-cookie'] ?? [];
    expect(session).toMatch(/^gw_session=/);
    expect(device).toMatch(/^gw_device=[\w-]{22}\.[\w-]{43}; .*Max-Age=34560000.*HttpOnly.*SameSite=Strict/);
    const cookie = device.split(';')[0] ?? '';
    const settings = await fetch(`http://127.0.0.1:${server.full}/api/einstellungen`, { headers: { cookie } });
    expect(settings.status).toBe(401);
    const again = await post(server.full, '127.0.0.1', PASSWORD, cookie);
    expect(again.headers['set-cookie']?.[1]?.split(';')[0]).toBe(cookie);
  });

  it('neither hashes nor counts the attempt of a client that disconnected before its turn', async () => {
    await using server = await startServer({ password: true });
    const held = heldHashes();
    const flood = Array.from({ length: queueLimits.atOnce }, (_, i) => post(server.full, `127.0.7.${i + 1}`, 'wrong'));
    await held.untilHeld(queueLimits.atOnce);
    const body = '{"password":"wrong"}';
    const asked =
      head('POST /api/anmeldung', 'Content-Type: application/json', `Content-Length: ${body.length}`) + body;
    using parsed = parsedRequests();
    const inQueue = queueLimits.behindOwn + 1;
    const clients = await Promise.all(Array.from({ length: inQueue + 2 }, () => client(server.full, '127.0.8.1')));
    for (const one of clients) one.send(asked);
    // Those beyond the limit of one address are refused at once, so the others are in the queue by then.
    await until(
      () => clients.filter(({ text }) => text() !== ''),
      ({ length }) => length === clients.length - inQueue,
    );
    for (const { socket } of clients) socket.destroy();
    await until(
      () => parsed.filter(({ socket }) => socket.destroyed),
      ({ length }) => length === clients.length,
    );
    held[Symbol.dispose]();
    await Promise.all(flood);
    // With those of the queue counted, the second of these would be blocked.
    for (let i = 0; i < failedTryRules.wrongTries - 1; i += 1) {
      expect((await post(server.full, '127.0.8.1', 'wrong')).status).toBe(401);
    }
    expect((await post(server.full, '127.0.8.1', PASSWORD)).status).toBe(200);
  });
});

describe('signing out everywhere', () => {
  const settings = async (port: number, cookie: string) =>
    (await ask(port, '/api/einstellungen', { headers: { cookie } })).status;
  const endAll = (port: number, cookie: string) =>
    ask(port, '/api/anmeldung/alle', { method: 'DELETE', headers: { cookie } });

  it('ends every session, that of the caller too, and returns the number', async () => {
    await using server = await startServer({ password: true });
    const cookies = [await signIn(server.full), await signIn(server.full), await signIn(server.full)] as const;
    for (const cookie of cookies) expect(await settings(server.full, cookie)).toBe(200);
    expect(await endAll(server.full, cookies[1])).toMatchObject({
      status: 200,
      data: { signedIn: false, sessionsEnded: 3 },
    });
    for (const cookie of cookies) expect(await settings(server.full, cookie)).toBe(401);
    expect((await endAll(server.full, cookies[1])).status).toBe(401);
  });

  it('is a button of the sign-in page that works without script', async () => {
    await using server = await startServer({ password: true });
    const [cookie, other] = [await signIn(server.full), await signIn(server.full)];
    const page = (await ask(server.full, '/anmeldung', { headers: { cookie } })).data;
    expect(page).toContain('<form method="post" action="/api/abmeldung/alle">');
    const init = { method: 'POST', headers: { cookie }, body: new URLSearchParams() };
    const pressed = await ask(server.full, '/api/abmeldung/alle', init);
    expect([pressed.status, pressed.headers.get('location')]).toEqual([303, '/anmeldung']);
    expect(await settings(server.full, other)).toBe(401);
  });

  it('counts no session that had expired', async () => {
    await using server = await startServer({ password: true });
    await signIn(server.full);
    server.clock.advance(31 * 60_000);
    const ended = await endAll(server.full, await signIn(server.full));
    expect(ended.data).toEqual({ signedIn: false, sessionsEnded: 1 });
  });
});
