import { createHash, randomBytes } from 'node:crypto';
import { chmod, mkdtemp, readdir, readFile, rename, rm, stat, symlink, writeFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Answer, CloudRequest, Requester } from '../../../src/lib/cloud/gate/model.ts';
import { addUpload, parseMeta, readSpool, tidySpool, writeEntry } from '../../../src/lib/cloud/storage/spool.ts';
import { uploadOnce } from '../../../src/lib/cloud/storage/upload.ts';
import { createUploads } from '../../../src/lib/cloud/storage/uploads.ts';
import { GwError } from '../../../src/lib/error/index.ts';
import type { Log } from '../../../src/lib/lifecycle/index.ts';
import { isFull } from '../../properties.ts';
import { fresh } from '../fresh.ts';
import { createSteppedClock, during } from '../stepped-clock.ts';
import { answering, SECRET, storageServer, trust } from './storage-server.ts';

type StorageAnswer = Extract<Answer, { kind: 'storage' }>['storage'];
const sha256 = (bytes: Buffer | string) => createHash('sha256').update(bytes).digest('hex');

interface World {
  /** Answers to the requests for a URL, in order; the last one for all further ones. */
  readonly answers?: readonly (Answer | GwError)[];
  readonly storageUrl?: string;
  /** Called at every request for a URL, before its answer. */
  readonly onAsk?: () => Promise<unknown>;
}

/** A spool in a new folder, uploads over it, and what they asked for and logged. */
async function worldWith(url: string, { answers, storageUrl, onAsk }: World = {}) {
  const home = await mkdtemp(join(tmpdir(), 'gw-uploads-'));
  const dir = join(home, 'cloud', 'uploads');
  const clock = createSteppedClock();
  const asked: CloudRequest[] = [];
  const logged: string[] = [];
  const write = (fields: object, message: string) => void logged.push(`${message} ${JSON.stringify(fields)}`);
  const log: Log = { debug: write, info: write, warn: write, error: write };
  const requester: Requester = {
    async ask(request) {
      asked.push(request);
      await onAsk?.();
      const given = answers?.[Math.min(asked.length, answers.length) - 1];
      if (given instanceof GwError) throw given;
      return given ?? { kind: 'storage', storage: { url, headers: { 'x-meta-serial': 'SN0007' } } };
    },
  };
  const state = { connected: true, caFileProblem: null as string | null, trustReads: 0 };
  const ending = new AbortController();
  const start = () =>
    createUploads({
      ...{ dir, requester, topic: 'gw/SN0007/storage', storageUrl },
      trust: () => {
        state.trustReads += 1;
        if (state.caFileProblem !== null) throw new GwError('STORAGE_NOT_REACHABLE', state.caFileProblem);
        return trust;
      },
      connected: () => state.connected,
      clock,
      log,
    });
  const uploads = start();
  let running: Promise<void> | undefined;
  return {
    ...{ home, dir, clock, asked, logged, state, uploads, start },
    async add(content: Buffer | string, name = 'maps/a.tar.gz') {
      const file = join(home, 'archive');
      await writeFile(file, content);
      return await addUpload(dir, { file, name, limits: { reserveBytes: 0 } });
    },
    run() {
      running = uploads.run(ending.signal);
    },
    /** Lets time pass until a condition holds. */
    until: (what: string, is: () => boolean) => clock.until(what, is, 24 * 3_600_000),
    /** Until the nth archive has this state, by default the only one until it is uploaded. */
    reached: (state = 'uploaded', nth = 0) => clock.until(state, () => uploads.view()[nth]?.state === state, 3_600_000),
    async [Symbol.asyncDispose]() {
      ending.abort();
      await running;
      await rm(home, { recursive: true });
    },
  };
}

