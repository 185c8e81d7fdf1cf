import { channel } from 'node:diagnostics_channel';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { Crowding } from '../../src/lib/operator/connections.ts';
import { connectionLimits, openFileLimit, totalWithin } from '../../src/lib/operator/limits.ts';
import { type ListenerOptions, openListener, type RequestHandler } from '../../src/lib/operator/listener.ts';
import { sendRaw, signIn, startServer } from './server.ts';

const head = (line: string, ...more: string[]) =>
  `${[`${line} HTTP/1.1`, 'Host: localhost', ...more].join('\r\n')}\r\n\r\n`;

/** A client that one can watch: what it received, and when the server closed it. All of 127/8 is this machine. */
async function client(port: number, localAddress = '127.0.0.1', reads = true) {
  const socket: Socket = connect({ host: '127.0.0.1', port, localAddress });
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  let text = '';
  let isClosed = false;
  if (reads) {
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
    });
  }
  socket.on('error', () => {});
  socket.on('close', () => {
    isClosed = true;
    resolve();
  });
  await new Promise<void>((connected, failed) => {
    socket.once('connect', connected);
    socket.once('error', failed);
  });
  return {
    socket,
    closed,
    send: (bytes: string) => socket.write(bytes),
    text: () => text,
    isClosed: () => isClosed,
    async until(condition: (text: string) => boolean) {
      while (!condition(text) && !isClosed) await sleep(2);
      return text;
    },
    [Symbol.dispose]: () => void socket.destroy(),
  };
}

/** An answer on a connection of its own. */
async function answerTo(port: number, line: string, localAddress: string): Promise<string> {
  using asked = await client(port, localAddress);
  asked.send(head(line, 'Content-Length: 0', 'Connection: close'));
  await asked.closed;
  return asked.text().split('\r\n', 1)[0] ?? '';
}

async function listener(handler: RequestHandler, options: Partial<ListenerOptions> = {}) {
  const opened = await openListener(handler, { scope: 'full', host: '127.0.0.1', port: 0, ...options });
  return { ...opened, [Symbol.asyncDispose]: () => opened.close(0) };
}

const ok: RequestHandler = (_request, response) => void response.end('ok');
const OK = 'HTTP/1.1 200 OK';

describe('connections without end', () => {
  it('of one address close its own oldest ones, and nobody else waits', async () => {
    await using server = await listener(ok, { limits: { total: 100, perPeer: 4 } });
    using tablet = await client(server.port, '127.0.0.9');
    const greedy = [];
    for (let i = 0; i < 12; i += 1) greedy.push(await client(server.port, '127.0.0.5'));
    await Promise.all(greedy.slice(0, 8).map(({ closed }) => closed));
    expect(greedy.slice(8).map((one) => one.isClosed())).toEqual([false, false, false, false]);
    tablet.send(head('GET /'));
    expect(await tablet.until((text) => text.includes('ok'))).toContain(OK);
    expect(await answerTo(server.port, 'POST /', '127.0.0.2')).toBe(OK);
    // The address that is at its limit is not shut out either.
    expect(await answerTo(server.port, 'POST /', '127.0.0.5')).toBe(OK);
    for (const one of greedy) one.socket.destroy();
  });

  it('of many addresses close the one that was used least recently', async () => {
    const reports: Crowding[] = [];
    let nowMs = 1_000_000;
    await using server = await listener(ok, {
      limits: { total: 6, perPeer: 6, smallPeer: 3 },
      onCrowded: (crowding) => reports.push(crowding),
      clock: { monotonicMs: () => nowMs, after: () => ({ [Symbol.dispose]() {} }) },
    });
    const many = [];
    for (let i = 1; i <= 6; i += 1) many.push(await client(server.port, `127.1.0.${i}`));
    many[0]?.send(head('GET /'));
    await many[0]?.until((text) => text.includes('ok'));
    expect(await answerTo(server.port, 'POST /', '127.0.0.2')).toBe(OK);
    await many[1]?.closed;
    expect(many.map((one) => one.isClosed())).toEqual([false, true, false, false, false, false]);
    for (let i = 7; i <= 9; i += 1) many.push(await client(server.port, `127.1.0.${i}`));
    await many[3]?.closed;
    expect(reports).toEqual([{ evicted: 1, refused: 0, peer: '127.1.0.2', open: 5 }]);
    nowMs += 60_000;
    expect(await answerTo(server.port, 'POST /', '127.0.0.2')).toBe(OK);
    expect(reports).toHaveLength(2);
    expect(reports[1]?.evicted).toBeGreaterThanOrEqual(3);
    for (const one of many) one.socket.destroy();
  });

  it('take no live stream away, and no place from a remote viewer: there all come from one address', async () => {
    await using server = await startServer({ limits: { total: 12, perPeer: 12, smallPeer: 12 } });
    for (const port of [server.full, server.readOnly]) {
      using stream = await client(port);
      stream.send(head('GET /api/events'));
      await stream.until((text) => text.includes('event: state'));
      const others = [];
      for (let i = 0; i < 40; i += 1) others.push(await client(port));
      await Promise.all(others.slice(0, 29).map(({ closed }) => closed));
      expect(stream.isClosed()).toBe(false);
      expect(await answerTo(port, 'GET /api/nachbarn', '127.0.0.1')).toBe(OK);
      for (const one of others) one.socket.destroy();
    }
    expect(connectionLimits['read-only'].perPeer).toBe(connectionLimits['read-only'].total);
  });

  it('stay within the open files of the process, and leave some for the rest', () => {
    expect(totalWithin(512, null)).toBe(512);
    expect(totalWithin(512, 524_288)).toBe(512);
    expect(totalWithin(512, 1_024)).toBe(416);
    expect(totalWithin(512, 64)).toBe(32);
    expect(totalWithin(8, 64)).toBe(8);
    expect(openFileLimit()).toBeGreaterThan(0);
    expect(openFileLimit('/nowhere')).toBeNull();
  });
});

