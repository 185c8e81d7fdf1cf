import { createHash, randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { download } from '../../../src/lib/cloud/storage/download.ts';
import type { TransferLimits, TransferOptions } from '../../../src/lib/cloud/storage/model.ts';
import { GwError } from '../../../src/lib/error/index.ts';
import { systemClock } from '../../../src/lib/lifecycle/index.ts';
import { runProcess } from '../../process.ts';
import { createSteppedClock, during } from '../stepped-clock.ts';
import { type Answer, answering, cutting, SECRET, serving, storageServer, trust } from './storage-server.ts';

const quick: Partial<TransferLimits> = { firstBackoffMs: 1, maxBackoffMs: 2, progressBytes: 1_000 };
const content = randomBytes(300_000);
/** Shorter than the content: its length alone says that it is another file. */
const packed = gzipSync(Buffer.alloc(300_000));

async function folder() {
  const dir = await mkdtemp(join(tmpdir(), 'gw-download-'));
  return { dir, path: join(dir, 'package.tar'), [Symbol.asyncDispose]: () => rm(dir, { recursive: true }) };
}

/** A storage with these answers, and a folder for the file. */
async function storage(...answers: Parameters<typeof storageServer>) {
  const [server, at] = [await storageServer(...answers), await folder()];
  const load = (over: Partial<TransferOptions> = {}, path = at.path) =>
    download(target(path), optionsFor(server.url, over));
  return {
    ...{ ...at, server, received: server.received, partial: `${at.path}.partial` },
    /** Downloads the file, by default to its place. */
    load,
    /** Downloads it, and what it must hold then. */
    async loaded(over: Partial<TransferOptions> = {}) {
      await load(over);
      expect((await readFile(at.path)).equals(content)).toBe(true);
    },
    failure: async (over: Partial<TransferOptions> = {}, path?: string) => await failureOf(load(over, path)),
    ranges: () => server.received.map(({ headers }) => headers.range),
    async [Symbol.asyncDispose]() {
      await at[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}

const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

function optionsFor(url: string, over: Partial<TransferOptions> = {}): TransferOptions {
  return { url: async () => ({ url }), trust, signal: new AbortController().signal, limits: quick, ...over };
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
  it.each(['', 'identity', 'aws-chunked', 'aws-chunked,', 'gzip', 'identity, identity', 'GZIP, x-unknown'])(
    'of the announced size and hash is the file, whatever its Content-Encoding says (%j)',
    async (coding) => {
      await using at = await storage((request, response) => {
        response.setHeader('content-encoding', coding);
        serving(content)(request, response);
      });
      await at.loaded();
    },
  );

  it('stores what came over the wire, also where that is a packed file', async () => {
    const file = gzipSync('a file that is kept packed');
    await using at = await storage(answering(200, { 'content-encoding': 'gzip' }, file));
    await download(target(at.path, file), optionsFor(at.server.url));
    expect(await readFile(at.path)).toEqual(file);
  });

  it('stores the file under its name, readable by its owner only, and leaves no partial file', async () => {
    await using at = await storage(serving(content));
    const seen: number[] = [];
    await at.load({ onProgress: (bytes) => seen.push(bytes) });
    expect(await readFile(at.path)).toEqual(content);
    expect(await readdir(at.dir)).toEqual(['package.tar']);
    expect((await stat(at.path)).mode & 0o777).toBe(0o600);
    expect(seen.at(-1)).toBe(content.length);
    expect(at.received[0]?.headers['accept-encoding']).toBe('identity');
  });

  it('asks for nothing when the file is there already, and asks again when its content is another', async () => {
    await using at = await storage(serving(content));
    await writeFile(at.path, content);
    await at.load();
    expect(at.received).toEqual([]);
    await writeFile(at.path, Buffer.alloc(content.length));
    await at.loaded();
  });

  it('continues after a cut with the bytes that are missing', async () => {
    await using at = await storage(cutting(content, 100_000), serving(content));
    await at.loaded();
    expect(at.received[1]?.headers.range).toMatch(/^bytes=[1-9]\d*-299999$/);
  });

  it.each([
    ['restarts without Range after a 206 with another part', 'bytes 0-299999/300000'],
    ['restarts without Range after a 206 with no Content-Range', undefined],
    ['restarts without Range after a 206 with a malformed Content-Range', 'bytes 5-299999'],
    ['restarts without Range after a 206 with a part beyond the end', 'bytes 5-300000/300001'],
    ['uses nothing of a 206 that starts at another byte', 'bytes 10-299999/300000'],
  ])('%s', async (_what, contentRange) => {
    const mismatched = answering(206, contentRange === undefined ? {} : { 'content-range': contentRange }, content);
    await using at = await storage(mismatched, serving(content));
    await writeFile(at.partial, content.subarray(0, 5));
    await at.load();
    expect(at.ranges()).toEqual(['bytes=5-299999', undefined]);
    expect(await readFile(at.path)).toEqual(content);
  });

  const all = content.length;
  it.each<[string, Buffer, Answer[], (string | undefined)[]]>([
    ['continues the partial file of an earlier run of gw', content.subarray(0, 123_456), [], ['bytes=123456-299999']],
    [
      'starts anew with the answer of a storage that ignores Range',
      content.subarray(0, 5),
      [answering(200, {}, content)],
      ['bytes=5-299999'],
    ],
    ['restarts after 416', content.subarray(0, all - 1), [answering(416)], ['bytes=299999-299999', undefined]],
    [
      'discards a partial file that belongs to another package, once the hash shows it',
      randomBytes(100_000),
      [],
      ['bytes=100000-299999', undefined],
    ],
    [
      'discards a partial file that is larger than the package, which is no wrong download',
      randomBytes(all + 1),
      [serving(randomBytes(all))],
      [undefined, undefined],
    ],
  ])('%s', async (_what, partial, answers, ranges) => {
    await using at = await storage(...answers, serving(content));
    await writeFile(at.partial, partial);
    await at.loaded();
    expect(at.ranges()).toEqual(ranges);
  });

  it('does not write through a link in place of the partial file', async () => {
    await using at = await storage(serving(content));
    const victim = join(at.dir, 'victim');
    await writeFile(victim, 'untouched');
    await symlink(victim, at.partial);
    await at.load();
    expect(await readFile(victim, 'utf8')).toBe('untouched');
    expect(await readFile(at.path)).toEqual(content);
  });

  it('asks for another URL after 403 and 400, and reports the old one as expired', async () => {
    await using at = await storage(answering(403), answering(400), serving(content));
    const asked: boolean[] = [];
    const url = async ({ expired }: { expired: boolean }) => {
      asked.push(expired);
      return { url: at.server.url };
    };
    await at.load({ url });
    expect(asked).toEqual([false, true, true]);
  });

  it('waits while the cloud gives no URL, and rejects with every other error', async () => {
    await using at = await storage(serving(content));
    let calls = 0;
    const url = async () => {
      calls += 1;
      if (calls < 3) throw new GwError('CLOUD_NOT_CONNECTED', 'not connected: no link to the cloud.');
      return { url: at.server.url };
    };
    await at.load({ url });
    expect(calls).toBe(3);
    const broken = optionsFor(at.server.url, { url: () => Promise.reject(new GwError('RELEASE_INVALID', 'no')) });
    expect((await failureOf(download(target(join(at.dir, 'other')), broken))).code).toBe('RELEASE_INVALID');
  });

  it('tries again after 500, 503 and 429', async () => {
    await using at = await storage(answering(500), answering(503), answering(429), serving(content));
    await at.load();
    expect(at.received).toHaveLength(4);
  });

  it('continues over more cuts than it has tries, as long as each brings more of the file', async () => {
    let until = 0;
    let arrived = () => {};
    // Cuts the connection when what was sent has arrived.
    const piece: Answer = async (request, response) => {
      const first = Number(/^bytes=(\d+)-/.exec(request.headers.range ?? '')?.[1] ?? 0);
      const head = { 'content-length': content.length - first };
      if (first === 0) response.writeHead(200, head);
      else response.writeHead(206, { ...head, 'content-range': `bytes ${first}-299999/300000` });
      until = first + 20_000;
      response.write(content.subarray(first, until));
      await new Promise<void>((resolve) => {
        arrived = resolve;
      });
      response.destroy();
    };
    const pieces = Array.from({ length: 12 }, () => piece);
    await using at = await storage(...pieces, serving(content));
    const onProgress = (bytes: number) => bytes === until && arrived();
    await at.loaded({ limits: { ...quick, progressBytes: 20_000, maxTries: 3 }, onProgress });
    expect(at.received.length).toBeGreaterThan(10);
  });
});

describe('a download is refused', () => {
  it('after a wrong hash twice, and leaves nothing behind', async () => {
    await using at = await storage(serving(randomBytes(content.length)));
    const error = await at.failure();
    expect(error).toMatchObject({ code: 'STORAGE_REFUSED' });
    expect(error.message).toContain('SHA-256');
    expect(at.received).toHaveLength(2);
    expect(await readdir(at.dir)).toEqual([]);
  });

  it('when the storage has a file of another size, without reading it', async () => {
    await using at = await storage(serving(Buffer.concat([content, content])));
    const error = await at.failure();
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
    await using at = await storage(endless);
    let most = 0;
    const onProgress = (bytes: number) => {
      most = Math.max(most, bytes);
    };
    const error = await at.failure({ onProgress });
    expect(error).toMatchObject({ code: 'STORAGE_REFUSED' });
    expect(error.message).toContain('more than the announced 300000 bytes');
    expect(most).toBeLessThanOrEqual(content.length);
  });

  it('after 403 three times', async () => {
    await using at = await storage(answering(403));
    const error = await at.failure();
    expect(error).toMatchObject({ code: 'STORAGE_REFUSED', exitCode: 4 });
    expect(error.tried).toMatchObject({
      address: '127.0.0.1',
      port: at.server.port,
      action: 'GET /bucket/package.tar',
    });
    expect(at.received).toHaveLength(3);
  });

  it.each<[string, Answer]>([
    [
      'whose length is known',
      answering(200, { 'content-encoding': 'gzip', 'content-length': `${packed.length}` }, packed),
    ],
    [
      'of the same length',
      answering(200, { 'content-encoding': 'gzip' }, Buffer.concat([packed, content]).subarray(0, content.length)),
    ],
  ])('for an answer in another coding %s, which is not undone', async (_what, answer) => {
    await using at = await storage(answer);
    const error = await at.failure();
    expect(error).toMatchObject({
      code: 'STORAGE_REFUSED',
      message: expect.stringContaining('Content-Encoding: gzip'),
    });
    expect(at.received).toHaveLength(2);
    expect(await readdir(at.dir)).toEqual([]);
  });

  it.each([301, 302, 307, 308])('for a redirect (%i), which is not followed', async (status) => {
    await using elsewhere = await storageServer(serving(content));
    await using at = await storage(answering(status, { location: `${elsewhere.url}` }));
    const error = await at.failure();
    expect(error.message).toContain(`answered with ${status}, a redirect to 127.0.0.1`);
    expect(elsewhere.received).toEqual([]);
  });

  it.each<[string, Answer, string]>([
    ...[401, 404, 410, 412].map((status): [string, Answer, string] => [`${status}`, answering(status), `${status}`]),
  ])('for %s', async (_what, answer, text) => {
    await using at = await storage(answer);
    expect(await at.failure()).toMatchObject({ code: 'STORAGE_REFUSED', message: expect.stringContaining(text) });
    expect(at.received).toHaveLength(1);
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
    await using at = await storage(serving(content));
    const storageUrl = `${at.server.origin}/base`;
    const error = await failureOf(download(target(at.path), optionsFor(url(at.server.port), { storageUrl })));
    expect(error.code).toBe('STORAGE_REFUSED');
    expect(error.message).toContain(text);
    expect(at.received).toEqual([]);
  });
});

describe('a download fails as not reachable', () => {
  it('for an answer in another coding whose length is not known', async () => {
    await using at = await storage(
      answering(200, { 'content-encoding': 'gzip', 'transfer-encoding': 'chunked' }, packed),
    );
    const error = await at.failure({ limits: { ...quick, maxTries: 3 } });
    expect(error).toMatchObject({
      code: 'STORAGE_NOT_REACHABLE',
      message: expect.stringContaining('Content-Encoding: gzip'),
    });
  });

  it('after its tries, naming what was tried, and keeps the partial file', async () => {
    await using at = await storage(cutting(content, 500));
    const limits = { ...quick, maxTries: 3 };
    const error = await at.failure({ limits });
    expect(error).toMatchObject({ code: 'STORAGE_NOT_REACHABLE', exitCode: 3 });
    expect(error.message).toContain('Download failed 3 times: the connection was cut');
    expect(error.tried).toMatchObject({ address: '127.0.0.1', port: at.server.port });
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
    await using at = await storage(serving(content));
    const options = optionsFor(at.server.url, { trust: undefined, limits: { ...quick, maxTries: 2 } });
    const error = await failureOf(download(target(at.path), options));
    expect(error.message).toMatch(
      /its chain is incomplete, or its CA is not in cloud.caFile \(UNABLE_TO_|its chain ends in another CA: TLS interception/,
    );
    expect(at.received).toEqual([]);
  });

  it('for a body that ends too early again and again', async () => {
    const short = (_request: unknown, response: import('node:http').ServerResponse) =>
      response.writeHead(200, { 'transfer-encoding': 'chunked' }).end(content.subarray(0, 400));
    await using at = await storage(short);
    const error = await at.failure();
    expect(error.code).toBe('STORAGE_NOT_REACHABLE');
    expect(error.message).toContain('the answer ended after 400 of 300000 bytes');
  });

  it('when no byte comes within the idle time', async () => {
    const clock = createSteppedClock();
    await using at = await storage(() => {});
    const limits = { ...quick, maxTries: 1 };
    const error = await during(clock, at.failure({ clock, limits }));
    expect(error.message).toContain('no data was transferred for 30 s');
  });

  it('when only single bytes arrive', async () => {
    const clock = createSteppedClock();
    const dripping = async (_request: unknown, response: import('node:http').ServerResponse) => {
      response.writeHead(200, { 'content-length': content.length });
      using _every = clock.every(5_000, () => response.destroyed || response.write('x'));
      await new Promise((resolve) => response.on('close', resolve));
    };
    await using at = await storage(dripping);
    const limits = { ...quick, maxTries: 1 };
    const error = await during(clock, at.failure({ clock, limits }));
    expect(error.message).toMatch(/only \d+ bytes were transferred within 60 s/);
  });
});

describe('a download that cannot be written', () => {
  it('rejects with the reason of the operating system', async () => {
    await using at = await storage(serving(content));
    await writeFile(join(at.dir, 'file'), '');
    const error = await failureOf(download(target(join(at.dir, 'file', 'x')), optionsFor(at.server.url)));
    expect(error).toMatchObject({ code: 'FILE_UNWRITABLE' });
    await mkdir(at.partial);
    await writeFile(join(at.partial, 'kept'), '');
    const second = await at.failure();
    expect(second).toMatchObject({ code: 'FILE_UNWRITABLE' });
    expect(at.received).toEqual([]);
  });

  it('ends with the signal at once, also while it waits', async () => {
    await using at = await storage(answering(503));
    const ending = new AbortController();
    const clock = {
      ...systemClock,
      sleep: (_ms: number, signal?: AbortSignal) => {
        ending.abort(new Error('over'));
        return systemClock.sleep(60_000, signal);
      },
    };
    await expect(
      download(target(at.path), optionsFor(at.server.url, { clock, signal: ending.signal })),
    ).rejects.toThrow('over');
  });
});

/** The first lines run as this user, the others as one who owns the folders and not what is in them. */
it('in a process of its own trusts the CA certificates of this machine, and keeps what it may not open', {
  tags: 'large',
}, async () => {
  await using at = await storage(serving(content));
  await using owned = await folder();
  const place = (name: string) => ({ dir: join(owned.dir, name), path: join(owned.dir, name, 'package.tar') });
  const [partial, whole, many] = [place('partial'), place('whole'), place('many')];
  const kept = [`${partial.path}.partial`, whole.path, `${many.path}.partial`];
  for (const { dir } of [partial, whole, many]) await mkdir(dir);
  for (const path of kept) await writeFile(path, content.subarray(0, 1_000));
  await writeFile(join(at.dir, 'ca.pem'), trust);
  const source = new URL('../../../src/lib/cloud/storage/', import.meta.url).href;
  const program = `
    import { chmodSync, chownSync, openSync } from 'node:fs';
    const { download } = await import('${source}download.ts');
    const { openPartial } = await import('${source}partial-file.ts');
    const { signal } = new AbortController();
    const shown = (work) => work.then(() => console.log('resolved'), ({ code, message }) => console.log(code, message));
    const url = async () => ({ url: ${JSON.stringify(at.server.url)} });
    const noUrl = async () => { throw new Error('asked for a URL'); };
    await shown(download(${JSON.stringify(target(at.path))}, { url, trust: undefined, signal }));
    for (const path of ${JSON.stringify(kept.slice(0, 2))}) chmodSync(path, 0);
    if (process.getuid() === 0) {
      for (const dir of ${JSON.stringify([owned.dir, partial.dir, whole.dir, many.dir])}) chownSync(dir, 65534, 65534);
      process.seteuid(65534);
    }
    await shown(download(${JSON.stringify(target(partial.path))}, { url: noUrl, trust: '', signal }));
    await shown(download(${JSON.stringify(target(whole.path))}, { url: noUrl, trust: '', signal }));
    try { for (;;) openSync('/dev/null'); } catch {}
    await shown(openPartial(${JSON.stringify(many.path)}, 300_000));
    process.exit(0);`;
  const shell = 'ulimit -n 60; exec "$0" --no-warnings --input-type=module -e "$1"';
  const env = { PATH: process.env.PATH, NODE_EXTRA_CA_CERTS: join(at.dir, 'ca.pem') };
  const { stdout, stderr } = await runProcess('sh', ['-c', shell, process.execPath, program], { env });
  expect(stdout.split('\n'), stderr).toEqual([
    'resolved',
    expect.stringMatching(/^FILE_UNWRITABLE .*package.tar.partial in.*this user has no permission/),
    expect.stringMatching(/^FILE_UNWRITABLE .*package.tar in.*this user has no permission/),
    expect.stringContaining('too many open files'),
    '',
  ]);
  expect(await readFile(at.path)).toEqual(content);
  for (const path of kept) {
    expect(await readdir(dirname(path))).toEqual([basename(path)]);
    expect((await stat(path)).size).toBe(1_000);
  }
});

async function closedServer() {
  await using server = await storageServer(answering(200));
  return { port: server.port };
}
