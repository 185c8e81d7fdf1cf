import { createHash, randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { download } from '../../../src/lib/cloud/storage/download.ts';
import type { TransferLimits, TransferOptions } from '../../../src/lib/cloud/storage/model.ts';
import { GwError } from '../../../src/lib/error/index.ts';
import { systemClock } from '../../../src/lib/lifecycle/index.ts';
import { createFakeClock } from '../../lifecycle/fake-clock.ts';
import { runProcess } from '../../process.ts';
import { answering, cutting, SECRET, serving, storageServer, trust } from './storage-server.ts';

const quick: Partial<TransferLimits> = { firstBackoffMs: 1, maxBackoffMs: 2, progressBytes: 1_000 };
const content = randomBytes(300_000);

async function folder() {
  const dir = await mkdtemp(join(tmpdir(), 'gw-download-'));
  return { dir, path: join(dir, 'package.tar'), [Symbol.asyncDispose]: () => rm(dir, { recursive: true }) };
}

const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

function optionsFor(url: string, over: Partial<TransferOptions> = {}): TransferOptions {
  return { url: async () => ({ url }), trust, signal: AbortSignal.timeout(20_000), limits: quick, ...over };
}

/** The error of a failed download, which must not show the secret anywhere. */
async function failureOf(work: Promise<void>): Promise<GwError> {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof GwError)) throw new Error(`no GwError but ${error}`);
  for (let at: unknown = error; at instanceof Error; at = at.cause) {
    expect(`${at.message} ${JSON.stringify(at)} ${at.stack}`).not.toContain(SECRET);
  }
  expect(JSON.stringify(error)).not.toContain(SECRET);
  return error;
}

const target = (path: string, of: Buffer = content) => ({ path, bytes: of.length, sha256: sha256(of) });

