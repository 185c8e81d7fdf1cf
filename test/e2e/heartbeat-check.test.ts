import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { checkHeartbeat } from '../../src/lib/toolkit/heartbeat/check.ts';
import type { HeartbeatCheck } from '../../src/lib/toolkit/heartbeat/heartbeat.result.ts';
import { openToolkit } from '../../src/lib/toolkit/toolkit.ts';
import { context, OPERATOR_PORT, openWorld, type SiteText, type World } from './checklist-world.ts';
import { runGw } from './gw.ts';
import { until } from './robot.ts';

interface Neighbours {
  readonly robots: readonly { readonly conflictWith: string | null }[];
}

let world: World;
const OWN_SERIAL = 'SIM-0001';

beforeAll(async () => {
  world = await openWorld({ with: [], robots: 2 });
  await world.startGateway();
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
});

const check = async (seconds: number, sitePath = world.sitePath): Promise<HeartbeatCheck> =>
  checkHeartbeat(await openToolkit(sitePath), { seconds }, context);
const verdictsOf = ({ findings }: HeartbeatCheck, verdict: string) =>
  findings.filter((finding) => finding.verdict === verdict).map(({ id }) => id);

/** Another site file for the same robot, beside its own, with these robots of the fleet. */
async function siteNaming(robots: readonly string[]): Promise<string> {
  const site = parse(await readFile(world.sitePath, 'utf8')) as SiteText;
  const path = join(world.dir, `site-of-${robots.length}.yaml`);
  await writeFile(path, stringify({ ...site, fleet: { ...site.fleet, robots } }));
  return path;
}

/** A gateway needs several heartbeats of both to detect two devices. */
const gatewayReportsConflict = () =>
  until(
    async () => (await (await fetch(`http://127.0.0.1:${OPERATOR_PORT}/api/nachbarn`)).json()) as Neighbours,
    ({ robots }) => robots.some(({ conflictWith }) => conflictWith !== null),
  );

/** More than three heartbeats, so that every period is known, and a robot that was received before counts as silent. */
const NINE_S = 9;
/** Two heartbeats of every robot: enough for faults that one heartbeat shows. */
const FIVE_S = 5;

describe.concurrent('gw heartbeat sniff beside a running gateway', () => {
  it('shows the robots whose unicast heartbeats the gateway receives, and says so', async () => {
    const shown = await runGw(['heartbeat', 'sniff', '--site', world.sitePath, '--for', `${FIVE_S}`, '--json']);
    const last = JSON.parse(shown.stdout.trim().split('\n').at(-1) ?? '');
    expect([shown.code, shown.stderr]).toEqual([0, '']);
    expect(last).toMatchObject({
      event: 'ended',
      receives: 'gateway',
      senders: ['SIM-N001', 'SIM-N002'].map((serial) => ({ serial, verified: true, presence: 'alive' })),
    });
    expect(last.datagrams).toBeGreaterThan(0);
    const unverified = await runGw(['heartbeat', 'sniff', '--no-key', '--for', '1', '--json']);
    expect(JSON.parse(unverified.stdout.trim().split('\n').at(-1) ?? '')).toMatchObject({
      receives: 'broadcasts',
      gateway: null,
    });
  });

  it('shows the robots of its own network where the gateway is that of another robot', async () => {
    const site = parse(await readFile(world.sitePath, 'utf8')) as SiteText;
    const other = join(world.dir, 'site-of-another.yaml');
    await writeFile(other, stringify({ ...site, chassis: { ...site.chassis, serial: 'SIM-9999' } }));
    const { stdout } = await runGw(['heartbeat', 'sniff', '--site', other, '--for', '1', '--json']);
    expect(JSON.parse(stdout.trim().split('\n').at(-1) ?? '')).toMatchObject({ receives: 'broadcasts', gateway: null });
  });
});

// They change nothing, so they run concurrently.
describe.concurrent('gw heartbeat check beside a running gateway and two robots', () => {
  it('is ok when every finding is, and shows the own sending and every period', async () => {
    const result = await check(NINE_S);
    expect(verdictsOf(result, 'wrong')).toEqual([]);
    expect(verdictsOf(result, 'not-checked')).toEqual([]);
    expect(result).toMatchObject({ verdict: 'ok', received: ['SIM-N001', 'SIM-N002'], receives: 'broadcasts' });
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

  it('is undecided when the site file names no robot, and states how to declare a single robot', async () => {
    const result = await check(NINE_S, await siteNaming([]));
    expect(verdictsOf(result, 'not-checked')).toEqual(expect.arrayContaining(['robots', 'strangers']));
    expect(result.verdict).not.toBe('ok');
    expect(result.findings.find(({ id }) => id === 'robots')?.detail).toContain(`fleet.robots: [${OWN_SERIAL}]`);
  });

  it('is wrong for a robot named as the only one where others have its key', async () => {
    const result = await check(NINE_S, await siteNaming([OWN_SERIAL]));
    expect(result.findings.find(({ id }) => id === 'robots')?.verdict).toBe('not-applicable');
    expect(verdictsOf(result, 'wrong')).toEqual(['strangers']);
  });
});

describe('gw heartbeat check of a fleet with a fault', () => {
  it.each([
    ['fleet-replaying', ['replays'], FIVE_S],
    ['fleet-clock-jumps', ['uptime'], NINE_S],
    ['fleet-serial-conflict', ['conflicts'], FIVE_S],
    ['fleet-wrong-key', ['robot-SIM-N002', 'noise'], NINE_S],
    ['fleet-silent', ['robot-SIM-N002'], NINE_S],
  ] as const)('is wrong with %s', async (fault, ids, seconds) => {
    world.sim.setFault(fault, true);
    if (fault === 'fleet-serial-conflict') await gatewayReportsConflict();
    const result = await check(seconds);
    world.sim.setFault(fault, false);
    expect(result.verdict).toBe('wrong');
    expect(verdictsOf(result, 'wrong')).toEqual(expect.arrayContaining([...ids]));
    for (const id of ids) expect(result.findings.find((finding) => finding.id === id)?.remedy).toBeTruthy();
  });

  it('is wrong once the gateway does not run: earlier heartbeats do not count', async () => {
    await world.stopGateway();
    const result = await check(FIVE_S);
    expect(verdictsOf(result, 'wrong')).toEqual(
      expect.arrayContaining(['own-serial', 'own-unicast-127.0.0.2', 'own-unicast-127.0.0.3']),
    );
    expect(verdictsOf(result, 'ok').filter((id) => id.startsWith('own'))).toEqual([]);
  });
});
