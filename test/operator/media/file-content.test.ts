import { mkdtemp, open, rm, truncate, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fileContent } from '../../../src/lib/operator/media/file-content.ts';

/** More than the kernel keeps for a reader, and no whole number of pieces. */
const whole = Buffer.alloc(12_000_001, Buffer.from(Array.from({ length: 65_521 }, (_, at) => (at * 7) % 251)));

describe('the content of a file', () => {
  let dir: string;
  let path: string;
  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'gw-content-'));
    path = join(dir, 'film.bin');
    await writeFile(path, whole);
  });
  afterAll(() => rm(dir, { recursive: true, force: true }));

  /** Serves this part once; `onSent` is called when it has ended, either way. */
  async function serve(first: number, last: number, announced = last - first + 1) {
    const { promise: sent, resolve } = Promise.withResolvers<number>();
    const server = createServer(async (_request, response) => {
      const content = fileContent(await open(path), first, last);
      response.writeHead(200, { 'content-length': announced });
      await content.sendTo(response);
      resolve(content.bytesRead);
    });
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    return {
      url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
      sent,
      [Symbol.asyncDispose]: async () => {
        server.closeAllConnections();
        server.close();
      },
    };
  }

  it.each([
    [0, whole.length - 1],
    [0, 0],
    [1_048_575, 1_048_576],
    [300_000, 12_000_000],
  ])('from byte %d to %d is sent as it is, also to one that reads slowly', async (first, last) => {
    await using server = await serve(first, last);
    const { body } = await fetch(server.url);
    const read: Uint8Array[] = [];
    await new Promise((resolve) => setTimeout(resolve, 200));
    for await (const chunk of body ?? []) read.push(chunk);
    expect(Buffer.concat(read).equals(whole.subarray(first, last + 1))).toBe(true);
    expect(await server.sent).toBe(last - first + 1);
  });

  it('is sent as it is to many readers at once, and to one after them', async () => {
    await using server = await serve(0, whole.length - 1);
    const read = async () => Buffer.from(await (await fetch(server.url)).arrayBuffer()).equals(whole);
    expect(new Set(await Promise.all(Array.from({ length: 8 }, read)))).toEqual(new Set([true]));
    expect(await read()).toBe(true);
  });

  it('that was cut meanwhile does not look complete', async () => {
    await truncate(path, 300_000);
    await using server = await serve(0, whole.length - 1);
    await expect(fetch(server.url).then((reply) => reply.arrayBuffer())).rejects.toThrow();
    await writeFile(path, whole);
  });

  it('ends with a reader that leaves', async () => {
    await using server = await serve(0, whole.length - 1, 10 * whole.length);
    const leaving = new AbortController();
    const { body } = await fetch(server.url, { signal: leaving.signal });
    await body?.getReader().read();
    leaving.abort();
    expect(await server.sent).toBeLessThanOrEqual(whole.length);
  });
});
