import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { describe, expect, it } from 'vitest';
import { degrees } from '../../src/lib/angle/index.ts';
import { received } from '../motion/snapshot.ts';
import { until } from '../waiting.ts';
import { get, startServer } from './server.ts';
import { tried } from './stand-ins.ts';

/** Reads the events of one stream on arrival. */
async function listen(port: number) {
  const abort = new AbortController();
  const response = await fetch(`http://127.0.0.1:${port}/api/events`, { signal: abort.signal });
  const reader = response.body?.getReader();
  let text = '';
  return {
    status: response.status,
    headers: response.headers,
    /** The next event of this name; undefined at the end of the stream. */
    async next(name: string): Promise<Record<string, never> | undefined> {
      for (;;) {
        const found = await this.any();
        if (found === undefined || found.name === name) return found?.data;
      }
    },
    /** The next event; undefined at the end of the stream. */
    async any(): Promise<{ readonly name: string; readonly data: Record<string, never> } | undefined> {
      for (;;) {
        const end = text.indexOf('\n\n');
        if (end >= 0) {
          const [event = '', data = ''] = text.slice(0, end).split('\n');
          text = text.slice(end + 2);
          return { name: event.slice('event: '.length), data: JSON.parse(data.slice('data: '.length)) };
        }
        const chunk = await reader?.read();
        if (!chunk || chunk.done) return undefined;
        text += new TextDecoder().decode(chunk.value);
      }
    },
    [Symbol.asyncDispose]: async () => abort.abort(),
  };
}

/** A stream of another source address. */
async function listenFrom(localAddress: string, port: number): Promise<IncomingMessage> {
  const pending = request({ host: '127.0.0.1', port, localAddress, path: '/api/events', agent: false }).end();
  const [response] = (await once(pending, 'response')) as [IncomingMessage];
  response.on('error', () => {});
  return response;
}

describe('GET /api/events', () => {
  it('sends the current state, every change, and the growing ages, on both sockets', async () => {
    await using server = await startServer();
    for (const port of [server.full, server.readOnly]) {
      server.link.setState({ kind: 'connected', tried });
      await using stream = await listen(port);
      expect(stream.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
      expect(stream.headers.get('x-content-type-options')).toBe('nosniff');
      expect(await stream.next('state')).toMatchObject({ link: { kind: 'connected' } });
      server.link.setState({ kind: 'not-connected', failure: 'cut', detail: 'connection closed unexpectedly', tried });
      server.clock.advance(250);
      expect(await stream.next('state')).toMatchObject({ link: { failure: 'cut', tried: '127.0.0.1:8090' } });
      server.clock.advance(1_000);
      expect(await stream.next('state')).toBeDefined();
    }
  });

  it('sends a pose alone where nothing else has changed, and what has changed beside it as a state', async () => {
    await using server = await startServer();
    await using stream = await listen(server.full);
    const { data: first } = (await stream.any()) ?? {};
    const at = (xM: number) => {
      server.link.override(
        { values: { ...server.link.snapshot().values, pose: received({ xM, yM: 0, yawDeg: degrees(90) }) } },
        'pose',
      );
      server.clock.advance(50);
    };
    at(1);
    const posed = await stream.any();
    expect(posed).toMatchObject({ name: 'pose', data: { pose: { value: { xM: 1 } }, heading: { value: 90 } } });
    expect(Object.keys(posed?.data ?? {})).toEqual(['pose', 'heading']);
    expect(Object.keys(first ?? {})).toEqual(expect.arrayContaining(Object.keys(posed?.data ?? {})));
    // The state is due with the same event as the pose, whichever changes first.
    for (const [xM, parts] of [
      [2, ['pose', 'standing']],
      [3, ['battery', 'pose']],
    ] as const) {
      server.link.changed(...parts);
      at(xM);
      expect(await stream.any()).toMatchObject({ name: 'state', data: { pose: { value: { xM } } } });
    }
    at(4);
    expect(await stream.any()).toMatchObject({ name: 'pose', data: { pose: { value: { xM: 4 } } } });
    // Once a second all of it, with the ages.
    server.clock.advance(1_000);
    expect(await stream.any()).toMatchObject({ name: 'state', data: { pose: { value: { xM: 4 } } } });
  });

  it('combines many changes into one event', async () => {
    await using server = await startServer();
    await using stream = await listen(server.full);
    await stream.next('state');
    for (let i = 0; i < 100; i += 1) server.link.changed();
    await server.motion.stopRobot('test', 'test');
    server.clock.advance(250);
    expect(await stream.next('state')).toMatchObject({ stop: { latched: true } });
    server.clock.advance(749);
    await server.motion.clearStop('test');
    server.clock.advance(1);
    expect(await stream.next('state')).toMatchObject({ stop: { latched: false } });
  });

  it('accepts a client with few streams when other machines have them all, and rejects one with many', async () => {
    await using server = await startServer();
    // An address has 64 connections at most.
    const shares = { '127.0.0.3': 52, '127.0.0.4': 51, '127.0.0.5': 51, '127.0.0.6': 51, '127.0.0.7': 51 };
    const streams: IncomingMessage[] = [];
    for (const [address, length] of Object.entries(shares)) {
      streams.push(...(await Promise.all(Array.from({ length }, () => listenFrom(address, server.full)))));
    }
    expect(streams.map(({ statusCode }) => statusCode)).toEqual(streams.map(() => 200));
    // Another one of an address with about as many has no priority over the existing ones.
    expect((await listenFrom('127.0.0.4', server.full)).statusCode).toBe(503);
    const ended = streams.map((stream) => once(stream.resume(), 'end'));
    const tablet = await listenFrom('127.0.0.2', server.full);
    expect(tablet.statusCode).toBe(200);
    // The order of arrival is up to the kernel.
    await Promise.race(ended);
    for (const stream of [tablet, ...streams]) stream.destroy();
  });

  it('sends a change at once, and changes that follow each other quickly in one event 40 ms later', async () => {
    await using server = await startServer();
    await using stream = await listen(server.full);
    await stream.next('state');
    await server.motion.stopRobot('first', 'test');
    server.clock.advance(5);
    expect(await stream.next('state')).toMatchObject({ stop: { reason: 'first' } });
    await server.motion.stopRobot('second', 'test');
    server.clock.advance(39);
    await server.motion.stopRobot('third', 'test');
    server.clock.advance(1);
    expect(await stream.next('state')).toMatchObject({ stop: { reason: 'third' } });
  });

  it('limits the number of listeners per socket, and releases the places of closed ones', async () => {
    await using server = await startServer();
    const streams = [];
    for (let i = 0; i < 8; i += 1) streams.push(await listen(server.readOnly));
    expect((await get(server.readOnly, '/api/events')).status).toBe(503);
    await using onSite = await listen(server.full);
    expect(onSite.status).toBe(200);
    for (const stream of streams) await stream[Symbol.asyncDispose]();
    const look = async () => {
      await using again = await listen(server.readOnly);
      return again.status;
    };
    await until(look, (status) => status === 200);
  });

  it('ends its streams when the server stops', async () => {
    await using server = await startServer();
    await using stream = await listen(server.full);
    await stream.next('state');
    server.application.endStreams();
    expect(await stream.next('state')).toBeUndefined();
    expect((await get(server.full, '/api/events')).status).toBe(503);
  });
});
