import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { openWorld, type SiteText, type World } from './checklist-world.ts';
import { runGw } from './gw.ts';

let world: World;

beforeAll(async () => {
  world = await openWorld({ with: [], robots: 2 });
  await world.startGateway();
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
});

/** Two heartbeats of every robot. */
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
