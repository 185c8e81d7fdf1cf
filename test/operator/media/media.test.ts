import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, statfs, symlink, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createMediaLibrary, mediaName } from '../../../src/lib/operator/media/media.ts';
import { character } from '../../cli/characters.ts';
import { until } from '../../waiting.ts';
import { ask, signIn, startServer, type TestServer } from '../server.ts';
import { sharedServer } from '../shared-server.ts';
import { png } from '../stand-ins.ts';

const filesIn = (server: TestServer) => readdir(join(server.dir, 'media')).catch(() => []);

async function upload(server: TestServer, name: string, content: Uint8Array<ArrayBuffer>, cookie?: string) {
  const form = new FormData();
  form.append('file', new Blob([content]), name);
  return ask(server.full, '/api/medien', { method: 'POST', body: form, headers: cookie ? { cookie } : {} });
}

/** Its folder is empty at first in every test. */
const shared = await sharedServer({ password: true });
const media = join(shared.dir, 'media');
const signedIn = await signIn(shared.full);
const remedyOf = (text: string) => ({ remedy: expect.stringContaining(text) });

let dir: string;
beforeEach(async () => {
  await rm(media, { recursive: true, force: true });
  // What others do in the folder is seen at the next reading.
  shared.clock.advance(1_000);
  dir = join(await mkdtemp(join(tmpdir(), 'gw-media-')), 'small');
});
afterEach(() => rm(dirname(dir), { recursive: true, force: true }));

