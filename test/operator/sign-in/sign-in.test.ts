import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hashPassword, parsePasswordHash, verifyPassword } from '../../../src/lib/operator/sign-in/password-hash.ts';
import { sessionRules } from '../../../src/lib/operator/sign-in/session-store.ts';
import { createSignIn, failedTryRules } from '../../../src/lib/operator/sign-in/sign-in.ts';
import { ask, hashOf, PASSWORD, postJson, signIn, startServer } from '../server.ts';
import { standInClock } from '../stand-ins.ts';

const cheap = parsePasswordHash(hashOf(PASSWORD));

function service(clock = standInClock()) {
  if (cheap === null) throw new Error('expected a valid hash');
  const signIn = createSignIn(cheap, clock);
  const from = (password: string, address: string) => signIn.try(password, { address });
  return { clock, signIn, from };
}

describe('the hash of the device password', () => {
  it('is in PHC form, differs each time, and verifies the password', async () => {
    const [one, other] = await Promise.all([hashPassword(PASSWORD), hashPassword(PASSWORD)]);
    expect(one).toMatch(/^\$scrypt\$ln=15,r=8,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/);
    expect(one).not.toBe(other);
    const parsed = parsePasswordHash(`${one}\n`);
    if (parsed === null) throw new Error('expected an own hash');
    expect(await verifyPassword(PASSWORD, parsed)).toBe(true);
    expect(await verifyPassword(`${PASSWORD} `, parsed)).toBe(false);
  });

  it('does not depend on how a keyboard composes a letter', async () => {
    const parsed = parsePasswordHash(hashOf('schl\u00fcssel'));
    expect(parsed && (await verifyPassword('schlu\u0308ssel', parsed))).toBe(true);
  });

  it('is rejected when it is malformed or its cost is too high', { tags: 'property' }, () => {
    const salt = 'A'.repeat(22);
    const hash = 'B'.repeat(43);
    const good = `$scrypt$ln=15,r=8,p=1$${salt}$${hash}`;
    expect(parsePasswordHash(good)).not.toBeNull();
    for (const bad of [
      '',
      'secret',
      `$argon2id$v=19$m=65536,t=3,p=4$${salt}$${hash}`,
      `$scrypt$ln=30,r=8,p=1$${salt}$${hash}`,
      `$scrypt$ln=15,r=99,p=1$${salt}$${hash}`,
      `$scrypt$ln=15,r=8,p=9$${salt}$${hash}`,
      `$scrypt$ln=0,r=8,p=1$${salt}$${hash}`,
      `$scrypt$ln=15,r=0,p=1$${salt}$${hash}`,
      `$scrypt$ln=15,r=8,p=1$$${hash}`,
      `$scrypt$ln=15,r=8,p=1$${salt}$`,
      `${good}$x`,
    ]) {
      expect(parsePasswordHash(bad), bad).toBeNull();
    }
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(parsePasswordHash(text)).toBeNull();
      }),
    );
  });
});

