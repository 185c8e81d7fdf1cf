import { mkdtemp, open, rm, writeFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { expect, it } from 'vitest';
import type { Outflow } from '../../../src/lib/operator/connections/outflow.ts';
import { type Handler, scheduled } from '../../../src/lib/operator/http/handler.ts';
import { fileContent } from '../../../src/lib/operator/media/file-content.ts';
import { sendMedia } from '../../../src/lib/operator/media/send-media.ts';
import { until } from '../../waiting.ts';
import { client, head, listener } from '../connections/client.ts';
import { standInClock } from '../stand-ins.ts';

const READERS = 40;
/** More than a round of the event loop may take. */
const WORK_MS = 20;

/** What happened in which order when the disk that all readers wait for answers, and a person stops meanwhile. */
async function orderOf(waits: (disk: Promise<void>, work: () => void) => Handler): Promise<readonly string[]> {
  const clock = standInClock();
  const order: string[] = [];
  const disk = Promise.withResolvers<void>();
  let waiting = 0;
  let worked = () => {};
  const work = () => {
    order.push('work');
    clock.advance(WORK_MS);
    worked();
  };
  const handler = scheduled(waits(disk.promise, work), {});
  const stop = scheduled(
    async () => {
      order.push('stop');
      return () => {
        order.push('answered');
        return {} as FastifyReply;
      };
    },
    { isUrgent: true },
  );
  await using server = await listener(
    (raw, response) => {
      const reply = { send: work } as unknown as FastifyReply;
      const answered = (raw.url === '/stop' ? stop : handler)({ raw } as FastifyRequest, reply);
      void Promise.resolve(answered).then(() => response.end());
      if (raw.url !== '/stop') waiting += 1;
    },
    { clock, isUrgent: ({ url }) => url === '/stop' },
  );
  using clients = new DisposableStack();
  const [person, ...readers] = await Promise.all(Array.from({ length: READERS + 1 }, () => client(server.port)));
  for (const one of [person, ...readers]) if (one) clients.use(one);
  for (const reader of readers) reader.send(head('GET /'));
  await until(
    () => waiting,
    (count) => count === READERS,
  );
  // When the first of them does its work.
  worked = () => {
    worked = () => {};
    person?.send(head('POST /stop', 'Content-Length: 0'));
  };
  disk.resolve();
  await until(
    () => order.length,
    (count) => count === READERS + 2,
  );
  return order;
}

it.each<[string, (disk: Promise<void>, work: () => void) => Handler]>([
  [
    'answers',
    (disk, work) => async () => {
      await disk;
      return () => {
        work();
        return {} as FastifyReply;
      };
    },
  ],
  ['fails', (disk) => () => disk.then(() => Promise.reject(new Error('the disk does not answer')))],
])('what waited and %s takes a turn, so a stop is behind few of them, and its answer too', async (_what, waits) => {
  const order = await orderOf(waits);
  expect(order[0]).toBe('work');
  expect(order.indexOf('stop')).toBeLessThan(READERS / 2);
  // One may run in the same round of the event loop.
  expect(order.indexOf('answered') - order.indexOf('stop')).toBeLessThanOrEqual(2);
});

it.each(['before it is open', 'after it is open'])('a file is closed when its reader is lost %s', async (when) => {
  const dir = await mkdtemp(join(tmpdir(), 'gw-media-'));
  await using undo = new AsyncDisposableStack();
  undo.defer(() => rm(dir, { recursive: true }));
  const path = join(dir, 'clip.mp4');
  await writeFile(path, 'film');
  const handle = await open(path);
  const content = fileContent(handle, 0, 3);
  const file = {
    name: 'clip.mp4',
    bytes: 4,
    contentType: 'video/mp4',
    modified: '',
    inline: true,
    range: null,
    content,
  };
  const requests: IncomingMessage[] = [];
  await using server = await listener((raw) => void requests.push(raw));
  const reader = await client(server.port);
  reader.send(head('GET /'));
  await until(
    () => requests.length,
    (count) => count === 1,
  );
  const raw = requests[0] as IncomingMessage;
  const send = () =>
    sendMedia({ method: 'GET', raw } as unknown as FastifyRequest, {} as FastifyReply, {} as Outflow, file);
  if (when === 'after it is open') send();
  reader.socket.destroy();
  await until(
    () => raw.socket.closed,
    (closed) => closed,
  );
  if (when === 'before it is open') send();
  await until(
    () => handle.fd,
    (fd) => fd === -1,
  );
});
