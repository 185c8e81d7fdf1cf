import { describe, expect, it } from 'vitest';
import type { Log } from '../../../src/lib/lifecycle/index.ts';
import { until } from '../../waiting.ts';
import { ask, postJson, signIn, startServer } from '../server.ts';
import { client, head, parsedRequests } from './client.ts';

function listLog() {
  const lines: string[] = [];
  const keep = (level: string) => (_fields: object, message: string) => void lines.push(`${level} ${message}`);
  const log: Log = { debug: keep('debug'), info: keep('info'), warn: keep('warn'), error: keep('error') };
  return { log, lines };
}

/** Sends the head of a request and half of its body, then resets the connection. */
async function abortRequest(port: number, line: string, ...headers: string[]): Promise<void> {
  using parsed = parsedRequests();
  using one = await client(port);
  const bytes = `${head(line, ...headers, 'Content-Length: 1000')}{"half"`;
  one.send(bytes);
  await until(
    () => parsed[0]?.socket.bytesRead,
    (read) => read === bytes.length,
  );
  // It comes after it, also where requests wait for their turn.
  await ask(port, '/api/health');
  one.socket.resetAndDestroy();
}

describe('a client that aborts its request', () => {
  it('is not an error of the gateway: debug in the log, counted outside the journal', async () => {
    const { log, lines } = listLog();
    await using server = await startServer({ password: true, more: { log } });
    const cookie = await signIn(server.full);
    const json = 'Content-Type: application/json';
    await abortRequest(server.full, 'POST /api/fahrt', json);
    const multipart = 'Content-Type: multipart/form-data; boundary=x';
    await abortRequest(server.full, 'POST /api/medien', `Cookie: ${cookie}`, multipart);
    await abortRequest(server.full, 'POST /api/touren/lauf', json);
    await until(
      () => lines.filter((line) => line === 'debug client aborted its request').length,
      (count) => count === 3,
    );
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
    const [begun, aborted] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    server.motion.stopRobot = async () => {
      begun.resolve();
      await aborted.promise;
      throw new TypeError('nothing.is is not a function');
    };
    using parsed = parsedRequests();
    using one = await client(server.full);
    one.send(head('POST /api/stopp', 'Content-Length: 0'));
    await begun.promise;
    one.socket.resetAndDestroy();
    await until(
      () => parsed[0]?.socket.destroyed,
      (is) => is === true,
    );
    aborted.resolve();
    await until(
      () => lines,
      (all) => all.includes('error request failed'),
    );
  });
});