describe('a download', () => {
  it('stores the file under its name, readable by its owner only, and leaves no partial file', async () => {
    await using server = await storageServer(serving(content));
    await using at = await folder();
    const seen: number[] = [];
    await download(target(at.path), optionsFor(server.url, { onProgress: (bytes) => seen.push(bytes) }));
    expect(await readFile(at.path)).toEqual(content);
    expect(await readdir(at.dir)).toEqual(['package.tar']);
    expect((await stat(at.path)).mode & 0o777).toBe(0o600);
    expect(seen.at(-1)).toBe(content.length);
    expect(server.received[0]?.headers['accept-encoding']).toBe('identity');
  });

  it('asks for nothing when the file is there already, and asks again when its content is another', async () => {
    await using server = await storageServer(serving(content));
    await using at = await folder();
    await writeFile(at.path, content);
    await download(target(at.path), optionsFor(server.url));
    expect(server.received).toEqual([]);
    await writeFile(at.path, Buffer.alloc(content.length));
    await download(target(at.path), optionsFor(server.url));
    expect(await readFile(at.path)).toEqual(content);
  });

  it('continues after a cut with the bytes that are missing', async () => {
    await using server = await storageServer(cutting(content, 100_000), serving(content));
    await using at = await folder();
    await download(target(at.path), optionsFor(server.url));
    expect(await readFile(at.path)).toEqual(content);
    expect(server.received[1]?.headers.range).toMatch(/^bytes=[1-9]\d*-299999$/);
  });

  it('continues the partial file of an earlier run of gw', async () => {
    await using server = await storageServer(serving(content));
    await using at = await folder();
    await writeFile(`${at.path}.partial`, content.subarray(0, 123_456));
    await download(target(at.path), optionsFor(server.url));
    expect(server.received.map(({ headers }) => headers.range)).toEqual(['bytes=123456-299999']);
    expect(await readFile(at.path)).toEqual(content);
  });

  it('starts from the beginning where the storage ignores Range (200), with the same answer', async () => {
    await using server = await storageServer(answering(200, {}, content));
    await using at = await folder();
    await writeFile(`${at.path}.partial`, content.subarray(0, 5));
    await download(target(at.path), optionsFor(server.url));
    expect(server.received).toHaveLength(1);
    expect(await readFile(at.path)).toEqual(content);
  });

  it.each([
    ['another part', 'bytes 0-299999/300000'],
    ['no Content-Range', undefined],
    ['a malformed Content-Range', 'bytes 5-299999'],
    ['a part beyond the end', 'bytes 5-300000/300001'],
  ])('restarts without Range after a 206 with %s', async (_what, contentRange) => {
    const mismatched = answering(206, contentRange === undefined ? {} : { 'content-range': contentRange }, content);
    await using server = await storageServer(mismatched, serving(content));
    await using at = await folder();
    await writeFile(`${at.path}.partial`, content.subarray(0, 5));
    await download(target(at.path), optionsFor(server.url));
    expect(server.received.map(({ headers }) => headers.range)).toEqual(['bytes=5-299999', undefined]);
    expect(await readFile(at.path)).toEqual(content);
  });

  it('uses nothing of a 206 that starts at another byte', async () => {
    const shifted = answering(206, { 'content-range': 'bytes 10-299999/300000' }, content.subarray(10));
    await using server = await storageServer(shifted, serving(content));
    await using at = await folder();
    await writeFile(`${at.path}.partial`, content.subarray(0, 5));
    await download(target(at.path), optionsFor(server.url));
    expect(server.received.map(({ headers }) => headers.range)).toEqual(['bytes=5-299999', undefined]);
  });

  it('discards a partial file that is larger than the package, without counting it as a wrong download', async () => {
    await using server = await storageServer(serving(randomBytes(content.length)), serving(content));
    await using at = await folder();
    await writeFile(`${at.path}.partial`, randomBytes(content.length + 1));
    await download(target(at.path), optionsFor(server.url));
    expect(await readFile(at.path)).toEqual(content);
  });

  it('restarts after 416', async () => {
    await using server = await storageServer(answering(416), serving(content));
    await using at = await folder();
    await writeFile(`${at.path}.partial`, content.subarray(0, 299_999));
    await download(target(at.path), optionsFor(server.url));
    expect(await readFile(at.path)).toEqual(content);
  });

  it('discards a partial file that belongs to another package, once the hash shows it', async () => {
    await using server = await storageServer(serving(content));
    await using at = await folder();
    await writeFile(`${at.path}.partial`, randomBytes(100_000));
    await download(target(at.path), optionsFor(server.url));
    expect(server.received.map(({ headers }) => headers.range)).toEqual(['bytes=100000-299999', undefined]);
    expect(await readFile(at.path)).toEqual(content);
  });

  it('does not write through a link in place of the partial file', async () => {
    await using server = await storageServer(serving(content));
    await using at = await folder();
    const victim = join(at.dir, 'victim');
    await writeFile(victim, 'untouched');
    await symlink(victim, `${at.path}.partial`);
    await download(target(at.path), optionsFor(server.url));
    expect(await readFile(victim, 'utf8')).toBe('untouched');
    expect(await readFile(at.path)).toEqual(content);
  });

  it('asks for another URL after 403 and 400, and reports the old one as expired', async () => {
    await using server = await storageServer(answering(403), answering(400), serving(content));
    await using at = await folder();
    const asked: boolean[] = [];
    const url = async ({ expired }: { expired: boolean }) => {
      asked.push(expired);
      return { url: server.url };
    };
    await download(target(at.path), optionsFor(server.url, { url }));
    expect(asked).toEqual([false, true, true]);
  });

  it('waits while the cloud gives no URL, and rejects with every other error', async () => {
    await using server = await storageServer(serving(content));
    await using at = await folder();
    let calls = 0;
    const url = async () => {
      calls += 1;
      if (calls < 3) throw new GwError('CLOUD_NOT_CONNECTED', 'not connected: no link to the cloud.');
      return { url: server.url };
    };
    await download(target(at.path), optionsFor(server.url, { url }));
    expect(calls).toBe(3);
    const broken = optionsFor(server.url, { url: () => Promise.reject(new GwError('RELEASE_INVALID', 'no')) });
    expect((await failureOf(download(target(join(at.dir, 'other')), broken))).code).toBe('RELEASE_INVALID');
  });

  it('tries again after 500, 503 and 429', async () => {
    await using server = await storageServer(answering(500), answering(503), answering(429), serving(content));
    await using at = await folder();
    await download(target(at.path), optionsFor(server.url));
    expect(server.received).toHaveLength(4);
  });

  it('continues over more cuts than it has tries, as long as each brings more of the file', async () => {
    const pieces = Array.from({ length: 12 }, (_, i) => (request: { headers: { range?: string } }, response: never) => {
      const first = Number(/^bytes=(\d+)-/.exec(request.headers.range ?? '')?.[1] ?? 0);
      const reply = response as import('node:http').ServerResponse;
      const head = { 'content-length': content.length - first };
      if (i === 0) reply.writeHead(200, head);
      else reply.writeHead(206, { ...head, 'content-range': `bytes ${first}-299999/300000` });
      reply.write(content.subarray(first, first + 20_000), () => setTimeout(() => reply.destroy(), 20));
    });
    await using server = await storageServer(...(pieces as unknown as [never]), serving(content));
    await using at = await folder();
    await download(target(at.path), optionsFor(server.url, { limits: { ...quick, maxTries: 3 } }));
    expect(await readFile(at.path)).toEqual(content);
    expect(server.received.length).toBeGreaterThan(10);
  });

  it('trusts the CA certificates of this machine where there is no CA file', { timeout: 30_000 }, async () => {
    await using server = await storageServer(serving(content));
    await using at = await folder();
    await writeFile(join(at.dir, 'ca.pem'), trust);
    const call = `download(${JSON.stringify(target(at.path))}, {
      url: async () => ({ url: ${JSON.stringify(server.url)} }), trust: undefined, signal: AbortSignal.timeout(20_000),
    })`;
    const { stdout } = await inProcess(call, { NODE_EXTRA_CA_CERTS: join(at.dir, 'ca.pem') });
    expect(stdout).toBe('resolved\n');
    expect(await readFile(at.path)).toEqual(content);
  });
});