/** A world with a storage that gives these answers first, and then keeps what was PUT. */
async function stored(...first: Parameters<typeof storageServer>[0][]) {
  const bodies: Buffer[] = [];
  const server = await storageServer(...first, keeping(bodies));
  const world = await worldWith(server.url);
  return {
    ...{ ...world, server, bodies },
    async [Symbol.asyncDispose]() {
      await world[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}

/** Keeps what was PUT, and answers. */
function keeping(bodies: Buffer[], status = 200) {
  return async (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    bodies.push(Buffer.concat(chunks));
    response.writeHead(status).end();
  };
}

const it = test.extend('world', fresh(stored)).extend(
  'spool',
  fresh(() => worldWith('')),
);

describe('the spool', () => {
  it('keeps a copy of the archive, for its owner only, with size and hash', async ({ spool: world }) => {
    const { entry, isNew } = await world.add('content');
    expect(isNew).toBe(true);
    expect(entry).toMatchObject({ name: 'maps/a.tar.gz', bytes: 7, sha256: sha256('content'), state: 'waiting' });
    expect((await stat(world.dir)).mode & 0o777).toBe(0o700);
    for (const name of await readdir(world.dir)) expect((await stat(join(world.dir, name))).mode & 0o777).toBe(0o600);
    // The person may change or remove the original.
    await writeFile(join(world.home, 'archive'), 'something else');
    expect(await readFile(join(world.dir, `${entry.id}.data`), 'utf8')).toBe('content');
    expect((await readSpool(world.dir)).entries).toEqual([entry]);
  });

  it('keeps the order of adding, also with a wall clock that goes back', async ({ spool: world }) => {
    const names = ['maps/c', 'maps/a', 'maps/b'];
    for (const [i, name] of names.entries()) {
      const file = join(world.home, 'archive');
      await writeFile(file, name);
      await addUpload(world.dir, { file, name, now: new Date(Date.UTC(2026, 0, 9 - i)), limits: { reserveBytes: 0 } });
    }
    expect((await readSpool(world.dir)).entries.map(({ name }) => name)).toEqual(names);
  });

  it('adds the same archive once, and refuses another content under its name', async ({ spool: world }) => {
    const { entry } = await world.add('one');
    expect(await world.add('one')).toEqual({ entry, isNew: false });
    await expect(world.add('two')).rejects.toMatchObject({ code: 'FILE_EXISTS' });
    expect((await readdir(world.dir)).length).toBe(2);
  });

  it('adds one of two archives that get the same name at the same moment', async ({ spool: world }) => {
    const files = await Promise.all(
      ['one', 'two', 'two', 'one'].map(async (content, i) => {
        const file = join(world.home, `archive-${i}`);
        await writeFile(file, content);
        return file;
      }),
    );
    const added = await Promise.allSettled(
      files.map((file) => addUpload(world.dir, { file, name: 'maps/a', limits: { reserveBytes: 0 } })),
    );
    const { entries } = await readSpool(world.dir);
    expect(entries).toHaveLength(1);
    // The one with the same content is there already, the others are refused.
    const outcomes = added.map((each) => (each.status === 'fulfilled' ? each.value.isNew : each.reason.code));
    expect(outcomes.toSorted()).toEqual(['FILE_EXISTS', 'FILE_EXISTS', false, true]);
    expect(await readdir(world.dir)).toHaveLength(2);
  });

  it('retries a refused archive when it is added again', async ({ spool: world }) => {
    const { entry } = await world.add('one');
    await writeEntry(world.dir, { ...entry, state: 'refused', detail: 'no' });
    expect(await world.add('one')).toMatchObject({ isNew: true, entry: { state: 'waiting' } });
    expect((await readSpool(world.dir)).entries).toHaveLength(1);
  });

  it('refuses an archive that changed after it was verified, one that is missing, and a bad name', async ({
    spool: world,
  }) => {
    const file = join(world.home, 'archive');
    await writeFile(file, 'content');
    const add = (over: object) => addUpload(world.dir, { file, name: 'maps/a', limits: { reserveBytes: 0 }, ...over });
    await expect(add({ sha256: sha256('other') })).rejects.toMatchObject({ code: 'FILE_UNREADABLE' });
    await expect(add({ file: `${file}-missing` })).rejects.toMatchObject({ code: 'FILE_UNREADABLE' });
    await expect(add({ file: world.home })).rejects.toMatchObject({ code: 'FILE_UNREADABLE' });
    for (const name of ['../a', 'maps/../../a', '/a', 'a/', '.a', 'a b', 'a\nb', '', 'x'.repeat(201)]) {
      await expect(add({ name })).rejects.toMatchObject({ code: 'USAGE' });
    }
    expect(await readdir(world.dir)).toEqual([]);
  });

  it('is bounded by number, size and free space', async ({ spool: world }) => {
    const file = join(world.home, 'archive');
    await writeFile(file, 'content');
    const add = (limits: object) =>
      addUpload(world.dir, { file, name: 'maps/a', limits: { reserveBytes: 0, ...limits } });
    await expect(add({ maxEntries: 0 })).rejects.toMatchObject({ code: 'FILE_UNWRITABLE' });
    await expect(add({ maxBytes: 6 })).rejects.toMatchObject({ code: 'FILE_UNWRITABLE' });
    await expect(add({ reserveBytes: 1e18 })).rejects.toMatchObject({ code: 'FILE_UNWRITABLE' });
    await add({});
  });

  it('refuses a folder that others may read', async ({ spool: world }) => {
    await world.add('one');
    await chmod(world.dir, 0o755);
    await expect(world.add('two', 'maps/b')).rejects.toMatchObject({ code: 'FILE_UNWRITABLE' });
  });

  it('removes what a crash left: old drafts and data without a record, and nothing younger', async ({
    spool: world,
  }) => {
    const { entry } = await world.add('one');
    for (const name of ['00000007-0123abcd.data', '00000008-0123abcd.data.draft'])
      await writeFile(join(world.dir, name), '');
    const { entries } = await readSpool(world.dir);
    await tidySpool(world.dir, entries, new Date());
    expect(await readdir(world.dir)).toHaveLength(4);
    await tidySpool(world.dir, entries, new Date('2100-01-01'));
    expect((await readdir(world.dir)).sort()).toEqual([`${entry.id}.data`, `${entry.id}.json`]);
  });

  it('removes a refused entry whose replacement was added before a power cut', async ({ spool: world }) => {
    const { entry: old } = await world.add('one');
    await writeEntry(world.dir, { ...old, state: 'refused', detail: 'no' });
    const { entry: other } = await world.add('two', 'maps/b');
    await writeEntry(world.dir, { ...other, state: 'refused', detail: 'no' });
    const left = await readFile(join(world.dir, `${old.id}.json`));
    const { entry } = await world.add('one');
    await writeFile(join(world.dir, `${old.id}.json`), left);
    const kept = await tidySpool(world.dir, (await readSpool(world.dir)).entries, new Date());
    expect(kept.map(({ id }) => id)).toEqual([other.id, entry.id]);
    expect((await readSpool(world.dir)).entries).toEqual(kept);
  });

  it('keeps the last 20 records of uploaded archives', async ({ spool: world }) => {
    for (let i = 0; i < 22; i += 1) {
      const { entry } = await world.add(`content ${i}`, `maps/${i}`);
      await writeEntry(world.dir, { ...entry, state: 'uploaded' });
    }
    await tidySpool(world.dir, (await readSpool(world.dir)).entries, new Date());
    const { entries } = await readSpool(world.dir);
    expect(entries.map(({ name }) => name)).toEqual(Array.from({ length: 20 }, (_, i) => `maps/${i + 2}`));
  });

  it('accepts only complete records, from any text', { tags: 'property' }, () => {
    const value = fc.oneof(
      fc.string(),
      fc.integer(),
      fc.constantFrom(null, true, 'waiting', 'maps/a', '../x', 'a'.repeat(64), 7),
    );
    const record = fc.record(
      { name: value, bytes: value, sha256: value, addedAt: value, state: value, detail: value },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          record.map((each) => JSON.stringify(each)),
          fc.json(),
        ),
        (text) => {
          try {
            const { name, bytes, sha256: hash, state } = parseMeta('1', text);
            expect(name).not.toMatch(/(^|\/)\.|^\/|\/$/);
            expect(Number.isSafeInteger(bytes)).toBe(true);
            expect(hash).toMatch(/^[0-9a-f]{64}$/);
            expect(['waiting', 'uploaded', 'refused']).toContain(state);
          } catch (error) {
            expect(error instanceof RangeError || error instanceof SyntaxError).toBe(true);
          }
        },
      ),
    );
  });
});

describe('uploads', () => {
  it('ask for a URL, PUT the archive with the headers of the answer, and keep a record in its place', async () => {
    const bodies: Buffer[] = [];
    await using server = await storageServer(keeping(bodies));
    await using world = await worldWith(server.url, { storageUrl: server.origin });
    const content = randomBytes(3_000_000);
    const { entry } = await world.add(content);
    world.run();
    await world.reached();
    expect(world.asked).toEqual([
      {
        kind: 'storage',
        topic: 'gw/SN0007/storage',
        body: { method: 'PUT', name: 'maps/a.tar.gz', bytes: content.length, sha256: sha256(content) },
      },
    ]);
    expect(bodies).toHaveLength(1);
    expect(bodies[0]?.equals(content)).toBe(true);
    expect(server.received[0]).toMatchObject({
      method: 'PUT',
      headers: { 'content-length': '3000000', 'x-meta-serial': 'SN0007' },
    });
    expect(await readdir(world.dir)).toEqual([`${entry.id}.json`]);
    expect(world.uploads.view()[0]).toMatchObject({ sentBytes: content.length, detail: null });
    expect(world.logged.join()).not.toContain(SECRET);
  });

  it('read an archive in pieces that a slow connection can send one by one', async ({ world }) => {
    const path = join(world.home, 'archive');
    await writeFile(path, randomBytes(100_000));
    const sent: number[] = [];
    const { clock } = world;
    const work = uploadOnce({
      ...{ path, bytes: 100_000, signed: { url: world.server.url }, storageUrl: undefined, trust, clock },
      signal: new AbortController().signal,
      onProgress: (bytes) => sent.push(bytes),
    });
    await during(clock, work);
    expect(sent).toEqual([16_384, 32_768, 49_152, 65_536, 81_920, 98_304, 99_999, 100_000]);
  });

  it.each([
    ['small', 100],
    ['large', 400_000],
  ])('send a %s archive again when the headers alone were confirmed', async (_, size) => {
    const early = answering(200);
    // Before the last byte, which follows after 2 s.
    const late = async (request: IncomingMessage, response: ServerResponse) => {
      await world.clock.sleep(1_000);
      early(request, response);
    };
    await using world = await stored(early, late);
    const { bodies } = world;
    const { entry } = await world.add(randomBytes(size));
    world.run();
    for (const attempts of [1, 2]) {
      await world.until('answered', () => world.logged.filter((line) => line.includes('failed')).length === attempts);
      expect(world.uploads.view()[0]).toMatchObject({
        state: 'waiting',
        detail: expect.stringContaining('the object storage answered before it had everything'),
      });
      expect(await readdir(world.dir)).toContain(`${entry.id}.data`);
    }
    await world.reached();
    expect(bodies.map(sha256)).toEqual([entry.sha256]);
  });

  it('find what another process added while they run, and go oldest first, one at a time', async () => {
    let concurrent = 0;
    let most = 0;
    const bodies: Buffer[] = [];
    const keep = keeping(bodies);
    await using server = await storageServer(async (request, response) => {
      concurrent += 1;
      most = Math.max(most, concurrent);
      await world.clock.sleep(20);
      await keep(request, response);
      concurrent -= 1;
    });
    await using world = await worldWith(server.url);
    world.run();
    await world.clock.advance(60_000);
    for (const name of ['maps/3', 'maps/1', 'maps/2']) await world.add(name, name);
    await world.until(
      'all uploaded',
      () => world.uploads.view().filter(({ state }) => state === 'uploaded').length === 3,
    );
    expect(bodies.map(String)).toEqual(['maps/3', 'maps/1', 'maps/2']);
    expect(most).toBe(1);
  });

  it('wait for the link, and report it', async ({ world }) => {
    world.state.connected = false;
    await world.add('content');
    world.run();
    await world.until('read', () => world.uploads.view().length === 1);
    await world.clock.advance(60_000);
    expect(world.uploads.view()[0]).toMatchObject({ state: 'waiting', detail: 'waits for the link to the cloud' });
    expect(world.asked).toEqual([]);
    world.state.connected = true;
    await world.reached();
  });

  it('ask for another URL after 403', async () => {
    await using world = await stored(answering(403));
    await world.add(randomBytes(2_000_000));
    world.run();
    await world.reached();
    expect(world.asked).toHaveLength(2);
  });

  it.each<[string, Parameters<typeof storageServer>[0]]>([
    ['503', answering(503)],
    ['a cut in the middle', (request) => request.once('data', () => request.destroy())],
    ['202, which confirms nothing', async (request, response) => keeping([], 202)(request, response)],
  ])('try again after %s, and keep the archive', { tags: 'property' }, async (_what, first) => {
    await using world = await stored(first);
    const { bodies } = world;
    const content = randomBytes(isFull ? 20_000_000 : 500_000);
    await world.add(content);
    world.run();
    await world.until('failed', () => world.uploads.view()[0]?.detail?.includes('the last attempt failed') === true);
    expect(await readdir(world.dir)).toHaveLength(2);
    await world.reached();
    expect(bodies.at(-1)?.equals(content)).toBe(true);
  });

  it('try again when the cloud does not answer', async () => {
    const bodies: Buffer[] = [];
    await using server = await storageServer(keeping(bodies));
    const url: Answer = { kind: 'storage', storage: { url: server.url } };
    await using world = await worldWith(server.url, { answers: [new GwError('CLOUD_NO_ANSWER', 'No answer.'), url] });
    await world.add('content');
    world.run();
    await world.reached();
    expect(world.asked).toHaveLength(2);
  });

  const answered = (storage: StorageAnswer): Answer => ({ kind: 'storage', storage });
  it.each<[string, Answer, string]>([
    ['an error', answered({ error: 'quota\u001b[31m exceeded' }), 'the cloud gave no URL: quota?[31m exceeded'],
    [
      'a rejection',
      { kind: 'rejected', rejected: { code: 403, message: 'see https://x.test/?s=1' } },
      '403: see (URL)',
    ],
    ['neither URL nor error', answered({}), 'no reason given'],
    ['a URL elsewhere', answered({ url: `https://evil.test/?s=${SECRET}` }), 'is for evil.test'],
    ['a header of the connection', answered({ url: 'https://127.0.0.1:1/x', headers: { Host: 'x' } }), 'host'],
  ])('keep an archive that was refused by %s', async (what, answer, text) => {
    const storageUrl = what === 'a URL elsewhere' ? 'https://127.0.0.1:2' : 'https://127.0.0.1:1';
    await using world = await worldWith('', { answers: [answer], storageUrl });
    await world.add('content');
    world.run();
    await world.reached('refused');
    expect(world.uploads.view()[0]?.detail).toContain(text);
    expect(world.uploads.view()[0]?.detail).toContain('tried again in');
    expect(await readdir(world.dir)).toHaveLength(2);
    expect(world.logged.join()).not.toContain(SECRET);
    // A restart of gw shows the refusal, and tries again.
    expect((await readSpool(world.dir)).entries[0]).toMatchObject({ state: 'refused' });
    if (what !== 'an error') return;
    await world.clock.advance(20 * 60_000);
    expect(world.asked).toHaveLength(1);
    await world.until('asked again', () => world.asked.length === 2);
  });

  it('refuse after 403 three times, and go on with the next archive', async () => {
    await using world = await stored(answering(403), answering(403), answering(403));
    await world.add('one', 'maps/1');
    await world.add('two', 'maps/2');
    world.run();
    await world.reached('uploaded', 1);
    expect(world.uploads.view()[0]).toMatchObject({ state: 'refused' });
    expect(world.uploads.view()[0]?.detail).toContain('3 times in a row');
  });

  it.each<[string, (data: string) => Promise<void>, string]>([
    ['changed', (data) => writeFile(data, 'other content'), 'has changed'],
    ['was removed', (data) => rm(data), 'is missing'],
    ['was replaced by a link', (data) => rm(data).then(() => symlink('/etc/hostname', data)), 'is missing'],
  ])('name an archive in the spool that %s, and never send it', async (_what, damage, text) => {
    await using world = await stored();
    const { bodies } = world;
    const { entry } = await world.add('the content');
    await world.add('two', 'maps/2');
    await damage(join(world.dir, `${entry.id}.data`));
    world.run();
    await world.reached('uploaded', 1);
    expect(world.uploads.view()[0]?.detail).toContain(`${entry.id}.data in the spool ${text}`);
    expect(bodies.map(String)).toEqual(['two']);
  });

  it('name a damaged record, keep its archive, and go on', async ({ world }) => {
    const { entry } = await world.add('one', 'maps/1');
    await world.add('two', 'maps/2');
    await writeFile(join(world.dir, `${entry.id}.json`), '{"name":"maps/1","by');
    world.run();
    await world.until('uploaded', () => world.uploads.view().some(({ state }) => state === 'uploaded'));
    expect(world.uploads.view()).toContainEqual(
      expect.objectContaining({ state: 'refused', detail: expect.stringContaining(`${entry.id}.json is damaged`) }),
    );
    await world.clock.advance(60_000);
    expect(world.logged.filter((line) => line.includes('is damaged'))).toHaveLength(1);
    expect(await readFile(join(world.dir, `${entry.id}.data`), 'utf8')).toBe('one');
  });

  it('do not send an archive again whose record could not be written, and write it later', async () => {
    const bodies: Buffer[] = [];
    const keep = keeping(bodies);
    let onRequest = async () => {};
    await using server = await storageServer(async (request, response) => {
      await onRequest();
      await keep(request, response);
    });
    await using world = await worldWith(server.url);
    await world.add('content');
    const away = `${world.dir}-away`;
    onRequest = async () => {
      // The folder cannot be written to while the storage confirms the upload.
      await rename(world.dir, away);
      await writeFile(world.dir, '');
    };
    world.run();
    await world.until('logged', () => world.logged.some((line) => line.includes('cannot be read or written')));
    await world.clock.advance(30_000);
    await rm(world.dir);
    await rename(away, world.dir);
    await world.reached();
    await world.clock.advance(30_000);
    expect(bodies.map(String)).toEqual(['content']);
    expect((await readSpool(world.dir)).entries[0]).toMatchObject({ state: 'uploaded' });
  });

  it('wait for a CA file that cannot be read, without reading the archive or asking for a URL', async ({ world }) => {
    const { bodies } = world;
    const { entry } = await world.add('content');
    // An archive that was read would be refused now.
    await writeFile(join(world.dir, `${entry.id}.data`), 'damaged');
    world.state.caFileProblem = '/etc/gw/ca.pem (cloud.caFile) cannot be read (EACCES).';
    world.run();
    await world.until('failed', () => world.uploads.view()[0]?.detail?.includes('the last attempt failed') === true);
    await world.clock.advance(600_000);
    expect(world.uploads.view()[0]).toMatchObject({ state: 'waiting' });
    expect(world.uploads.view()[0]?.detail).toContain(
      'the last attempt failed: /etc/gw/ca.pem (cloud.caFile) cannot be read (EACCES); tried again in',
    );
    expect(world.state.trustReads).toBeLessThan(12);
    expect([world.asked, world.server.received]).toEqual([[], []]);
    await writeFile(join(world.dir, `${entry.id}.data`), 'content');
    world.state.caFileProblem = null;
    await world.reached();
    expect(bodies.map(String)).toEqual(['content']);
  });

  it('do not restore an entry that was replaced while it was refused', async () => {
    await using server = await storageServer(answering(200));
    const refused: Answer = { kind: 'storage', storage: { error: 'quota exceeded' } };
    let isReplaced = false;
    const onAsk = async () => {
      if (isReplaced) return;
      isReplaced = true;
      await writeEntry(world.dir, { ...entry, state: 'refused', detail: 'quota exceeded' });
      await world.add('content');
    };
    await using world = await worldWith(server.url, { answers: [refused], onAsk });
    const { entry } = await world.add('content');
    world.run();
    await world.until('second one refused', () => world.asked.length === 2);
    await world.reached('refused');
    const { entries } = await readSpool(world.dir);
    expect(entries).toHaveLength(1);
    expect(entries[0]?.id).not.toBe(entry.id);
    expect(world.uploads.view()).toHaveLength(1);
    expect(world.logged.filter((line) => line.startsWith('upload refused'))).toHaveLength(1);
  });

  it('do not restore an entry that was removed while it was uploaded', async () => {
    const bodies: Buffer[] = [];
    const keep = keeping(bodies);
    await using server = await storageServer(async (request, response) => {
      for (const name of await readdir(world.dir)) await rm(join(world.dir, name));
      await keep(request, response);
    });
    await using world = await worldWith(server.url);
    await world.add('content');
    world.run();
    await world.until('uploaded', () => world.logged.some((line) => line.startsWith('archive uploaded')));
    await world.clock.advance(30_000);
    await world.until('removed', () => world.uploads.view().length === 0);
    expect(await readdir(world.dir)).toEqual([]);
    expect(bodies.map(String)).toEqual(['content']);
  });

  it('go on after a restart of gw with what was left', async ({ world }) => {
    await world.add('content');
    const ending = new AbortController();
    const again = world.start();
    const running = again.run(ending.signal);
    await world.until('uploaded', () => again.view()[0]?.state === 'uploaded');
    ending.abort();
    await running;
  });
});
