import { PassThrough, Readable } from 'node:stream';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { GwError } from '../../src/lib/error/index.ts';
import type { RemoteProcess, Ssh } from '../../src/lib/net/index.ts';
import { followRemoteGw, remoteArguments, runRemoteGw } from '../../src/lib/toolkit/remote-run.ts';
import { forAllAsyncOf } from './kit.ts';

/** A remote host with output set by the test; `gw --version` answers with its version. */
function remoteHost(chunks: readonly (string | Uint8Array)[], { code = 0, version = '1.0.0', says = '' } = {}) {
  const ran: string[][] = [];
  const inputs: PassThrough[] = [];
  const ssh: Ssh = {
    where: 't@gw:22',
    firstHop: { host: 'gw', port: 22 },
    dialer: { way: 'via t@gw:22', dial: () => Promise.reject(new Error('nothing is dialled')) },
    socketDialer: () => ssh.dialer,
    lost: new AbortController().signal,
    quietMs: () => 0,
    async exec(argv) {
      ran.push([...argv]);
      const stdin = new PassThrough();
      inputs.push(stdin);
      const isVersion = argv[1] === '--version';
      const output = isVersion ? [`gw/${version} linux-x64 node-v24\n`] : chunks;
      const stdout = Readable.from(output.map((chunk) => Buffer.from(chunk)));
      const process: RemoteProcess = {
        stdin,
        stdout,
        stderr: Readable.from(isVersion || says === '' ? [] : [Buffer.from(says)]),
        ended: Promise.resolve({ code: isVersion ? 0 : code, signal: null }),
        [Symbol.asyncDispose]: async () => {},
      };
      return process;
    },
    [Symbol.asyncDispose]: async () => {},
  };
  return { ssh, ran, inputs };
}

const notes: string[] = [];
const options = {
  schema: 'gw/test/1',
  shape: z.object({ event: z.string() }),
  version: '1.0.0',
  signal: new AbortController().signal,
  onNote: (text: string) => void notes.push(text),
};
const envelope = (more: object = {}) =>
  JSON.stringify(
    { schema: 'gw/test/1', ok: true, data: { event: 'x' }, warnings: ['w'], error: null, ...more },
    null,
    2,
  );
const follow = (ssh: Ssh, onEvent: (event: { event: string }) => void = () => {}) =>
  followRemoteGw(ssh, ['x'], options, { onEvent, isLast: ({ event }) => event === 'ended' });
const errorOf = (work: Promise<unknown>) =>
  work.then(
    () => undefined,
    (error: unknown) => (error instanceof GwError ? error : undefined),
  );

describe('arguments for the remote host', () => {
  it('are those of the command without the route, with --json once', () => {
    expect(
      remoteArguments('heartbeat:check', ['--via', 't@gw', '--seconds', '8', '--json', '--site=a b.yaml']),
    ).toEqual(['heartbeat', 'check', '--seconds', '8', '--site=a b.yaml', '--json']);
    expect(remoteArguments('heartbeat:sniff', ['--no-key', '--via=t@gw'])).toEqual([
      'heartbeat',
      'sniff',
      '--no-key',
      '--json',
    ]);
    const secret = ['--from-file', 'a', '--code-env=B', '--from', 'c'];
    expect(remoteArguments('x', secret, ['--from-file', '--code-env'])).toEqual(['x', '--from', 'c', '--json']);
    expect(remoteArguments('x', ['--via', 'a', '--', '--via', 'b'])).toEqual(['x', '--json', '--', '--via', 'b']);
  });
});

