import { chmod, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { until } from '../../waiting.ts';
import { ask, hashOf, PASSWORD, postJson, signIn, startServer, type TestServer } from '../server.ts';

const NEW = 'battery staple';

/** As `gw operator password` does: complete, and then renamed. */
async function write(server: TestServer, text: string): Promise<void> {
  const path = join(server.dir, 'password');
  await writeFile(`${path}.new`, text, { mode: 0o600 });
  await rename(`${path}.new`, path);
}
const tryOf = async (server: TestServer, password: string) =>
  (await postJson(server.full, '/api/anmeldung', { password })).status;
const isSignedIn = async (server: TestServer, cookie: string) =>
  (await ask(server.full, '/api/einstellungen', { headers: { cookie } })).status === 200;

describe('a device password that is changed while the gateway runs', () => {
  it('counts at the next sign-in, and the old one and its sessions do not any more', async () => {
    await using server = await startServer({ password: true });
    const cookie = await signIn(server.full);
    expect(await isSignedIn(server, cookie)).toBe(true);
    await write(server, hashOf(NEW, 9));
    expect(await tryOf(server, PASSWORD)).toBe(401);
    expect(await tryOf(server, NEW)).toBe(200);
    expect(await isSignedIn(server, cookie)).toBe(false);
  });

  it('ends the sessions of the old one within seconds, without a sign-in', async () => {
    await using server = await startServer({ password: true });
    const cookie = await signIn(server.full);
    await write(server, hashOf(NEW, 9));
    expect(await isSignedIn(server, cookie)).toBe(true);
    server.clock.advance(2_000);
    await until(
      () => isSignedIn(server, cookie),
      (is) => !is,
    );
  });

  it('keeps the sessions where the file was written again with the same hash', async () => {
    await using server = await startServer({ password: true });
    const cookie = await signIn(server.full);
    await write(server, `${hashOf(PASSWORD)}\n`);
    expect(await tryOf(server, PASSWORD)).toBe(200);
    expect(await isSignedIn(server, cookie)).toBe(true);
  });

  it.each([
    ['holds no hash', (server: TestServer) => write(server, 'hunter2-in-clear')],
    ['may be read by others', (server: TestServer) => chmod(join(server.dir, 'password'), 0o644)],
  ])('stays the last one while its file %s, which is reported', async (_, spoil) => {
    await using server = await startServer({ password: true });
    const cookie = await signIn(server.full);
    await spoil(server);
    expect(await tryOf(server, 'hunter2-in-clear')).toBe(401);
    expect(await isSignedIn(server, cookie)).toBe(true);
    expect(server.application.signInTrouble).toMatch(/^the last device password still holds: /);
    await write(server, hashOf(NEW, 9));
    expect(await tryOf(server, NEW)).toBe(200);
    expect(server.application.signInTrouble).toBeNull();
  });

  it('is possible again without a restart where the file was unreadable at the start', async () => {
    const other = await startServer({ password: true });
    await chmod(join(other.dir, 'password'), 0o644);
    const { site } = other;
    await using server = await startServer({ password: false, more: { site } });
    expect(await tryOf(server, PASSWORD)).toBe(503);
    await chmod(join(other.dir, 'password'), 0o600);
    expect(await tryOf(server, PASSWORD)).toBe(200);
    await other[Symbol.asyncDispose]();
  });
});