describe('a request that does not come in time', () => {
  it('is 408 when it is the headers', async () => {
    await using server = await listener(ok, { limits: { headersMs: 60 } });
    for (const bytes of ['', 'GET / HTTP/1.1\r\nHost: localhost\r\nX-A: ']) {
      using slow = await client(server.port);
      slow.send(bytes);
      await slow.closed;
      expect(slow.text()).toContain('HTTP/1.1 408 TIMEOUT');
    }
  });

  it('is 408 when it is the body, on the full socket too', async () => {
    await using server = await startServer({ password: true });
    const late = (length: string) =>
      head('POST /api/anmeldung', 'Content-Type: application/json', length) + (length.startsWith('T') ? '5\r\n{' : '{');
    for (const length of ['Content-Length: 16384', 'Transfer-Encoding: chunked']) {
      using slow = await client(server.full);
      slow.send(late(length));
      // Answered behind it on another connection: its headers are in.
      await answerTo(server.full, 'GET /api/health', '127.0.0.1');
      await sleep(20);
      server.clock.advance(connectionLimits.full.bodyMs - 1);
      slow.send(' ');
      await sleep(20);
      expect(slow.isClosed()).toBe(false);
      server.clock.advance(1);
      await slow.closed;
      expect(slow.text()).toContain('HTTP/1.1 408 TIMEOUT');
    }
  });

  it('is cut off when the body of an answered request never ends', async () => {
    await using server = await startServer();
    using slow = await client(server.full);
    slow.send(head('GET /api/health', 'Content-Length: 16384'));
    await slow.until((text) => text.includes('"status"'));
    server.clock.advance(connectionLimits.full.bodyMs);
    await slow.closed;
    expect(slow.text()).not.toContain('408');
  });

  it('may be an upload of a signed-in person for as long as it keeps a least rate', async () => {
    await using server = await startServer({ password: true });
    const cookie = await signIn(server.full);
    const { bodyMs, uploadWindowMs, uploadWindowBytes } = connectionLimits.full;
    const part = '--b\r\nContent-Disposition: form-data; name="file"; filename="a.bin"\r\n\r\n';
    using upload = await client(server.full);
    upload.send(
      head(
        'POST /api/medien',
        `Cookie: ${cookie}`,
        'Content-Type: multipart/form-data; boundary=b',
        'Content-Length: 150000000',
      ) + part,
    );
    await sleep(50);
    server.clock.advance(bodyMs);
    for (let window = 0; window < 2; window += 1) {
      await new Promise((resolve) => upload.socket.write(Buffer.alloc(uploadWindowBytes), resolve));
      await sleep(100);
      server.clock.advance(uploadWindowMs);
      await sleep(20);
      expect(upload.isClosed()).toBe(false);
    }
    upload.send('too little');
    await sleep(20);
    server.clock.advance(uploadWindowMs);
    await upload.closed;
    // Without a session nothing is waited for.
    using stranger = await client(server.full);
    stranger.send(head('POST /api/medien', 'Content-Type: multipart/form-data; boundary=b', 'Content-Length: 1000'));
    await stranger.until((text) => text.includes('NOT_SIGNED_IN'));
    server.clock.advance(bodyMs);
    await stranger.closed;
  });
});