describe('a download is refused', () => {
  it('after a wrong hash twice, and leaves nothing behind', async () => {
    await using server = await storageServer(serving(randomBytes(content.length)));
    await using at = await folder();
    const error = await failureOf(download(target(at.path), optionsFor(server.url)));
    expect(error).toMatchObject({ code: 'STORAGE_REFUSED' });
    expect(error.message).toContain('SHA-256');
    expect(server.received).toHaveLength(2);
    expect(await readdir(at.dir)).toEqual([]);
  });

  it('when the storage has a file of another size, without reading it', async () => {
    await using server = await storageServer(serving(Buffer.concat([content, content])));
    await using at = await folder();
    const error = await failureOf(download(target(at.path), optionsFor(server.url)));
    expect(error.message).toBe('Download refused: the storage has 600000 bytes, announced were 300000, twice.');
    expect(await readdir(at.dir)).toEqual([]);
  });

  it('for a body without end, which is not written beyond the announced size', async () => {
    const endless = (_request: unknown, response: import('node:http').ServerResponse) => {
      response.writeHead(200);
      const more = () => {
        while (response.write(content) && !response.destroyed);
      };
      response.on('drain', more);
      more();
    };
    await using server = await storageServer(endless);
    await using at = await folder();
    let most = 0;
    const onProgress = (bytes: number) => {
      most = Math.max(most, bytes);
    };
    const error = await failureOf(download(target(at.path), optionsFor(server.url, { onProgress })));
    expect(error).toMatchObject({ code: 'STORAGE_REFUSED' });
    expect(error.message).toContain('more than the announced 300000 bytes');
    expect(most).toBeLessThanOrEqual(content.length);
  });

  it('after 403 three times', async () => {
    await using server = await storageServer(answering(403));
    await using at = await folder();
    const error = await failureOf(download(target(at.path), optionsFor(server.url)));
    expect(error).toMatchObject({ code: 'STORAGE_REFUSED', exitCode: 4 });
    expect(error.tried).toMatchObject({ address: '127.0.0.1', port: server.port, action: 'GET /bucket/package.tar' });
    expect(server.received).toHaveLength(3);
  });

  it.each([301, 302, 307, 308])('for a redirect (%i), which is not followed', async (status) => {
    await using elsewhere = await storageServer(serving(content));
    await using server = await storageServer(answering(status, { location: `${elsewhere.url}` }));
    await using at = await folder();
    const error = await failureOf(download(target(at.path), optionsFor(server.url)));
    expect(error.message).toContain(`answered with ${status}, a redirect to 127.0.0.1`);
    expect(elsewhere.received).toEqual([]);
  });

  it.each([401, 404, 410, 412])('for %i', async (status) => {
    await using server = await storageServer(answering(status));
    await using at = await folder();
    expect((await failureOf(download(target(at.path), optionsFor(server.url)))).code).toBe('STORAGE_REFUSED');
    expect(server.received).toHaveLength(1);
  });

  it('for an encoded answer', async () => {
    await using server = await storageServer(answering(200, { 'content-encoding': 'gzip' }, gzipSync(content)));
    await using at = await folder();
    expect((await failureOf(download(target(at.path), optionsFor(server.url)))).message).toContain('encoded (gzip)');
  });

  it.each([
    ['http', (port: number) => `http://127.0.0.1:${port}/x?s=${SECRET}`, 'is not https://'],
    [
      'another port',
      (port: number) => `https://127.0.0.1:${port + 1}/base/x?s=${SECRET}`,
      'not below cloud.storageUrl',
    ],
    ['another host', (port: number) => `https://localhost:${port}/base/x?s=${SECRET}`, 'is for localhost:'],
    ['another folder', (port: number) => `https://127.0.0.1:${port}/basement/x?s=${SECRET}`, 'not below'],
    ['a folder above', (port: number) => `https://127.0.0.1:${port}/base/%2e%2e/x?s=${SECRET}`, 'not below'],
    ['a password', (port: number) => `https://a:${SECRET}@127.0.0.1:${port}/base/x`, 'a user name or a password'],
    ['no URL', () => `/base/x?${SECRET}`, 'is not a URL'],
    ['a file', () => `file:///etc/passwd?${SECRET}`, 'is not https://'],
  ])('for a URL with %s, and no request is sent', async (_what, url, text) => {
    await using server = await storageServer(serving(content));
    await using at = await folder();
    const storageUrl = `${server.origin}/base`;
    const error = await failureOf(download(target(at.path), optionsFor(url(server.port), { storageUrl })));
    expect(error.code).toBe('STORAGE_REFUSED');
    expect(error.message).toContain(text);
    expect(server.received).toEqual([]);
  });
});

