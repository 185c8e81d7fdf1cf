import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { connectionLimits } from '../../../src/lib/operator/connections/limits.ts';
import type { RequestHandler } from '../../../src/lib/operator/connections/listener.ts';
import { sendRaw, signIn, startServer } from '../server.ts';
import { answerTo, client, head, listener } from './client.ts';

const ok: RequestHandler = (_request, response) => void response.end('ok');
const OK = 'HTTP/1.1 200 OK';

describe('a request that is late', () => {
  it('is 408 when the headers are late', async () => {
    await using server = await listener(ok, { limits: { headersMs: 60 } });
    for (const bytes of ['', 'GET / HTTP/1.1\r\nHost: localhost\r\nX-A: ']) {
      using slow = await client(server.port);
      slow.send(bytes);
      await slow.closed;
      expect(slow.text()).toContain('HTTP/1.1 408 TIMEOUT');
    }
  });

  it('is 408 when the body is late, on the full socket too', async () => {
    await using server = await startServer({ password: true });
    using slow = await client(server.full);
    slow.send(`${head('POST /api/anmeldung', 'Content-Type: application/json', 'Content-Length: 16384')}{`);
    let waitedMs = 0;
    while (!slow.isClosed()) {
      slow.send(' ');
      await sleep(1);
      server.clock.advance(100);
      waitedMs += 100;
    }
    expect(waitedMs).toBeGreaterThanOrEqual(connectionLimits.full.bodyMs);
    await slow.closed;
    expect(slow.text()).toContain('HTTP/1.1 408 TIMEOUT');
  });

  it('is disconnected when the body of an answered request never ends', async () => {
    await using server = await startServer();
    using slow = await client(server.full);
    slow.send(head('GET /api/health', 'Content-Length: 16384'));
    await slow.until((text) => text.includes('"status"'));
    server.clock.advance(connectionLimits.full.bodyMs);
    await slow.closed;
    expect(slow.text()).not.toContain('408');
  });

  it('has its deadline again after an upload on the same connection', async () => {
    await using server = await startServer({ password: true });
    const cookie = await signIn(server.full);
    const body = '--b\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\nall of it\r\n--b--\r\n';
    const type = 'Content-Type: multipart/form-data; boundary=b';
    using one = await client(server.full);
    one.send(head('POST /api/medien', `Cookie: ${cookie}`, type, `Content-Length: ${body.length}`) + body);
    await one.until((text) => text.includes('"replaced"'));
    one.send(`${head('POST /api/anmeldung', 'Content-Type: application/json', 'Content-Length: 16384')}{`);
    for (let i = 0; i < 100 && !one.isClosed(); i += 1) {
      await sleep(5);
      server.clock.advance(100);
    }
    expect(one.text()).toContain('HTTP/1.1 408 TIMEOUT');
  });

  it('may be an upload of a signed-in person while it keeps a minimum rate', async () => {
    await using server = await startServer({ password: true });
    const cookie = await signIn(server.full);
    const { bodyMs, uploadWindowMs, uploadWindowBytes } = connectionLimits.full;
    const part = '--b\r\nContent-Disposition: form-data; name="file"; filename="a.bin"\r\n\r\nits beginning';
    using upload = await client(server.full);
    upload.send(
      head(
        'POST /api/medien',
        `Cookie: ${cookie}`,
        'Content-Type: multipart/form-data; boundary=b',
        'Content-Length: 150000000',
      ) + part,
    );
    /** Bytes of the file received so far; -1 before it began. */
    const receivedBytes = async () => {
      const [name] = await readdir(join(server.dir, 'media')).catch(() => []);
      return name === undefined ? -1 : (await stat(join(server.dir, 'media', name))).size;
    };
    while ((await receivedBytes()) < 0) await sleep(2);
    server.clock.advance(bodyMs);
    const slack = 64 * 1024;
    for (let window = 1; window <= 2; window += 1) {
      upload.socket.write(Buffer.alloc(uploadWindowBytes + slack));
      while ((await receivedBytes()) < window * (uploadWindowBytes + slack) - slack / 4) await sleep(2);
      server.clock.advance(uploadWindowMs);
      await sleep(20);
      expect(upload.isClosed()).toBe(false);
    }
    upload.send('too little');
    await sleep(20);
    server.clock.advance(uploadWindowMs);
    await upload.closed;
    // Without a session the server does not wait for the body.
    using stranger = await client(server.full);
    stranger.send(head('POST /api/medien', 'Content-Type: multipart/form-data; boundary=b', 'Content-Length: 1000'));
    await stranger.until((text) => text.includes('NOT_SIGNED_IN'));
    server.clock.advance(bodyMs);
    await stranger.closed;
  });
});

describe('a stop', () => {
  it('acts once its headers are received, before its body', async () => {
    await using server = await startServer();
    for (const [length, begin] of [
      ['Content-Length: 16384', ''],
      ['Content-Length: 16384', '{"reason":"a ch'],
      ['Transfer-Encoding: chunked', 'ffff\r\n{'],
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

  it('counts when its connection is closed in the middle of its body', async () => {
    await using server = await startServer();
    const gone = await client(server.full);
    gone.send(`${head('POST /api/stopp', 'Content-Length: 100')}{"reason":`);
    await answerTo(server.full, 'GET /api/health', '127.0.0.1');
    gone.socket.resetAndDestroy();
    while (server.motion.calls.length === 0) await sleep(2);
    expect(server.motion.calls).toEqual(['stopRobot STOPP']);
  });

  it('counts when its connection is closed while it is queued', async () => {
    await using server = await startServer();
    // Sent with the connection: in that event loop round a stop must wait for its end.
    using flood = await client(server.full);
    flood.send(head('GET /api/events') + head('POST /api/stopp', 'Content-Length: 0') + head('GET /').repeat(20));
    await flood.closed;
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
  it('is rejected in HTTP/1.1, and counts like any other', async () => {
    await using server = await startServer();
    for (const port of [server.full, server.readOnly]) {
      const answer = await sendRaw(port, 'GET /api/health HTTP/1.1\r\n\r\n'.repeat(3));
      expect(answer.statuses).toEqual([400]);
      expect(JSON.parse(answer.body).error.code).toBe('BAD_REQUEST');
    }
  });
});
