import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import type { Log } from '../../../src/lib/lifecycle/index.ts';
import { ask, PASSWORD, postJson, startServer } from '../server.ts';

function listLog() {
  const lines: string[] = [];
  const keep = (level: string) => (_fields: object, message: string) => void lines.push(`${level} ${message}`);
  const log: Log = { debug: keep('debug'), info: keep('info'), warn: keep('warn'), error: keep('error') };
  return { log, lines };
}

/** Sends the head of a request and half of its body, then resets the connection. */
async function abortRequest(port: number, head: string): Promise<void> {
  const socket = connect(port, '127.0.0.1');
  await new Promise<void>((resolve) => socket.once('connect', () => resolve()));
  await new Promise((resolve) =>
    socket.write(`${head}\r\nHost: 127.0.0.1\r\nContent-Length: 1000\r\n\r\n{"half"`, resolve),
  );
  await new Promise((resolve) => setTimeout(resolve, 50));
  socket.resetAndDestroy();
}

async function until(isTrue: () => boolean): Promise<void> {
  for (let tries = 0; tries < 200 && !isTrue(); tries += 1) await new Promise((resolve) => setTimeout(resolve, 20));
  expect(isTrue()).toBe(true);
}

describe('a client that aborts its request', () => {
  it('is not an error of the gateway: debug in the log, counted outside the journal', async () => {
    const { log, lines } = listLog();
    await using server = await startServer({ password: true, more: { log } });
    const signedIn = await postJson(server.full, '/api/anmeldung', { password: PASSWORD });
    const cookie = signedIn.headers.get('set-cookie')?.split(';')[0] ?? '';
    await abortRequest(server.full, 'POST /api/fahrt HTTP/1.1\r\nContent-Type: application/json');
    await abortRequest(
      server.full,
      `POST /api/medien HTTP/1.1\r\nCookie: ${cookie}\r\nContent-Type: multipart/form-data; boundary=x`,
    );
    await abortRequest(server.full, 'POST /api/touren/lauf HTTP/1.1\r\nContent-Type: application/json');
    await until(() => lines.filter((line) => line === 'debug client aborted its request').length === 3);
    expect(lines.filter((line) => /^(warn|error)/.test(line))).toEqual([]);
    const { data } = await ask(server.full, '/api/protokolle', { headers: { cookie } });
    expect(data).toMatchObject({ clientAborts: 3, audit: [{ message: 'signed in', count: 1 }] });
  });

  it('is not assumed when the connection is open and another one was reset', async () => {
    const { log, lines } = listLog();
    await using server = await startServer({ more: { log } });
    const reset = Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' });
    server.motion.stopRobot = () => Promise.reject(reset);
    const { status } = await postJson(server.full, '/api/stopp', {});
    expect([status, lines]).toEqual([500, ['warn stop requested', 'error request failed']]);
  });

  it('hides no internal error that occurs after the abort', async () => {
    const { log, lines } = listLog();
    await using server = await startServer({ more: { log } });
    const { promise, resolve } = Promise.withResolvers<void>();
    server.motion.stopRobot = async () => {
      await promise;
      throw new TypeError('nothing.is is not a function');
    };
    const stop = fetch(`http://127.0.0.1:${server.full}/api/stopp`, {
      method: 'POST',
      signal: AbortSignal.timeout(200),
    });
    await expect(stop).rejects.toThrow();
    await new Promise((soon) => setTimeout(soon, 100));
    resolve();
    await until(() => lines.includes('error request failed'));
  });
});