describe('a download fails as not reachable', () => {
  it('after its tries, naming what was tried, and keeps the partial file', async () => {
    await using server = await storageServer(cutting(content, 500));
    await using at = await folder();
    const limits = { ...quick, maxTries: 3 };
    const error = await failureOf(download(target(at.path), optionsFor(server.url, { limits })));
    expect(error).toMatchObject({ code: 'STORAGE_NOT_REACHABLE', exitCode: 3 });
    expect(error.message).toContain('Download failed 3 times: the connection was cut');
    expect(error.tried).toMatchObject({ address: '127.0.0.1', port: server.port });
    expect(await readdir(at.dir)).toEqual(['package.tar.partial']);
  });

  it('when nothing listens', async () => {
    await using at = await folder();
    const { port } = await closedServer();
    const url = `https://127.0.0.1:${port}/x?s=${SECRET}`;
    const error = await failureOf(download(target(at.path), optionsFor(url, { limits: { ...quick, maxTries: 2 } })));
    expect(error.message).toContain('nothing listens on this port');
  });

  it('when the certificate is not of the trusted CA', async () => {
    await using server = await storageServer(serving(content));
    await using at = await folder();
    const options = optionsFor(server.url, { trust: undefined, limits: { ...quick, maxTries: 2 } });
    const error = await failureOf(download(target(at.path), options));
    expect(error.message).toContain('its certificate is not trusted');
    expect(server.received).toEqual([]);
  });

  it('for a body that ends too early again and again', async () => {
    const short = (_request: unknown, response: import('node:http').ServerResponse) =>
      response.writeHead(200, { 'transfer-encoding': 'chunked' }).end(content.subarray(0, 400));
    await using server = await storageServer(short);
    await using at = await folder();
    const error = await failureOf(download(target(at.path), optionsFor(server.url)));
    expect(error.code).toBe('STORAGE_NOT_REACHABLE');
    expect(error.message).toContain('the answer ended after 400 of 300000 bytes');
  });

  it('when no byte comes within the idle time', async () => {
    const clock = createFakeClock();
    const hanging = () => setImmediate(() => void clock.advance(31_000));
    await using server = await storageServer(hanging);
    await using at = await folder();
    const limits = { ...quick, maxTries: 1 };
    const error = await failureOf(download(target(at.path), optionsFor(server.url, { clock, limits })));
    expect(error.message).toContain('no data was transferred for 30 s');
  });

  it('when only single bytes arrive', async () => {
    const clock = createFakeClock();
    const dripping = (_request: unknown, response: import('node:http').ServerResponse) => {
      response.writeHead(200, { 'content-length': content.length });
      const drip = () => {
        if (response.destroyed) return;
        response.write('x');
        void clock.advance(5_000);
        setTimeout(drip, 5);
      };
      drip();
    };
    await using server = await storageServer(dripping);
    await using at = await folder();
    const limits = { ...quick, maxTries: 1 };
    const error = await failureOf(download(target(at.path), optionsFor(server.url, { clock, limits })));
    expect(error.message).toMatch(/only \d+ bytes were transferred within 60 s/);
  });
});