describe('the media library', () => {
  it('is empty at first, and can be read without sign-in', async () => {
    expect((await ask(shared.full, '/api/medien')).data).toEqual({
      ...{ files: [], moreFiles: 0, maxBytes: 200_000_000, leftBytes: expect.any(Number) },
    });
  });

  it('stores, lists, serves and deletes a file for a signed-in person', async () => {
    const stored = await upload(shared, 'Speisekarte Größe (1).png', new Uint8Array(png), signedIn);
    expect([stored.status, stored.data]).toEqual([
      201,
      { file: expect.objectContaining({ name: 'Speisekarte Größe (1).png', bytes: png.length }), replaced: false },
    ]);
    const path = `/api/medien/${encodeURIComponent('Speisekarte Größe (1).png')}`;
    const response = await fetch(`http://127.0.0.1:${shared.full}${path}`);
    expect(Buffer.from(await response.arrayBuffer()).equals(png)).toBe(true);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'image/png',
      'x-content-type-options': 'nosniff',
      'content-security-policy': expect.stringContaining('sandbox'),
      'content-disposition': expect.stringMatching(/^inline; filename\*=UTF-8''Speisekarte%20Gr/),
    });
    const head = await fetch(`http://127.0.0.1:${shared.full}${path}`, { method: 'HEAD' });
    expect([head.status, head.headers.get('content-length')]).toEqual([200, `${png.length}`]);
    expect((await upload(shared, 'Speisekarte Größe (1).png', new Uint8Array(3), signedIn)).data.replaced).toBe(true);
    expect((await ask(shared.full, path, { method: 'DELETE' })).status).toBe(401);
    expect((await ask(shared.full, path, { method: 'DELETE', headers: { cookie: signedIn } })).status).toBe(200);
    expect((await ask(shared.full, path, { method: 'DELETE', headers: { cookie: signedIn } })).status).toBe(404);
    expect(await filesIn(shared)).toEqual([]);
  });

  it('lists the first thousand files by name, and how many there are beyond them', async () => {
    await mkdir(join(media, '0 folder'), { recursive: true });
    const names = Array.from({ length: 1_003 }, (_, at) => `${String(at).padStart(4, '0')}.txt`);
    await Promise.all(names.map((name) => writeFile(join(media, name), '')));
    const { files, moreFiles } = (await ask(shared.full, '/api/medien')).data;
    expect(files.map(({ name }: { name: string }) => name)).toEqual(names.slice(0, 1_000));
    expect(moreFiles).toBe(3);
  });

  it('rejects uploads without a session', async () => {
    expect((await upload(shared, 'a.png', new Uint8Array(png))).status).toBe(401);
    expect(await filesIn(shared)).toEqual([]);
  });

  it('serves content that could run in a browser for download only', async () => {
    for (const name of ['page.html', 'picture.svg', 'script.js', 'page.xhtml', 'no-ending', 'empty.png']) {
      const content = name === 'empty.png' ? new Uint8Array() : new TextEncoder().encode('<script>alert(1)</script>');
      expect((await upload(shared, name, content, signedIn)).status).toBe(201);
      const { headers, status } = await ask(shared.full, `/api/medien/${name}`);
      expect(status).toBe(200);
      if (name === 'empty.png') continue;
      expect(headers.get('content-type')).toBe('application/octet-stream');
      expect(headers.get('content-disposition')).toMatch(/^attachment;/);
    }
  });

  it('stores no file under a name outside its folder or a hidden name', async () => {
    const names = ['.htaccess', '..', 'a/../../b', '..\\b', 'a\u0000b', ' a', 'a.', '-rf', 'a\nb', '"quoted"'];
    for (const name of [...names, 'x'.repeat(121)]) {
      const { status } = await upload(shared, name, new Uint8Array(3), signedIn);
      expect(status).toBe(400);
    }
    for (const name of await filesIn(shared)) expect(mediaName(name)).toBe(name);
    expect((await readdir(shared.dir)).sort()).toEqual(['main.js', 'password', 'style.css']);
    for (const name of ['..%2fpassword', '%2e%2e%2fpassword', '..%5cpassword', '%2fetc%2fpasswd', '.', '..']) {
      expect((await ask(shared.full, `/api/medien/${name}`)).status).toBe(404);
    }
  });

  it('refuses a name with a folder, and replaces no file that has the last part of it as its name', async () => {
    expect((await upload(shared, 'a.png', new Uint8Array(png), signedIn)).status).toBe(201);
    for (const name of [
      'other/a.png',
      '/tmp/a.png',
      'C:\\Users\\a.png',
      '..\\a.png',
      './a.png',
      'a.png/',
      'b/../a.png',
    ]) {
      const { status, data } = await upload(shared, name, new Uint8Array(3), signedIn);
      expect([name, status, data.error]).toEqual([name, 400, expect.objectContaining(remedyOf('without a folder'))]);
    }
    expect(await filesIn(shared)).toEqual(['a.png']);
    expect(await readFile(join(media, 'a.png'))).toEqual(png);
  });

  it('serves no link, folder or incomplete upload', async () => {
    await mkdir(join(media, 'folder.png'), { recursive: true });
    await symlink(join(shared.dir, 'password'), join(media, 'link.txt'));
    await writeFile(join(media, '.upload-1'), 'part');
    for (const name of ['folder.png', 'link.txt', '.upload-1']) {
      expect((await ask(shared.full, `/api/medien/${name}`)).status).toBe(404);
    }
    expect((await ask(shared.full, '/api/medien')).data.files).toEqual([]);
  });

  it('rejects requests that are not multipart uploads', async () => {
    const send = (type: string, body: string) =>
      ask(shared.full, '/api/medien', { method: 'POST', headers: { cookie: signedIn, 'content-type': type }, body });
    for (const type of ['application/json', 'image/png', 'text/plain', 'multipart/mixed; boundary=x']) {
      const { status, data } = await send(type, '{}');
      expect([type, status, data.error]).toEqual([type, 415, expect.objectContaining(remedyOf('multipart/form-data'))]);
    }
    expect((await send('multipart/form-data', 'x')).status).toBeGreaterThanOrEqual(400);
    expect((await send('multipart/form-data; boundary=x', '--x--\r\n')).status).toBe(400);
    expect(await filesIn(shared)).toEqual([]);
  });

  it('leaves no file of an interrupted upload', async () => {
    const socket = connect({ host: '127.0.0.1', port: shared.full });
    const head = [
      'POST /api/medien HTTP/1.1',
      'Host: localhost',
      `Cookie: ${signedIn}`,
      'Content-Type: multipart/form-data; boundary=b',
      'Content-Length: 1000000',
      '',
      '--b\r\nContent-Disposition: form-data; name="file"; filename="film.mp4"\r\n',
      'x'.repeat(50_000),
    ];
    socket.write(head.join('\r\n'));
    await until(
      () => filesIn(shared),
      ([name = '']) => name.startsWith('.upload-'),
    );
    socket.destroy();
    await until(
      () => filesIn(shared),
      ({ length }) => length === 0,
    );
    expect((await ask(shared.full, '/api/medien')).data.files).toEqual([]);
  });
});