describe('a command that is run on the remote host', () => {
  it('returns its result, its warnings and its exit code, whatever a login script prints before', async () => {
    const { ssh, ran } = remoteHost(['Welcome!\n', envelope().slice(0, 30), envelope().slice(30)], {
      code: 1,
      says: 'busy\n',
    });
    notes.length = 0;
    expect(await runRemoteGw(ssh, ['x', '--json'], options)).toEqual({
      data: { event: 'x' },
      ok: true,
      exitCode: 1,
      warnings: ['w'],
    });
    expect(ran).toContainEqual(['gw', 'x', '--json']);
    expect(notes.sort()).toEqual(['Welcome!', 'busy']);
  });

  it('gets the input of this machine as its own, to its end', async () => {
    const { ssh, inputs } = remoteHost([envelope()]);
    await runRemoteGw(ssh, ['x'], { ...options, input: 'secret\n' });
    expect(inputs.map((input) => String(input.read() ?? ''))).toContain('secret\n');
    expect(inputs.filter((input) => input.writableEnded)).toHaveLength(1);
  });

  it('reports another version there', async () => {
    const { ssh } = remoteHost([envelope()], { version: '0.9.0' });
    expect((await runRemoteGw(ssh, ['x'], options)).warnings[0]).toMatch(/"0\.9\.0", this is 1\.0\.0/);
    const bad = remoteHost([envelope({ schema: 'gw/test/0' })], { version: '0.9.0' });
    expect(await errorOf(runRemoteGw(bad.ssh, ['x'], options))).toMatchObject({ code: 'REMOTE_GW_BAD_ANSWER' });
    expect((await errorOf(runRemoteGw(bad.ssh, ['x'], options)))?.message).toContain('0.9.0');
  });

  it('throws the errors of the remote host as its own, with the place', async () => {
    const error = { code: 'SECRET_UNREADABLE', message: 'no.', remedy: 'chmod', tried: { address: 'a', port: 1 } };
    const { ssh } = remoteHost([envelope({ schema: 'gw/error/1', ok: false, data: null, error })], { code: 2 });
    expect(await errorOf(runRemoteGw(ssh, ['x'], options))).toMatchObject({
      code: 'SECRET_UNREADABLE',
      message: 'On t@gw:22: no.',
      remedy: 'chmod',
      tried: { address: 'a', port: 1, via: 't@gw:22' },
    });
    const odd = remoteHost([envelope({ error: { code: 'FROM_THE_FUTURE', message: 'hm' } })]);
    expect(await errorOf(runRemoteGw(odd.ssh, ['x'], options))).toMatchObject({ code: 'REMOTE_GW_BAD_ANSWER' });
    const none = remoteHost([], { code: 127, says: 'sh: 1: gw: not found\n' });
    expect(await errorOf(runRemoteGw(none.ssh, ['x'], options))).toMatchObject({ code: 'REMOTE_GW_MISSING' });
  });

  it('streams its events and keeps the last one for the end', async () => {
    const lines = ['{"event":"state"}', 'noise', '{"event":"state"}', '{"event":"ended"}'].map((line) => `${line}\n`);
    const events: string[] = [];
    expect(await follow(remoteHost(lines).ssh, ({ event }) => events.push(event))).toEqual({ event: 'ended' });
    expect(events).toEqual(['state', 'state']);
    expect(await errorOf(follow(remoteHost(lines.slice(0, 3)).ssh))).toMatchObject({ code: 'REMOTE_GW_BAD_ANSWER' });
    const failing = [lines[0] ?? '', `${JSON.stringify({ error: { code: 'PORT_IN_USE', message: 'taken' } })}\n`];
    expect(await errorOf(follow(remoteHost(failing, { code: 4 }).ssh))).toMatchObject({ code: 'PORT_IN_USE' });
  });

  it('may print anything: it is a result, or an error of gw', { tags: 'property' }, async () => {
    const piece = fc.oneof(
      fc.string({ maxLength: 30 }),
      fc.uint8Array({ maxLength: 30 }),
      fc.constantFrom(
        envelope(),
        '{',
        '}',
        '\n',
        '{"event":"ended"}\n',
        '{"error":null}\n',
        '{"error":{"code":"USAGE"}}\n',
      ),
    );
    await forAllAsyncOf(60)(
      fc.array(piece, { maxLength: 6 }),
      fc.integer({ min: 0, max: 130 }),
      async (chunks, code) => {
        for (const work of [
          runRemoteGw(remoteHost(chunks, { code }).ssh, ['x'], options),
          follow(remoteHost(chunks, { code }).ssh),
        ]) {
          const result = await work.catch((error: unknown) => error);
          if (!(result instanceof GwError))
            expect(result).toHaveProperty(result && 'data' in (result as object) ? 'data' : 'event');
        }
      },
    );
  });

  it('is rejected when a line has no end', async () => {
    const endless = Array.from({ length: 5 }, () => Buffer.alloc(1024 * 1024, 'x'));
    expect(await errorOf(follow(remoteHost(endless).ssh))).toMatchObject({ code: 'REMOTE_GW_BAD_ANSWER' });
  });
});