describe('a download that cannot be written', () => {
  it('rejects with the reason of the operating system', async () => {
    await using server = await storageServer(serving(content));
    await using at = await folder();
    await writeFile(join(at.dir, 'file'), '');
    const error = await failureOf(download(target(join(at.dir, 'file', 'x')), optionsFor(server.url)));
    expect(error).toMatchObject({ code: 'FILE_UNWRITABLE' });
    await mkdir(`${at.path}.partial`);
    await writeFile(join(`${at.path}.partial`, 'kept'), '');
    const second = await failureOf(download(target(at.path), optionsFor(server.url)));
    expect(second).toMatchObject({ code: 'FILE_UNWRITABLE' });
    expect(server.received).toEqual([]);
  });

  it.each([
    ['package.tar.partial', 'the partial file'],
    ['package.tar', 'the finished file'],
  ])('keeps %s that it may not open, and asks for no URL', { timeout: 30_000 }, async (name) => {
    await using at = await folder();
    await writeFile(join(at.dir, name), content.subarray(0, 1_000));
    const call = `(async () => {
      const { chmod, chown } = await import('node:fs/promises');
      await chmod(${JSON.stringify(join(at.dir, name))}, 0);
      if (process.getuid() === 0) {
        await chown(${JSON.stringify(at.dir)}, 65534, 65534);
        process.seteuid(65534);
      }
      const url = async () => { throw new Error('asked for a URL'); };
      await download(${JSON.stringify(target(at.path))}, { url, trust: '', signal: AbortSignal.timeout(20_000) });
    })()`;
    const { stdout } = await inProcess(call);
    expect(stdout).toContain('FILE_UNWRITABLE');
    expect(stdout).toContain(`${name} in`);
    expect(stdout).toContain('EACCES');
    expect(await readdir(at.dir)).toEqual([name]);
    expect((await stat(join(at.dir, name))).size).toBe(1_000);
  });

  it('keeps the partial file while this process has too many open files', { timeout: 30_000 }, async () => {
    await using at = await folder();
    await writeFile(`${at.path}.partial`, content.subarray(0, 1_000));
    const call = `(async () => {
      const { openSync } = await import('node:fs');
      try { for (;;) openSync('/dev/null'); } catch {}
      await openPartial(${JSON.stringify(at.path)}, 300_000);
    })()`;
    const { stdout } = await inProcess(call, {}, 60);
    expect(stdout).toContain('EMFILE');
    expect((await stat(`${at.path}.partial`)).size).toBe(1_000);
  });

  it('ends with the signal at once, also while it waits', async () => {
    await using server = await storageServer(answering(503));
    await using at = await folder();
    const ending = new AbortController();
    const clock = {
      ...systemClock,
      sleep: (_ms: number, signal?: AbortSignal) => {
        ending.abort(new Error('over'));
        return systemClock.sleep(60_000, signal);
      },
    };
    await expect(download(target(at.path), optionsFor(server.url, { clock, signal: ending.signal }))).rejects.toThrow(
      'over',
    );
  });
});

/** Evaluates an expression in a process of its own, where it can be run as another user or with few open files. */
async function inProcess(expression: string, env: Readonly<Record<string, string>> = {}, maxOpenFiles?: number) {
  const folderUrl = new URL('../../../src/lib/cloud/storage/', import.meta.url).href;
  const program = `
    const { download } = await import('${folderUrl}download.ts');
    const { openPartial } = await import('${folderUrl}partial-file.ts');
    await ${expression}.then(
      () => console.log('resolved'),
      (error) => console.log(String(error.code), error.message));
    process.exit(0);`;
  const limit = maxOpenFiles === undefined ? '' : `ulimit -n ${maxOpenFiles}; `;
  const shell = `${limit}exec "$0" --no-warnings --input-type=module -e "$1"`;
  const ended = await runProcess('sh', ['-c', shell, process.execPath, program], {
    env: { PATH: process.env.PATH, ...env },
  });
  if (ended.stdout === '') throw new Error(ended.stderr);
  return ended;
}

async function closedServer() {
  await using server = await storageServer(answering(200));
  return { port: server.port };
}