describe('the folder of the library', () => {
  it('accepts a file of exactly the limit, and nothing of a larger one', async () => {
    const library = createMediaLibrary(dir, { maxBytes: 1_000 });
    const content = (bytes: number) => Readable.from([Buffer.alloc(400), Buffer.alloc(bytes - 400)]);
    expect((await library.store('fits.bin', content(1_000))).kind).toBe('stored');
    expect((await library.store('not.bin', content(1_001))).kind).toBe('too-large');
    expect(await readdir(dir)).toEqual(['fits.bin']);
  });

  it('accepts no more than the quota in total, uploads in progress and files copied there among them', async () => {
    const library = createMediaLibrary(dir, { quotaBytes: 1_000 });
    const content = (bytes: number) => Readable.from([Buffer.alloc(bytes)]);
    await mkdir(dir);
    await writeFile(join(dir, 'copied.bin'), Buffer.alloc(300));
    expect((await library.store('a.bin', content(700))).kind).toBe('stored');
    expect((await library.store('b.bin', content(1))).kind).toBe('quota');
    expect(await library.remove('a.bin')).toBe(true);
    const { promise, resolve } = Promise.withResolvers<void>();
    const slow = Readable.from(
      (async function* () {
        yield Buffer.alloc(400);
        await promise;
      })(),
    );
    const first = library.store('c.bin', slow);
    await until(
      () => library.leftBytes(),
      (left) => left === 300,
    );
    expect((await library.store('d.bin', content(400))).kind).toBe('quota');
    resolve();
    expect((await first).kind).toBe('stored');
    expect((await library.store('d.bin', content(300))).kind).toBe('stored');
    expect((await readdir(dir)).sort()).toEqual(['c.bin', 'copied.bin', 'd.bin']);
  });

  it('says how much it still takes: the quota less what is stored and coming in, or what the disk has beyond its reserve', async () => {
    const library = createMediaLibrary(dir, { quotaBytes: 1_000 });
    expect(await library.leftBytes()).toBe(1_000);
    await library.store('a.bin', Readable.from([Buffer.alloc(700)]));
    expect(await library.leftBytes()).toBe(300);
    await writeFile(join(dir, 'copied.bin'), Buffer.alloc(400));
    expect(await library.leftBytes()).toBe(0);
    const { bavail, bsize } = await statfs(tmpdir());
    expect(await createMediaLibrary(dir, { reserveBytes: bavail * bsize * 2 }).leftBytes()).toBe(0);
    const left = await createMediaLibrary(dir).leftBytes();
    expect(left).toBeGreaterThan(0);
    expect(left).toBeLessThan(Number.MAX_SAFE_INTEGER);
    expect(await createMediaLibrary('/not/there/at/all').leftBytes()).toBeNull();
  });

  it('leaves the reserve of the disk free, and reports it before the first byte is written', async () => {
    const { bavail, bsize } = await statfs(tmpdir());
    const library = createMediaLibrary(dir, { reserveBytes: bavail * bsize * 2 });
    expect((await library.store('a.bin', Readable.from([Buffer.alloc(10)]))).kind).toBe('no-space');
    expect(await readdir(dir)).toEqual([]);
  });

  it('applies the quota and the reserve of the site file', async () => {
    const tooMuch = new Uint8Array(1_000_001);
    await using small = await startServer({ password: true, disk: { mediaMb: 1 } });
    const cookie = await signIn(small.full);
    expect((await upload(small, 'fits.bin', tooMuch.slice(1), cookie)).status).toBe(201);
    const more = (await upload(small, 'more.bin', new Uint8Array(1), cookie)).data.error;
    expect(more).toMatchObject({ code: 'NO_SPACE', ...remedyOf('disk.mediaMb') });
    expect(await filesIn(small)).toEqual(['fits.bin']);
    // A terabyte, more than the free space of any test machine.
    await using full = await startServer({ password: true, disk: { reserveMb: 1_000_000 } });
    const refused = await upload(full, 'a.png', new Uint8Array(png), await signIn(full.full));
    expect([refused.status, refused.data.error.remedy]).toEqual([507, expect.stringContaining('disk.reserveMb')]);
    expect(await filesIn(full)).toEqual([]);
  });

  it('that is unusable is reported, and affects nothing else', async () => {
    await symlink('media', media);
    const { status, data } = await ask(shared.full, '/api/medien');
    expect([status, data.error.code]).toEqual([500, 'FILE_UNREADABLE']);
    expect(data.error.message).toContain('too many symbolic links');
    expect((await ask(shared.full, '/api/stopp', { method: 'POST' })).status).toBe(200);
  });

  it.each([
    ['is a file', 'it exists already', () => writeFile(media, 'a file')],
    ['is a link to nothing', 'no such file or folder', () => symlink(join(shared.dir, 'missing'), media)],
    ['is a link to itself', 'too many symbolic links', () => symlink('media', media)],
  ])('that %s refuses an upload with the reason (%s), the path and a remedy', async (_state, reason, prepare) => {
    await prepare();
    const { status, data } = await upload(shared, 'a.png', new Uint8Array(png), signedIn);
    const message = `The media folder ${media} cannot be written (${reason}).`;
    expect([status, data.error]).toEqual([500, { code: 'FILE_UNWRITABLE', message, ...remedyOf('operator.mediaDir') }]);
  });

  it('that is a file is not an empty library', async () => {
    await writeFile(media, 'a file');
    const { status, data } = await ask(shared.full, '/api/medien');
    expect([status, data.error.code]).toEqual([500, 'FILE_UNREADABLE']);
    expect(data.error.message).toContain('a part of the path is no folder');
  });

  it('that became a file while an upload was received keeps the cause, and a sender that is gone keeps its own', async () => {
    const library = createMediaLibrary(dir);
    const replacing = (async function* () {
      yield Buffer.from('half');
      await rm(dir, { recursive: true });
      await writeFile(dir, 'a file');
    })();
    await expect(library.store('a.txt', Readable.from(replacing))).rejects.toMatchObject({ code: 'FILE_UNWRITABLE' });
    await rm(dir);
    const reset = Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET', errno: -104, syscall: 'read' });
    const broken = (async function* () {
      yield Buffer.from('half');
      throw reset;
    })();
    await expect(library.store('a.txt', Readable.from(broken))).rejects.toBe(reset);
    expect(await readdir(dir)).toEqual([]);
  });

  it('serves no link or pipe, even when it replaced a file before the open', async () => {
    await mkdir(dir);
    execFileSync('mkfifo', [join(dir, 'pipe.txt')]);
    await writeFile(join(dir, '..', 'secret'), 'secret');
    await symlink(join(dir, '..', 'secret'), join(dir, 'link.txt'));
    const library = createMediaLibrary(dir);
    expect(await library.open('pipe.txt')).toBeNull();
    expect(await library.open('link.txt')).toBeNull();
    expect(await library.list()).toEqual({ files: [], more: 0 });
  });

  it('keeps the old file until the new one is complete', async () => {
    const library = createMediaLibrary(dir, { maxBytes: 1_000 });
    await library.store('a.txt', Readable.from([Buffer.from('old')]));
    const broken = Readable.from(
      (async function* () {
        yield Buffer.from('new');
        throw new Error('sender disconnected');
      })(),
    );
    await expect(library.store('a.txt', broken)).rejects.toThrow('sender disconnected');
    expect(await readFile(join(dir, 'a.txt'), 'utf8')).toBe('old');
    expect(await readdir(dir)).toEqual(['a.txt']);
  });

  it('is cleaned of incomplete files after a power cut', async () => {
    await mkdir(dir);
    await writeFile(join(dir, '.upload-77'), 'half');
    await writeFile(join(dir, 'whole.txt'), 'whole');
    await createMediaLibrary(dir).tidy();
    expect(await readdir(dir)).toEqual(['whole.txt']);
  });

  it('limits concurrent uploads', async () => {
    const library = createMediaLibrary(dir, { maxBytes: 1_000 });
    const { promise, resolve } = Promise.withResolvers<void>();
    const slow = async function* () {
      await promise;
      yield Buffer.from('x');
    };
    const [first, second, third] = ['a', 'b', 'c'].map((name) => library.store(name, Readable.from(slow())));
    expect((await third)?.kind).toBe('busy');
    resolve();
    expect([(await first)?.kind, (await second)?.kind]).toEqual(['stored', 'stored']);
  });
});

describe('mediaName', () => {
  it('accepts only names that stay in one folder', { tags: 'property' }, () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: character }), fc.stringMatching(/^[./\\a%\0 -]{1,20}$/)), (input) => {
        const name = mediaName(input);
        if (name === null) return;
        expect(join('/library', name)).toBe(`/library/${name}`);
        expect(name).not.toMatch(/[/\\"<>&'\p{Cc}]|^\.|[. ]$/u);
        expect(mediaName(name)).toBe(name);
      }),
    );
  });
});
