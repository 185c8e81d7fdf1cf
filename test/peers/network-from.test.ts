import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/lib/lifecycle/index.ts';
import type { SshOptions } from '../../src/lib/net/index.ts';
import { secondHosts } from '../../src/lib/toolkit/network/check/from.ts';
import type { SecondHost } from '../../src/lib/toolkit/network/check.ts';
import { buildWorld, lineOf, openPort } from '../toolkit/network/world.ts';
import { hasProgram } from './peer.ts';
import { type Sshd, startSshd } from './sshd.ts';

const optionsFor = (sshd: Sshd): SshOptions => ({
  homeDir: sshd.home,
  localUser: sshd.user,
  agentSocket: null,
  person: null,
});

describe.skipIf(!hasProgram('sshd'))(
  'the network check from a second host, through a real SSH server',
  { concurrent: true },
  () => {
    const scratch = mkdtempSync(join(tmpdir(), 'gw-network-from-'));
    afterAll(() => rmSync(scratch, { recursive: true, force: true }));
    const newDir = () => mkdtempSync(join(scratch, 'world-'));

    // The gateway is this machine, so the open ports are those of the test.
    const yaml = 'network: { gateway: 127.0.0.1 }';

    /** A second host, and a gateway with one open port. */
    async function standing(configOf: (port: number) => string[] = () => []) {
      await using stack = new AsyncDisposableStack();
      const answering = stack.use(await openPort());
      const sshd = stack.use(await startSshd({ config: configOf(answering.port) }));
      sshd.trust();
      const options = { yaml, operatorPort: answering.port, enrolled: false, clock: systemClock };
      const world = stack.use(await buildWorld(newDir(), options));
      const all = stack.move();
      return { answering, sshd, world, [Symbol.asyncDispose]: () => all.disposeAsync() };
    }

    it('fails the operator server towards the customer network, and passes it in the robot segment', async () => {
      await using at = await standing();
      const { answering, sshd, world } = at;
      const target = `${sshd.user}@127.0.0.1:${sshd.port}`;
      const from = secondHosts([target, target], optionsFor(sshd));
      const id = (index: number) => `segment.from-${index}.gateway-${answering.port}`;
      const site = await world.check({ from });
      for (const index of [1, 2]) {
        expect(lineOf(site, id(index))).toMatchObject({ verdict: 'wrong', tried: `127.0.0.1:${answering.port}` });
      }
      const robot = await world.check({ from, fromSegment: 'robot' });
      expect(lineOf(robot, id(1))).toMatchObject({ verdict: 'ok' });
    });

    /**
     * The second host of this server; the test breaks it right after the login, before the first connection attempt.
     */
    function hostOf(sshd: Sshd, onLogin: () => void): SecondHost[] {
      const target = `${sshd.user}@127.0.0.1:${sshd.port}`;
      return secondHosts([target], optionsFor(sshd)).map((host) => ({
        name: host.name,
        use: (signal, work) =>
          host.use(signal, (dialer, ending, near) => {
            onLogin();
            return work(dialer, ending, near);
          }),
      }));
    }

    it('is not checked through a host that hangs after the login, and completes in time', async () => {
      await using at = await standing();
      const { sshd, world } = at;
      const result = await world.check({ from: hostOf(sshd, () => sshd.pause()) });
      const lines = result.lines.filter(({ id }) => id.startsWith('segment.from-'));
      expect(lines).toMatchObject([{ id: 'segment.from-1', verdict: 'not-checked' }]);
      expect(lines[0]?.detail).toMatch(/^host not usable: SSH connection to .* lost: no data received for 6 s/);
      expect(result.sections.segment).not.toBe('ok');
    });

    it('does not count the silence of a host that hung for a while as closed ports', async () => {
      await using at = await standing();
      const { answering, sshd, world } = at;
      const paused = () => {
        sshd.pause();
        // Longer than the timeout of an attempt, and shorter than that of the connection.
        setTimeout(() => sshd.resume(), 4_800);
      };
      const result = await world.check({ from: hostOf(sshd, paused) });
      expect(lineOf(result, `segment.from-1.gateway-${answering.port}`)).toMatchObject({ verdict: 'wrong' });
      expect(lineOf(result, 'segment.from-1.gateway-8090')).toMatchObject({
        verdict: 'ok',
        detail: expect.stringMatching(/^connection refused/),
      });
    });

    it('judges the ports that SSH forwards, and reports the others as not checked', async () => {
      await using at = await standing((port) => [`PermitOpen 127.0.0.1:${port}`]);
      const { answering, sshd, world } = at;
      const result = await world.check({ from: hostOf(sshd, () => {}) });
      expect(lineOf(result, `segment.from-1.gateway-${answering.port}`)).toMatchObject({ verdict: 'wrong' });
      expect(lineOf(result, 'segment.from-1.gateway-8090')).toMatchObject({
        verdict: 'not-checked',
        detail: expect.stringMatching(/^could not be tried: TCP forwarding refused by/),
      });
    });

    it('is not checked where SSH forwards no connection, or the host is unknown', async () => {
      await using sshd = await startSshd({ config: ['AllowTcpForwarding no'] });
      await using world = await buildWorld(newDir(), { yaml, enrolled: false, clock: systemClock });
      const from = secondHosts([`${sshd.user}@127.0.0.1:${sshd.port}`], optionsFor(sshd));
      const unknown = await world.check({ from });
      expect(lineOf(unknown, 'segment.from-1').verdict).toBe('not-checked');
      expect(lineOf(unknown, 'segment.from-1').detail).toMatch(/^host not usable: /);
      sshd.trust();
      const closed = await world.check({ from });
      expect(lineOf(closed, 'segment.from-1').verdict).toBe('not-checked');
      expect(lineOf(closed, 'segment.from-1').detail).toMatch(/TCP forwarding refused by/);
    });
  },
);