describe('requests on one connection', () => {
  /** Keeps every request until it is told to answer. */
  function holding() {
    const begun: { url: string; response: ServerResponse }[] = [];
    const handler: RequestHandler = ({ url = '' }: IncomingMessage, response) => void begun.push({ url, response });
    return { begun, handler, urls: () => begun.map(({ url }) => url) };
  }

  it('are worked on one after the other, but for a stop', async () => {
    const { begun, handler, urls } = holding();
    await using server = await listener(handler, { isUrgent: ({ url }) => url === '/stop' });
    using one = await client(server.port);
    one.send(head('GET /1') + head('GET /2') + head('GET /stop') + head('GET /3'));
    while (begun.length < 2) await sleep(2);
    expect(urls().sort()).toEqual(['/1', '/stop']);
    for (let i = 0; i < 4; i += 1) {
      while (begun.length <= i) await sleep(2);
      begun[i]?.response.end(`answer to ${begun[i]?.url}.`);
    }
    const text = await one.until((all) => all.includes('to /3.'));
    expect(urls().slice(2)).toEqual(['/2', '/3']);
    expect([...text.matchAll(/answer to (\S+)\./g)].map((match) => match[1])).toEqual(['/1', '/2', '/stop', '/3']);
  });

  it('that nobody waits for end the connection, and the rest of them is not even parsed', async () => {
    const { begun, handler } = holding();
    await using server = await listener(handler);
    let parsed = 0;
    const count = () => {
      parsed += 1;
    };
    channel('http.server.request.start').subscribe(count);
    using flood = await client(server.port);
    flood.send(head('GET /').repeat(2_000));
    await flood.closed;
    channel('http.server.request.start').unsubscribe(count);
    expect(begun.length).toBeLessThanOrEqual(1);
    expect(parsed).toBe(connectionLimits.full.pipelined + 2);
  });

  it('whose answer nobody reads end the connection; one that is worked on for long does not', async () => {
    const { begun, handler } = holding();
    await using server = await listener(handler, { limits: { unreadMs: 40, silentMs: 1_000_000 } });
    using patient = await client(server.port);
    using deaf = await client(server.port, '127.0.0.3', false);
    patient.send(head('GET /'));
    deaf.send(head('GET /'));
    while (begun.length < 2) await sleep(2);
    begun[1]?.response.end(Buffer.alloc(32 * 1024 * 1024));
    // A paused client does not notice by itself that it was cut off.
    await new Promise((resolve) => begun[1]?.response.once('close', resolve));
    expect(patient.isClosed()).toBe(false);
    begun[0]?.response.end('at last');
    expect(await patient.until((text) => text.includes('at last'))).toContain(OK);
  });
});

describe('a stop', () => {
  it('acts as soon as its headers are in, when its body does not come at once', async () => {
    await using server = await startServer();
    for (const [length, begin] of [
      ['Content-Length: 16384', ''],
      ['Content-Length: 16384', '{"reason":"a ch'],
      ['Transfer-Encoding: chunked', '5\r\n{'],
    ] as const) {
      const before = server.motion.calls.length;
      using slow = await client(server.full, '127.0.0.2');
      slow.send(head('POST /api/stopp', 'Content-Type: application/json', length) + begin);
      while (server.motion.calls.length === before) {
        await sleep(5);
        server.clock.advance(10);
      }
      expect(server.motion.calls.slice(before)).toEqual(['stopRobot STOPP']);
      await slow.closed;
      expect(slow.text()).toContain(OK);
      expect(slow.text().toLowerCase()).toContain('connection: close');
    }
  });

  it('counts when its connection breaks off in the middle of its body', async () => {
    await using server = await startServer();
    const gone = await client(server.full);
    gone.send(`${head('POST /api/stopp', 'Content-Length: 100')}{"reason":`);
    await answerTo(server.full, 'GET /api/health', '127.0.0.1');
    gone.socket.resetAndDestroy();
    while (server.motion.calls.length === 0) await sleep(2);
    expect(server.motion.calls).toEqual(['stopRobot STOPP']);
  });

  it('does not wait behind an unfinished request of its own connection', async () => {
    await using server = await startServer();
    using one = await client(server.full);
    one.send(head('GET /api/events') + head('POST /api/stopp', 'Content-Length: 0'));
    while (server.motion.calls.length === 0) await sleep(2);
    expect(server.motion.calls).toEqual(['stopRobot STOPP']);
  });
});

describe('a request without a Host header', () => {
  it('is malformed in HTTP/1.1, and counts like any other', async () => {
    await using server = await startServer();
    for (const port of [server.full, server.readOnly]) {
      const answer = await sendRaw(port, 'GET /api/health HTTP/1.1\r\n\r\n'.repeat(3));
      expect(answer.statuses).toEqual([400]);
      expect(JSON.parse(answer.body).error.code).toBe('BAD_REQUEST');
    }
  });
});
