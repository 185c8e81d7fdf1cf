import { describe, expect, it } from 'vitest';
import { connectionLimits } from '../../../src/lib/operator/connections/limits.ts';
import type { RequestHandler } from '../../../src/lib/operator/connections/listener.ts';
import { until } from '../../waiting.ts';
import { sendRaw, signIn, startServer, type TestServer } from '../server.ts';
import { answerTo, client, head, listener, parsedRequests } from './client.ts';

const ok: RequestHandler = (_request, response) => void response.end('ok');
const OK = 'HTTP/1.1 200 OK';
const isTrue = (is: boolean) => is;

/** Time passes while a request is on its way. */
const passing =
  ({ clock }: TestServer, look: () => boolean, ms: number) =>
  () => {
    clock.advance(ms);
    return look();
  };
const stopped = ({ motion }: TestServer) =>
  until(
    () => motion.calls,
    ({ length }) => length > 0,
  );

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
    const beganMs = server.clock.monotonicMs();
    const look = passing(server, slow.isClosed, 100);
    await until(() => {
      slow.send(' ');
      return look();
    }, isTrue);
    expect(server.clock.monotonicMs() - beganMs).toBeGreaterThanOrEqual(connectionLimits.full.bodyMs);
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
    await until(passing(server, one.isClosed, 100), isTrue);
    expect(one.text()).toContain('HTTP/1.1 408 TIMEOUT');
  });

  it('may be an upload of a signed-in person while it keeps a minimum rate', async () => {
    await using server = await startServer({ password: true });
    const cookie = await signIn(server.full);
    const { bodyMs, uploadWindowMs, uploadWindowBytes } = connectionLimits.full;
    const type = 'Content-Type: multipart/form-data; boundary=b';
    const part = '--b\r\nContent-Disposition: form-data; name="file"; filename="a.bin"\r\n\r\nits beginning';
    using upload = await client(server.full);
    using parsed = parsedRequests();
    let sentBytes = 0;
    /** Until the server has read and parsed it. */
    const send = async (bytes: string) => {
      upload.send(bytes);
      sentBytes += bytes.length;
      await until(
        () => [parsed[0]?.socket.bytesRead, parsed[0]?.socket.readableLength, parsed[0]?.readableLength],
        ([read, buffered, waiting]) => read === sentBytes && buffered === 0 && waiting === 0,
      );
    };
    await send(head('POST /api/medien', `Cookie: ${cookie}`, type, 'Content-Length: 150000000') + part);
    server.clock.advance(bodyMs);
    for (const _window of [1, 2]) {
      await send('x'.repeat(uploadWindowBytes));
      server.clock.advance(uploadWindowMs);
      expect(parsed[0]?.socket.writable).toBe(true);
    }
    await send('x'.repeat(uploadWindowBytes - 1));
    server.clock.advance(uploadWindowMs);
    await upload.closed;
    // Without a session the server does not wait for the body.
    using stranger = await client(server.full);
    stranger.send(head('POST /api/medien', type, 'Content-Length: 1000'));
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
      await until(
        passing(server, () => server.motion.calls.length > before, 10),
        isTrue,
      );
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
    await stopped(server);
    expect(server.motion.calls).toEqual(['stopRobot STOPP']);
  });

  it('counts when its connection is closed while it is queued', async () => {
    await using server = await startServer();
    // Sent with the connection: in that event loop round a stop must wait for its end.
    using flood = await client(server.full);
    flood.send(head('GET /api/events') + head('POST /api/stopp', 'Content-Length: 0') + head('GET /').repeat(20));
    await flood.closed;
    await stopped(server);
    expect(server.motion.calls).toEqual(['stopRobot STOPP']);
  });

  it('does not wait behind an unfinished request of its own connection', async () => {
    await using server = await startServer();
    using one = await client(server.full);
    one.send(head('GET /api/events') + head('POST /api/stopp', 'Content-Length: 0'));
    await stopped(server);
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
