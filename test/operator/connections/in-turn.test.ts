import { describe, expect, it } from 'vitest';
import { inTurn } from '../../../src/lib/operator/connections/connection.ts';
import { until } from '../../waiting.ts';
import { standInClock } from '../stand-ins.ts';
import { client, head, listener } from './client.ts';

const READERS = 40;
/** More than a round of the event loop may take. */
const WORK_MS = 20;

describe('what a request does after it had to wait', () => {
  it('takes a turn, so a stop is not behind all that waited for the same', async () => {
    const clock = standInClock();
    const order: string[] = [];
    const disk = Promise.withResolvers<void>();
    let waiting = 0;
    let worked = () => {};
    await using server = await listener(
      (request, response) => {
        if (request.url === '/stop') {
          order.push('stop');
          response.end();
          return;
        }
        const work = () => {
          order.push('work');
          clock.advance(WORK_MS);
          response.end();
          worked();
        };
        waiting += 1;
        void disk.promise.then(() => inTurn(request, work));
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
      (count) => count === READERS + 1,
    );
    expect(order[0]).toBe('work');
    expect(order.indexOf('stop')).toBeLessThan(READERS / 2);
  });

  it('is not done where its connection was lost, and what it throws is passed on', async () => {
    const waits = Promise.withResolvers<void>();
    const done: string[] = [];
    let waiting = 0;
    await using server = await listener((request, response) => {
      waiting += 1;
      const lost = new Promise<void>((resolve) => void request.socket.once('close', resolve));
      const work = () => {
        done.push(request.url ?? '');
        throw new Error('its own');
      };
      void (request.url === '/lost' ? lost : waits.promise)
        .then(() => inTurn(request, work))
        .catch(({ message }: Error) => response.end(message));
    });
    const gone = await client(server.port);
    gone.send(head('GET /lost'));
    await until(
      () => waiting,
      (count) => count === 1,
    );
    gone.socket.destroy();
    using stays = await client(server.port);
    stays.send(head('GET /stays'));
    await until(
      () => waiting,
      (count) => count === 2,
    );
    waits.resolve();
    await stays.until((text) => text.includes('its own'));
    expect(done).toEqual(['/stays']);
  });
});
