import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { HeartbeatCheck } from '../../src/lib/toolkit/heartbeat/check.result.ts';
import { checkHeartbeat } from '../../src/lib/toolkit/heartbeat/check.ts';
import { openToolkit } from '../../src/lib/toolkit/toolkit.ts';
import { context, openWorld, type SiteText, type World } from './checklist-world.ts';

let world: World;
const OWN_SERIAL = 'SIM-0001';

beforeAll(async () => {
  world = await openWorld({ with: [], robots: 2 });
  await world.startGateway();
}, 60_000);
afterAll(async () => {
  await world[Symbol.asyncDispose]();
});

const check = async (): Promise<HeartbeatCheck> =>
  checkHeartbeat(await openToolkit(world.sitePath), { seconds: 9 }, context);
const verdictsOf = ({ findings }: HeartbeatCheck, verdict: string) =>
  findings.filter((finding) => finding.verdict === verdict).map(({ id }) => id);
const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

async function withSite(edit: (site: SiteText) => void, work: () => Promise<void>): Promise<void> {
  const { fleet } = (await openToolkit(world.sitePath)).site;
  await world.editSites(edit);
  await work();
  await world.editSites((site) => {
    site.fleet = { ...fleet, keyFile: 'secrets/heartbeat' };
  });
}

describe('gw heartbeat check beside a running gateway and two robots', () => {
  it('is ok when every line is, and names the own sending and every period', { timeout: 30_000 }, async () => {
    const result = await check();
    expect(verdictsOf(result, 'wrong')).toEqual([]);
    expect(verdictsOf(result, 'not-checked')).toEqual([]);
    expect(result).toMatchObject({ verdict: 'ok', heard: ['SIM-N001', 'SIM-N002'], hears: 'broadcasts' });
    expect(verdictsOf(result, 'ok')).toEqual(
      expect.arrayContaining([
        'own-serial',
        'own-unicast-127.0.0.2',
        'own-period',
        'period-SIM-N001',
        'period-SIM-N002',
      ]),
    );
  });

  it.each([
    ['fleet-wrong-key', ['robot-SIM-N002', 'noise'], 6_500],
    ['fleet-serial-conflict', ['conflicts'], 7_000],
    ['fleet-replaying', ['replays'], 0],
    ['fleet-clock-jumps', ['uptime'], 0],
    ['fleet-silent', ['robot-SIM-N002'], 6_500],
  ] as const)('is wrong with %s', { timeout: 60_000 }, async (fault, ids, lateMs) => {
    world.sim.setFault(fault, true);
    await wait(lateMs);
    const result = await check();
    world.sim.setFault(fault, false);
    expect(result.verdict).toBe('wrong');
    expect(verdictsOf(result, 'wrong')).toEqual(expect.arrayContaining([...ids]));
    for (const id of ids) expect(result.findings.find((finding) => finding.id === id)?.remedy).toBeTruthy();
  });

  it('is not decided when the site file names no robot, and says how to write that there is one', {
    timeout: 30_000,
  }, async () => {
    await withSite(
      (site) => {
        site.fleet.robots = [];
      },
      async () => {
        const result = await check();
        expect(verdictsOf(result, 'not-checked')).toEqual(expect.arrayContaining(['robots', 'strangers']));
        expect(result.verdict).not.toBe('ok');
        expect(result.findings.find(({ id }) => id === 'robots')?.detail).toContain(`fleet.robots: [${OWN_SERIAL}]`);
      },
    );
  });

  it('is wrong of a robot that is named as the only one where others have its key', { timeout: 30_000 }, async () => {
    await withSite(
      (site) => {
        site.fleet.robots = [OWN_SERIAL];
      },
      async () => {
        const result = await check();
        expect(result.findings.find(({ id }) => id === 'robots')?.verdict).toBe('not-applicable');
        expect(verdictsOf(result, 'wrong')).toEqual(['strangers']);
      },
    );
  });

  it('is wrong once the gateway does not run: what it sent before is no green line', { timeout: 40_000 }, async () => {
    await world.gateway()[Symbol.asyncDispose]();
    const result = await check();
    expect(verdictsOf(result, 'wrong')).toEqual(
      expect.arrayContaining(['own-serial', 'own-unicast-127.0.0.2', 'own-unicast-127.0.0.3']),
    );
    expect(verdictsOf(result, 'ok').filter((id) => id.startsWith('own'))).toEqual([]);
  });
});
