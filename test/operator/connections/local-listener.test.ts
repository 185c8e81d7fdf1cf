import { chmod, lstat, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { requesterOf } from '../../../src/lib/operator/connections/address.ts';
import type { Listener } from '../../../src/lib/operator/connections/listener.ts';
import { openLocalListener } from '../../../src/lib/operator/operator.ts';
import { startServer } from '../server.ts';

let dir: string;
let path: string;
const opened: Listener[] = [];

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'gw-local-'));
  path = join(dir, 'local', 'gw.sock');
});

afterEach(async () => {
  await Promise.all(opened.splice(0).map((listener) => listener.close(0)));
  await rm(dir, { recursive: true, force: true });
});

async function open(handle: Parameters<typeof openLocalListener>[0] = (_request, response) => response.end('hello')) {
  const listener = await openLocalListener(handle, { path, onBroken: () => {} });
  opened.push(listener);
  return listener;
}

function askLocally(method: string, url: string): Promise<{ status: number; body: string }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number; body: string }>();
  const sent = request({ socketPath: path, method, path: url, headers: { host: 'localhost' } }, async (response) => {
    let body = '';
    for await (const chunk of response) body += chunk;
    resolve({ status: response.statusCode ?? 0, body });
  });
  sent.once('error', reject);
  sent.end();
  return promise;
}

describe('the local socket for commands on the gateway', () => {
  it('is signed in where no device password is set, and a network connection cannot pose as it', async () => {
    await using server = await startServer({ password: false });
    await server.motion.stopRobot('tested', 'other');
    await open(server.application.handle);
    const overTcp = await fetch(`http://127.0.0.1:${server.full}/api/stopp`, {
      method: 'DELETE',
      headers: { 'x-forwarded-for': 'unix', forwarded: 'for=unix', 'x-scope': 'local' },
    });
    expect(overTcp.status).toBe(401);
    expect(await askLocally('DELETE', '/api/stopp')).toMatchObject({ status: 200 });
    expect(server.motion.status().stop.latched).toBe(false);
  });

  it('is a command to the journal and to the pages, like one over the network', async () => {
    await open((request, response) => response.end(requesterOf({ raw: request, headers: request.headers })));
    expect((await askLocally('POST', '/api/stopp')).body).toBe('gw command');
  });

  it('gets absolute paths in every answer, unlike a network connection', async () => {
    await using server = await startServer();
    const { stop } = server.motion.status();
    server.motion.set({ stop: { ...stop, unsavedBecause: `${server.dir}/state/stop.json cannot be written (EIO).` } });
    await open(server.application.handle);
    expect((await askLocally('GET', '/api/stopp')).body).toContain(`${server.dir}/state/stop.json cannot`);
    const overTcp = await fetch(`http://127.0.0.1:${server.full}/api/stopp`);
    expect(await overTcp.text()).toContain('"stateDir/stop.json cannot');
  });

  it('is in a folder that only its owner may enter, also with a wide umask', async () => {
    const before = process.umask(0);
    try {
      await open();
    } finally {
      process.umask(before);
    }
    expect((await lstat(dirname(path))).mode & 0o777).toBe(0o700);
    expect(await askLocally('GET', '/')).toMatchObject({ body: 'hello' });
  });

  it('rejects a folder that others may enter, and a link to one', async () => {
    await mkdir(dirname(path), { mode: 0o755 });
    for (const mode of [0o755, 0o750, 0o710, 0o720, 0o701]) {
      await chmod(dirname(path), mode);
      const unfit = { code: 'FILE_UNWRITABLE', message: expect.stringMatching(/open to/) };
      await expect(open()).rejects.toMatchObject(unfit);
    }
    await rm(dirname(path), { recursive: true });
    await mkdir(join(dir, 'elsewhere'), { mode: 0o700 });
    await symlink(join(dir, 'elsewhere'), dirname(path));
    await expect(open()).rejects.toMatchObject({ code: 'FILE_UNWRITABLE' });
  });

  it('replaces a stale socket of a killed daemon', async () => {
    await mkdir(dirname(path), { mode: 0o700 });
    const leaver = createServer();
    await new Promise<void>((resolve) => leaver.listen({ path: `${path}.left` }, resolve));
    const { rename } = await import('node:fs/promises');
    await rename(`${path}.left`, path);
    await new Promise((resolve) => leaver.close(resolve));
    expect((await lstat(path)).isSocket()).toBe(true);
    await open();
    expect(await askLocally('GET', '/')).toMatchObject({ status: 200 });
  });

  it('keeps a socket that answers, and any other file', async () => {
    await open();
    const opening = (at: string) => openLocalListener(() => {}, { path: at, onBroken: () => {} });
    await expect(opening(path)).rejects.toMatchObject({ code: 'PORT_IN_USE' });
    expect(await askLocally('GET', '/')).toMatchObject({ body: 'hello' });
    const other = join(dir, 'local', 'file');
    await writeFile(other, 'kept');
    await expect(opening(other)).rejects.toMatchObject({ code: 'PORT_UNUSABLE' });
  });

  it('is removed with its listener, and reports why a path is unusable', async () => {
    const listener = await open();
    await listener.close(0);
    opened.pop();
    await expect(lstat(path)).rejects.toMatchObject({ code: 'ENOENT' });
    path = join(dir, 'x'.repeat(120), 'gw.sock');
    await expect(open()).rejects.toMatchObject({ code: 'PORT_UNUSABLE', message: expect.stringMatching(/107 bytes/) });
  });
});
