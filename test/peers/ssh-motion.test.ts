import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Running, runGw, startGw } from '../e2e/gw.ts';
import { type Robot, startRobot, startServe, until } from '../e2e/robot.ts';
import { freePort } from '../free-port.ts';
import { hasProgram } from './peer.ts';
import { type Link, startLink } from './ssh-link.ts';
import { makeKey, type Sshd, startSshd } from './sshd.ts';

const isThere = hasProgram('sshd') && hasProgram('ssh-keygen');

interface Envelope {
  readonly ok: boolean;
  readonly data: { readonly delivered?: boolean } | null;
  readonly error: { code: string; message: string; remedy: string; details?: { delivered?: boolean } } | null;
}

/** Accepts connections and never answers. */
async function startSilence() {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as { port: number }).port,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

describe.skipIf(!isThere)('orders and stops through a real OpenSSH server', () => {
  let robot: Robot;
  let sshd: Sshd;
  let serve: Running | undefined;

  beforeAll(async () => {
    // So slow that no drive ends by itself, however late the gateway notices that its client is gone.
    robot = await startRobot({ speedMS: 0.05 });
    sshd = await startSshd();
    sshd.trust();
  });
  afterAll(async () => {
    await serve?.[Symbol.asyncDispose]();
    await sshd?.[Symbol.asyncDispose]();
    await robot?.[Symbol.asyncDispose]();
  });

  const home = () => ({ env: { HOME: sshd.home } });
  /** Trusts the server also under the port of the link in front of it. */
  async function linkTo(server = sshd): Promise<Link> {
    const link = await startLink(server.port);
    server.trust(link.port);
    return link;
  }

  /** In text and in JSON: what the person reads first, and what a program gets. */
  function isNotStopped({ code, stdout, stderr }: { code: number | null; stdout: string; stderr: string }): void {
    const first = `${stderr}${stdout}`.split('\n')[0] ?? '';
    expect(first).toMatch(/^(gw: )?NOT STOPPED.*[Pp]ress the emergency stop/);
    expect(code).not.toBe(0);
  }
  function saysSo(stdout: string): void {
    const { ok, data, error } = JSON.parse(stdout) as Envelope;
    expect(ok).toBe(false);
    expect(data?.delivered ?? false).toBe(false);
    expect(error?.message).toMatch(/^NOT STOPPED: .*Press the emergency stop of the robot now/);
    expect(error?.remedy).toMatch(/^Press the emergency stop of the robot now/);
    expect(error?.details?.delivered).toBe(false);
  }
  async function failsToStop(...words: string[]): Promise<void> {
    const command = ['motion', 'stop', '--site', robot.site, '--timeout', '2', ...words];
    const [text, json] = await Promise.all([runGw(command, home()), runGw([...command, '--json'], home())]);
    isNotStopped(text);
    expect(json.code).not.toBe(0);
    saysSo(json.stdout);
  }

  // Each has connections of its own, and nothing drives, so they run concurrently.
  describe.concurrent('a stop that fails says so first', () => {
    it('where the host refuses the connection, or is unknown', async () => {
      await failsToStop('--via', `127.0.0.1:${await freePort()}`);
      await failsToStop('--via', 'no-such-host.invalid');
    });

    it('where the server never answers: already while it waits', async () => {
      await using silence = await startSilence();
      await failsToStop('--via', `127.0.0.1:${silence.port}`);
    });

    it('where the link freezes or is reset in the login', async () => {
      for (const act of ['freeze', 'reset'] as const) {
        await using link = await linkTo();
        const command = ['motion', 'stop', '--site', robot.site, '--timeout', '2', '--via', `127.0.0.1:${link.port}`];
        await using stop = startGw(command, home());
        await until(
          async () => link.received(),
          (bytes) => bytes > 0,
        );
        link[act]();
        await until(
          async () => stop.child.exitCode,
          (code) => code !== null,
        );
        isNotStopped({ code: stop.child.exitCode, stdout: stop.stdout(), stderr: stop.stderr() });
      }
    });

    it('where the host key is unknown or changed, or the login is refused', async () => {
      await using stranger = await startSshd();
      await failsToStop('--via', `127.0.0.1:${stranger.port}`);
      await using link = await startLink(stranger.port);
      sshd.trust(link.port);
      await failsToStop('--via', `127.0.0.1:${link.port}`);
      makeKey(join(stranger.dir, 'other'));
      stranger.trust();
      const words = ['motion', 'stop', '--site', robot.site, '--via', `nobody@127.0.0.1:${stranger.port}`];
      isNotStopped(await runGw(words, { env: { HOME: stranger.home } }));
    });

    it('where no gateway answers behind it, or the server forwards nothing', async () => {
      await failsToStop('--via', `127.0.0.1:${sshd.port}`, '--operator-port', `${await freePort()}`);
      await using closed = await startSshd({ config: ['AllowTcpForwarding no'] });
      closed.trust();
      const words = ['motion', 'stop', '--site', robot.site, '--via', `127.0.0.1:${closed.port}`];
      isNotStopped(await runGw([...words, '--timeout', '2'], { env: { HOME: closed.home } }));
    });

    it('where the link freezes or is reset while the gateway has not answered', async () => {
      await using silence = await startSilence();
      for (const [act, codes] of [
        ['freeze', ['SSH_LOST']],
        // Within the time the connection is made again.
        ['reset', ['SSH_LOST', 'OPERATOR_NOT_REACHABLE']],
      ] as const) {
        await using link = await linkTo();
        const words = [
          '--via',
          `127.0.0.1:${link.port}`,
          '--operator-port',
          `${silence.port}`,
          '--json',
          '--timeout',
          '1',
        ];
        // Without a site file, so that no chassis is cancelled directly.
        await using stop = startGw(['motion', 'stop', '--site', join(robot.dir, 'none.yaml'), ...words], home());
        await until(
          async () => sshd.log().split('direct-tcpip').length,
          (count) => count > 0 && link.received() > 2_500,
        );
        link[act]();
        await until(
          async () => stop.child.exitCode,
          (exit) => exit !== null,
        );
        saysSo(stop.stdout());
        expect(codes).toContain((JSON.parse(stop.stdout()) as Envelope).error?.code);
      }
    });

    it('and is carried out as soon as the host, which was away, accepts a connection', async () => {
      const port = await freePort();
      await using away = await startRobot();
      const via = `127.0.0.1:${port}`;
      await using stop = startGw(['motion', 'stop', '--site', away.site, '--via', via, '--json'], home());
      const connecting = `NOT STOPPED yet: connecting to ${via} over SSH. Press the emergency stop`;
      await until(
        async () => stop.stderr().split(connecting).length,
        (count) => count > 3,
      );
      sshd.trust(port);
      await using _link = await startLink(sshd.port, undefined, port);
      // Its gateway is away as well.
      await until(
        async () => stop.stderr(),
        (text) => /NOT STOPPED yet, trying for \d+ s more/.test(text),
      );
      await using _serve = await startServe(away.site);
      const { stdout } = await stop.closed;
      expect(JSON.parse(stdout)).toMatchObject({ data: { delivered: true, saved: true } });
    });

    it('where it is interrupted, and where its command line is wrong', async () => {
      await using silence = await startSilence();
      const words = ['motion', 'stop', '--site', robot.site, '--via', `127.0.0.1:${silence.port}`];
      await using stop = startGw(words, home());
      await until(
        async () => stop.stderr(),
        (text) => text.includes('NOT STOPPED yet'),
      );
      const { code } = await stop.end('SIGINT');
      expect(code).toBe(130);
      isNotStopped({ code, stdout: stop.stdout(), stderr: stop.stderr() });
      expect(stop.stderr()).toMatch(/gw: NOT STOPPED: [\s\S]*Interrupted/);
      await failsToStop('--reasn', 'x');
    });
  });

  describe('a drive whose link is lost', () => {
    const moves = async () =>
      (await (await fetch(`http://127.0.0.1:${robot.chassisPort}/chassis/moves`)).json()) as { state: string }[];
    const newest = async () => (await moves())[0]?.state;

    beforeEach(async () => {
      serve ??= await startServe(robot.site);
      await until(
        async () => (await fetch(`http://127.0.0.1:${robot.operatorPort}/api/touren`)).json(),
        (status) => (status as { gate: { open: boolean } }).gate.open,
      );
    });

    it.each([
      ['freeze', ['motion', 'go', 'C']],
      ['reset', ['motion', 'go', 'C']],
      ['freeze', ['tour', 'run', 'demo']],
      ['reset', ['tour', 'run', 'demo']],
      ['reset', ['motion', 'dock']],
    ] as const)(
      'by %s of gw %j warns that the robot may still be moving, and is cancelled by the gateway',
      async (act, words) => {
        await using link = await linkTo();
        const command = startGw(
          [...words, '--site', robot.site, '--robot-will-move', '--via', `127.0.0.1:${link.port}`],
          home(),
        );
        await using _command = command;
        await until(newest, (state) => state === 'moving');
        link[act]();
        await until(
          async () => command.child.exitCode,
          (code) => code !== null,
        );
        expect(command.child.exitCode).toBe(3);
        expect(command.stderr()).toContain('THE ROBOT MAY STILL BE MOVING');
        expect(command.stderr()).toContain('emergency stop');
        expect(command.stderr().toLowerCase()).not.toContain('run the command again');
        await until(newest, (state) => state === 'cancelled');
      },
    );

    it('continues with --leave-running, which the warning says', async () => {
      await using link = await linkTo();
      const words = ['tour', 'run', 'demo', '--leave-running', '--robot-will-move', '--json'];
      await using command = startGw([...words, '--site', robot.site, '--via', `127.0.0.1:${link.port}`], home());
      await until(newest, (state) => state === 'moving');
      link.reset();
      await until(
        async () => command.child.exitCode,
        (code) => code !== null,
      );
      const { error } = JSON.parse(command.stdout()) as Envelope;
      expect(error).toMatchObject({
        code: 'SSH_LOST',
        message: expect.stringContaining('THE ROBOT MAY STILL BE MOVING'),
      });
      expect(error?.message).toContain('--leave-running');
      const run = await (await fetch(`http://127.0.0.1:${robot.operatorPort}/api/touren/lauf`)).json();
      expect(run).toMatchObject({ run: { state: 'running' } });
      await fetch(`http://127.0.0.1:${robot.operatorPort}/api/touren/lauf`, { method: 'DELETE' });
    });

    it('before the order was sent says that nothing was ordered', async () => {
      await using silence = await startSilence();
      await using link = await linkTo();
      const site = join(robot.dir, 'silent.yaml');
      const { readFileSync } = await import('node:fs');
      const password = join(robot.dir, 'password.txt');
      writeFileSync(password, 'x\n', { mode: 0o600 });
      writeFileSync(site, readFileSync(robot.site, 'utf8').replace(`${robot.operatorPort}`, `${silence.port}`));
      const words = ['motion', 'go', 'C', '--robot-will-move', '--password-file', password];
      await using command = startGw([...words, '--site', site, '--via', `127.0.0.1:${link.port}`], home());
      await until(
        async () => link.received(),
        (bytes) => bytes > 2_500,
      );
      link.reset();
      await until(
        async () => command.child.exitCode,
        (code) => code !== null,
      );
      expect(command.stderr()).toContain('No order was sent');
      expect(command.stderr().toLowerCase()).not.toContain('run the command again');
    });
  });

  describe('other work whose link is lost', () => {
    /** Ends after the link froze behind this many bytes of the answers, which is within the first reads. */
    async function frozen(words: readonly string[], afterBytes: number) {
      await using link = await linkTo();
      await using command = startGw([...words, '--site', robot.site, '--via', `127.0.0.1:${link.port}`], home());
      await until(
        async () => link.received(),
        (bytes) => bytes > afterBytes,
      );
      link.freeze();
      await until(
        async () => command.child.exitCode,
        (code) => code !== null,
      );
      return { code: command.child.exitCode, stdout: command.stdout(), stderr: command.stderr() };
    }

    it('ends a checklist with the loss, not as if a person had interrupted it', async () => {
      const list = join(robot.dir, 'probe.yaml');
      const head = ['schema: gw/checklist/1', 'name: probe', 'title: T', 'purpose: P', 'steps:'];
      const step = (id: string, run: string) =>
        `  - { id: ${id}, title: T, proves: P, run: ${run}, expect: { verdict: ok }, remedy: R }`;
      writeFileSync(list, [...head, step('first', 'chassis probe'), step('then', 'chassis probe'), ''].join('\n'));
      const { code, stdout } = await frozen(['checklist', 'run', list, '--json'], 4_000);
      const { ok, data, error } = JSON.parse(stdout) as Envelope;
      expect([code, ok, error?.code]).toEqual([3, false, 'SSH_LOST']);
      expect(data).toMatchObject({ interrupted: true });
    });

    it('says of a restore that was cut before its first write that nothing was written', async () => {
      const file = join(robot.dir, 'maps.tar.gz');
      expect((await runGw(['map', 'backup', '--site', robot.site, '--out', file], home())).code).toBe(0);
      const words = ['map', 'restore', file, '--write-although-never-measured', '--robot-stands-still'];
      const { code, stderr } = await frozen(words, 2_500);
      expect(code).toBe(3);
      expect(stderr).toContain('Nothing was written');
      expect(stderr).not.toContain('may have taken effect');
    });
  });
});