describe('signing in', () => {
  it('accepts five wrong attempts a minute from one address, then none, even the right one', async () => {
    const { clock, from } = service();
    for (let i = 0; i < failedTryRules.wrongTries; i += 1) {
      expect(await from('wrong', '192.0.2.1')).toEqual({ kind: 'wrong' });
      clock.advance(1_000);
    }
    expect(await from(PASSWORD, '192.0.2.1')).toEqual({ kind: 'too-many-tries', retryAfterS: 55 });
    expect((await from(PASSWORD, '192.0.2.2')).kind).toBe('signed-in');
    clock.advance(55_000);
    expect((await from(PASSWORD, '192.0.2.1')).kind).toBe('signed-in');
  });

  it('accepts one attempt at a time from an address, so that each is counted', async () => {
    const { from } = service();
    await from('wrong', '192.0.2.1');
    const outcomes = await Promise.all(Array.from({ length: 9 }, () => from('wrong', '192.0.2.1')));
    const kinds = outcomes.map(({ kind }) => kind);
    expect(kinds.filter((kind) => kind === 'wrong')).toHaveLength(failedTryRules.wrongTries - 1);
    expect(kinds.filter((kind) => kind === 'busy')).toHaveLength(5);
    expect((await from(PASSWORD, '192.0.2.1')).kind).toBe('too-many-tries');
  });

  it('checks the limit again after waiting: an attempt queued behind a fifth wrong one is not checked', async () => {
    const { from } = service();
    for (let i = 1; i < failedTryRules.wrongTries; i += 1) await from('wrong', '192.0.2.1');
    const outcomes = await Promise.all(['wrong', PASSWORD].map((password) => from(password, '192.0.2.1')));
    expect(outcomes.map(({ kind }) => kind)).toEqual(['wrong', 'too-many-tries']);
  });

  it('permits two people at one address to sign in at the same moment', async () => {
    const { from } = service();
    const outcomes = await Promise.all([1, 2, 3].map(() => from(PASSWORD, '192.0.2.1')));
    expect(outcomes.map(({ kind }) => kind)).toEqual(['signed-in', 'signed-in', 'signed-in']);
  });

  it('treats an IPv6 network, and a mapped IPv4 address, as one peer', async () => {
    const { from } = service();
    const ends = [':1', ':2', '3:4:5:6', 'ffff::', ':'];
    for (const address of ends.map((end) => `2001:db8:1:2:${end}`))
      expect((await from('wrong', address)).kind).toBe('wrong');
    expect((await from(PASSWORD, '2001:db8:1:2::9')).kind).toBe('too-many-tries');
    expect((await from(PASSWORD, '2001:db8:1:3::9')).kind).toBe('signed-in');
    for (let i = 0; i < 5; i += 1) await from('wrong', '::ffff:192.0.2.9');
    expect((await from(PASSWORD, '192.0.2.9')).kind).toBe('too-many-tries');
  });

  it('ends a session after 30 idle minutes, and after 12 hours however busy it is', async () => {
    const { signIn, clock, from } = service();
    const open = async () => {
      const outcome = await from(PASSWORD, '192.0.2.1');
      return outcome.kind === 'signed-in' ? outcome.token : '';
    };
    const idle = await open();
    clock.advance(sessionRules.idleMs - 1);
    expect(signIn.isSignedIn(idle)).toBe(true);
    clock.advance(sessionRules.idleMs);
    expect(signIn.isSignedIn(idle)).toBe(false);

    const busy = await open();
    for (let spent = 0; spent < sessionRules.maxMs - 60_000; spent += 60_000) {
      clock.advance(60_000);
      expect(signIn.isSignedIn(busy)).toBe(true);
    }
    clock.advance(60_000);
    expect(signIn.isSignedIn(busy)).toBe(false);
  });

  it('keeps a bounded number of sessions and rejects an invented token', async () => {
    const { signIn, from } = service();
    const tokens: string[] = [];
    for (let i = 0; i < sessionRules.sessions + 1; i += 1) {
      const outcome = await from(PASSWORD, '192.0.2.1');
      if (outcome.kind === 'signed-in') tokens.push(outcome.token);
    }
    expect(new Set(tokens).size).toBe(sessionRules.sessions + 1);
    expect(signIn.isSignedIn(tokens[0] ?? '')).toBe(false);
    expect(signIn.isSignedIn(tokens.at(-1) ?? '')).toBe(true);
    for (const token of ['', 'x', '__proto__', 'A'.repeat(43)]) expect(signIn.isSignedIn(token)).toBe(false);
  });
});

