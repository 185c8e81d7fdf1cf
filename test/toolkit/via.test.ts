import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { GwError } from '../../src/lib/error/index.ts';
import { systemClock } from '../../src/lib/lifecycle/index.ts';
import { parseSite } from '../../src/lib/site/index.ts';
import { operatorAccess } from '../../src/lib/toolkit/operator/access.ts';
import { throughSsh } from '../../src/lib/toolkit/via.ts';
import { errorOf, optionsIn, startRawServer, startSshServer, temporaryHome } from '../net/ssh/ssh-server.ts';

async function scene() {
  const folder = temporaryHome();
  const server = await startSshServer((context) => context.accept());
  folder.write('known_hosts', server.known);
  const signal = new AbortController().signal;
  return {
    server,
    target: `127.0.0.1:${server.port}`,
    options: { ...optionsIn(folder.home), signal },
    /** Adds the server to known_hosts with another port, through which it is reached. */
    homeFor(port: number) {
      folder.write('known_hosts', server.known.replace(`:${server.port}`, `:${port}`));
      return folder.home;
    },
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      folder[Symbol.dispose]();
    },
  };
}

const untilAborted = (signal: AbortSignal) =>
  new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));

describe.concurrent('work through a jump host', () => {
  it('returns its result or its error, and ends the connection', async () => {
    await using here = await scene();
    let lost: AbortSignal | undefined;
    const result = await throughSsh(here.target, here.options, async (ssh) => {
      lost = ssh.lost;
      return ssh.where;
    });
    expect(result).toBe(`technician@${here.target}`);
    const mistake = new GwError('TOUR_UNKNOWN', 'There is no such tour.');
    const failing = throughSsh(here.target, here.options, () => Promise.reject(mistake));
    expect(await errorOf(failing)).toBe(mistake);
    expect(lost?.aborted).toBe(false);
  });

  it('is aborted when the connection is lost, and cannot return later findings as a result', async () => {
    await using here = await scene();
    const work = throughSsh(here.target, here.options, async (_, signal) => {
      here.server.cut();
      await untilAborted(signal);
      return 'the chassis does not answer';
    });
    expect((await errorOf(work)).code).toBe('SSH_LOST');
  });

  it('keeps an essential result, with the loss reported beside it', async () => {
    await using here = await scene();
    const losses: string[] = [];
    const onLost = ({ code }: GwError) => void losses.push(code);
    const result = await throughSsh(here.target, { ...here.options, onLost }, async (_, signal) => {
      here.server.cut();
      await untilAborted(signal);
      return 'two of three maps are back';
    });
    expect(result).toBe('two of three maps are back');
    expect(losses).toEqual(['SSH_LOST']);
  });

  it('reports with the loss what continues without the connection', async () => {
    await using here = await scene();
    const work = throughSsh(here.target, here.options, async (_, signal) => {
      here.server.cut();
      await untilAborted(signal);
      throw new GwError('INTERRUPTED', 'The robot drives on.', { remedy: 'Stop it.' });
    });
    expect(await errorOf(work)).toMatchObject({ code: 'SSH_LOST', remedy: 'Stop it.' });
    expect((await errorOf(work)).message).toContain('The robot drives on.');
  });

  it('queries the operator server over a kept-alive connection', async () => {
    using folder = temporaryHome();
    let opened = 0;
    const requests: string[] = [];
    await using server = await startSshServer(
      (context) => context.accept(),
      (connection) =>
        connection.on('tcpip', (accept, _reject, { destIP, destPort }) => {
          opened += 1;
          requests.push(`${destIP}:${destPort}`);
          const stream = accept();
          stream.on('data', () => stream.write('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{"a":"b"}'));
        }),
    );
    folder.write('known_hosts', server.known);
    const signal = new AbortController().signal;
    await throughSsh(`127.0.0.1:${server.port}`, { ...optionsIn(folder.home), signal }, async (ssh) => {
      const site = parseSite('name: T\nchassis: { host: 192.0.2.7, serial: S }\n', '/tmp/site.yaml');
      const toolkit = { site, dialer: ssh.dialer, clock: systemClock, ssh };
      for (let round = 0; round < 10; round += 1) {
        const access = operatorAccess(toolkit, { signal, onProgress: () => {} });
        expect(await access.ask('GET', '/api/health', z.object({ a: z.string() }))).toEqual({ a: 'b' });
      }
    });
    expect(opened).toBeLessThanOrEqual(2);
    expect(new Set(requests)).toEqual(new Set(['127.0.0.1:5173']));
  });

  it('reports a silent connection, not the chassis behind it', async () => {
    await using here = await scene();
    await using path = await startRawServer((near) => {
      const far = connect(here.server.port, '127.0.0.1');
      far.on('error', () => {});
      let isCut = false;
      cut = () => {
        isCut = true;
      };
      near.on('data', (chunk) => isCut || far.write(chunk));
      far.on('data', (chunk) => isCut || near.write(chunk));
    });
    let cut = () => {};
    const options = { ...here.options, homeDir: here.homeFor(path.port) };
    const work = throughSsh(`127.0.0.1:${path.port}`, options, async (ssh) => {
      cut();
      await ssh.dialer.dial({ host: '127.0.0.1', port: 9 }, { timeoutMs: 1_200 });
    });
    expect((await errorOf(work)).code).toBe('SSH_LOST');
  });

  it('ends with the interruption of the user, not with a loss', async () => {
    await using here = await scene();
    const ending = new AbortController();
    const options = { ...here.options, signal: ending.signal };
    const work = throughSsh(here.target, options, async (_, signal) => {
      ending.abort(new GwError('INTERRUPTED', 'Interrupted.'));
      signal.throwIfAborted();
    });
    expect((await errorOf(work)).code).toBe('INTERRUPTED');
  });
});
