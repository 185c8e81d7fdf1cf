import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runGw } from '../e2e/gw.ts';
import { type Robot, startRobot } from '../e2e/robot.ts';
import { hasProgram } from './peer.ts';
import { type Link, startLink } from './ssh-link.ts';
import { type Sshd, startSshd } from './sshd.ts';

/** A radio link at the edge of its range: each answer takes 0.8 s, and now and then 0.9 s more. */
const atTheEdge = { delayMs: 400, stallMs: 900, everyMs: 3_000 };

describe.skipIf(!hasProgram('sshd'))('a slow link to a real OpenSSH server', () => {
  let robot: Robot;
  let sshd: Sshd;
  let link: Link;
  beforeAll(async () => {
    robot = await startRobot();
    sshd = await startSshd();
    link = await startLink(sshd.port, atTheEdge);
    sshd.trust(link.port);
  });
  afterAll(async () => {
    await link?.[Symbol.asyncDispose]();
    await sshd?.[Symbol.asyncDispose]();
    await robot?.[Symbol.asyncDispose]();
  });

  const overLink = (...words: string[]) =>
    runGw([...words, '--site', robot.site, '--via', `127.0.0.1:${link.port}`], {
      env: { HOME: sshd.home },
    });

  it('is measured and named, the chassis behind it is connected, and its response time is not decided', async () => {
    const [address, maps, probe] = await Promise.all([
      overLink('chassis', 'address'),
      overLink('map', 'list'),
      overLink('chassis', 'probe', '--for', '3'),
    ]);
    expect(address.code, address.stderr).toBe(0);
    expect(address.stderr).toMatch(/^The SSH link to \S+ is slow: round trip \d+ ms, longest \d+ ms\./m);
    const [first, ...lines] = address.stdout.split('\n').filter((line) => line !== '');
    expect(first).toMatch(/^connected: /);
    const [, median] = /^-- {3}link {4}slow, via \S+: round trip (\d+) ms, longest \d+ ms$/.exec(lines[0] ?? '') ?? [];
    expect(Number(median)).toBeGreaterThanOrEqual(800);
    expect(maps.code, maps.stderr).toBe(0);
    expect(probe.stdout).toMatch(
      /^-- {3}Response time: .* with the SSH link in it \(round trip \d+ ms, longest \d+ ms\)$/m,
    );
    expect(probe.stdout).toMatch(/^ok {3}Serial number matches the site file/m);
  });

  it('is named where the chassis gives no answer, and no one is sent to its power', async () => {
    await robot.fault('silent', 'on');
    try {
      const [address, json, maps] = await Promise.all([
        overLink('chassis', 'address'),
        overLink('chassis', 'address', '--json'),
        overLink('map', 'list'),
      ]);
      expect(address.code).toBe(3);
      expect(address.stdout.split('\n')[0]).toMatch(/^not connected: tried .* a slow link \(round trip \d+ ms/);
      expect(JSON.parse(json.stdout).data).toMatchObject({
        failure: 'no-answer',
        link: { isSlow: true },
        tried: { slowLink: { medianMs: expect.any(Number) } },
      });
      expect(maps.code).toBe(3);
      for (const text of [address.stdout, maps.stderr]) {
        expect(text).toMatch(/run the command on the gateway itself/);
        expect(text).not.toMatch(/power|switch/);
      }
    } finally {
      await robot.fault('silent', 'off');
    }
  });
});
