import { mkdtemp, open, rm, truncate, writeFile } from 'node:fs/promises';
import { createServer, get, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fileContent } from '../../../src/lib/operator/media/file-content.ts';
import { isFull } from '../../properties.ts';
import { until } from '../../waiting.ts';

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

  /** Serves this part; `sent` has the bytes that were read once it has ended, either way. */
  async function serve(first: number, last: number, announced = last - first + 1) {
    const { promise: sent, resolve } = Promise.withResolvers<number>();
    const responses: ServerResponse[] = [];
    const server = createServer(async (_request, response) => {
      responses.push(response);
      const content = fileContent(await open(path), first, last);
      response.writeHead(200, { 'content-length': announced });
      await content.sendTo(response);
      resolve(content.bytesRead);
    });
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    const { port } = server.address() as AddressInfo;
    return {
      responses,
      sent,
      /** An answer of which nothing is read yet. */
      asked: () => new Promise<IncomingMessage>((answered) => get({ port, agent: false }, answered)),
      [Symbol.asyncDispose]: async () => {
        server.closeAllConnections();
        server.close();
      },
    };
  }
  const bytesOf = async (answer: IncomingMessage) => Buffer.concat(await answer.toArray());

  it.each([
    [0, whole.length - 1],
    [0, 0],
    [1_048_575, 1_048_576],
    [300_000, 12_000_000],
  ])('from byte %d to %d is sent as it is, also to one that reads late', async (first, last) => {
    await using server = await serve(first, last);
    const answer = await server.asked();
    // It waits for its reader, or is in the buffers of the kernel as a whole.
    await until(
      () => server.responses[0],
      (response) => response?.writableNeedDrain === true || response?.writableFinished === true,
    );
    expect((await bytesOf(answer)).equals(whole.subarray(first, last + 1))).toBe(true);
    expect(await server.sent).toBe(last - first + 1);
  });

  it('is sent as it is to many readers at once, and to one after them', { tags: 'large' }, async () => {
    await using server = await serve(0, whole.length - 1);
    const read = async () => (await bytesOf(await server.asked())).equals(whole);
    const readers = Array.from({ length: isFull ? 8 : 3 }, read);
    expect(new Set(await Promise.all(readers))).toEqual(new Set([true]));
    expect(await read()).toBe(true);
  });

  it('that was cut meanwhile does not look complete', async () => {
    await truncate(path, 300_000);
    await using server = await serve(0, whole.length - 1);
    await expect(server.asked().then(bytesOf)).rejects.toThrow();
    await writeFile(path, whole);
  });

  it('ends with a reader that leaves', async () => {
    await using server = await serve(0, whole.length - 1, 10 * whole.length);
    const answer = await server.asked();
    answer.once('data', () => answer.destroy());
    expect(await server.sent).toBeLessThanOrEqual(whole.length);
  });
});