describe('POST and DELETE /api/anmeldung', () => {
  it('open and end a session that only the browser holds', async () => {
    await using server = await startServer({ password: true });
    const { status, headers } = await postJson(server.full, '/api/anmeldung', { password: PASSWORD });
    expect(status).toBe(200);
    const setCookie = headers.get('set-cookie') ?? '';
    for (const one of [/HttpOnly/i, /SameSite=Strict/i, /Path=\//i, /Max-Age=43200/i]) expect(setCookie).toMatch(one);
    const cookie = setCookie.split(';')[0] ?? '';
    const settings = (value: string) => ask(server.full, '/api/einstellungen', { headers: { cookie: value } });
    expect((await settings(cookie)).status).toBe(200);
    expect((await settings(`${cookie}x`)).status).toBe(401);
    expect((await settings(`other=1; ${cookie}`)).status).toBe(200);
    const out = await ask(server.full, '/api/anmeldung', { method: 'DELETE', headers: { cookie } });
    expect([out.status, out.headers.get('set-cookie')]).toEqual([200, expect.stringMatching(/gw_session=;/)]);
    expect((await settings(cookie)).status).toBe(401);
    expect((await ask(server.full, '/api/anmeldung', { method: 'DELETE' })).status).toBe(200);
  });

  it('end the session of an earlier sign-in of the same browser', async () => {
    await using server = await startServer({ password: true });
    const isOpen = async (cookie: string) =>
      (await ask(server.full, '/api/einstellungen', { headers: { cookie } })).status === 200;
    const [old, other] = [await signIn(server.full), await signIn(server.full)];
    const again = (password: string) => postJson(server.full, '/api/anmeldung', { password }, { cookie: old });
    expect((await again('wrong')).status).toBe(401);
    expect(await isOpen(old)).toBe(true);
    const renewed = (await again(PASSWORD)).headers.get('set-cookie')?.split(';')[0] ?? '';
    expect([await isOpen(old), await isOpen(renewed), await isOpen(other)]).toEqual([false, true, true]);
  });

  it('answer 401 five times, then 429 with the time to wait', async () => {
    await using server = await startServer({ password: true });
    for (let i = 0; i < 5; i += 1) {
      const { status, data } = await postJson(server.full, '/api/anmeldung', { password: 'wrong' });
      expect([status, data.error.code]).toEqual([401, 'SIGN_IN_FAILED']);
    }
    const { status, headers, data } = await postJson(server.full, '/api/anmeldung', { password: PASSWORD });
    expect([status, data.error.code, headers.get('retry-after')]).toEqual([429, 'TOO_MANY_TRIES', '60']);
    server.clock.advance(60_000);
    await expect(signIn(server.full)).resolves.toMatch(/^gw_session=/);
  });

  it('work as a form too, without script', async () => {
    await using server = await startServer({ password: true });
    const form = (password: string) =>
      ask(server.full, '/api/anmeldung', { method: 'POST', body: new URLSearchParams({ password }) });
    const wrong = await form('wrong');
    expect(wrong.status).toBe(401);
    expect(wrong.data).toContain('Das Kennwort ist falsch.');
    const right = await form(PASSWORD);
    expect([right.status, right.headers.get('location')]).toEqual([303, '/']);
    const cookie = right.headers.get('set-cookie')?.split(';')[0] ?? '';
    expect((await ask(server.full, '/anmeldung', { headers: { cookie } })).data).toContain('Sie sind angemeldet');
    const init = { method: 'POST', headers: { cookie }, body: new URLSearchParams() };
    const out = await ask(server.full, '/api/abmeldung', init);
    expect([out.status, out.headers.get('location')]).toEqual([303, '/anmeldung']);
    expect((await ask(server.full, '/api/einstellungen', { headers: { cookie } })).status).toBe(401);
  });
});

describe('an unusable password file', () => {
  it('prevents sign-in, leaves STOP and pages working, is reported, and its content is never shown', async () => {
    await using server = await startServer({ password: true });
    const passwordFile = join(server.dir, 'bad');
    await writeFile(passwordFile, 'hunter2-in-clear', { mode: 0o600 });
    const logged: string[] = [];
    const keep = (...fields: unknown[]) => void logged.push(JSON.stringify(fields));
    const site = { ...server.site, operator: { ...server.site.operator, passwordFile } };
    const log = { debug: keep, info: keep, warn: keep, error: keep };
    await using other = await startServer({ more: { site, log } });
    const { application, full: at } = other;
    const post = (path: string, body: object) => postJson(at, path, body);
    const answers = {
      signIn: await post('/api/anmeldung', { password: 'hunter2-in-clear' }),
      empty: await post('/api/anmeldung', { password: '0' }),
      page: await ask(at, '/anmeldung'),
      stop: await post('/api/stopp', { reason: 'test' }),
    };
    expect(answers.signIn).toMatchObject({ status: 503, data: { error: { code: 'SIGN_IN_UNAVAILABLE' } } });
    expect(answers.empty.status).toBe(503);
    expect(answers.page.data).toContain('Kennwortdatei');
    expect(answers.stop.status).toBe(200);
    expect((await post('/api/stopp/freigabe', {})).status).toBe(401);
    expect(application.signInTrouble).toContain(passwordFile);
    expect(logged.join()).toContain('device password unusable');
    expect(JSON.stringify([logged, answers])).not.toMatch(/hunter2/);
  });
});
