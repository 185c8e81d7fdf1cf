import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createIdentityReader, openCloud } from '../../src/lib/gateway/cloud.ts';
import { silentLog, systemClock } from '../../src/lib/lifecycle/index.ts';
import { createCa } from '../../src/lib/sim/cloud/certificates.ts';
import { startCloud } from '../../src/lib/sim/cloud/cloud.ts';
import { loadSite, parseSite } from '../../src/lib/site/index.ts';
import { shared } from '../lifecycle/shared.ts';
import { standInHealth, standInLink, standInMotion } from '../operator/stand-ins.ts';
import { SERIAL, writeIdentity } from '../toolkit/network/world.ts';
import { until } from '../waiting.ts';

const parts = () => ({
  ...{ link: standInLink(), motion: standInMotion(), health: () => standInHealth(), clock: systemClock },
  ...{ log: silentLog, version: '1.2.3', launched: null, restart: () => {}, onTunnelNotification: () => {} },
});

async function gatewayWithCloud() {
  const dir = mkdtempSync(join(tmpdir(), 'gw-gateway-cloud-'));
  const authority = await createCa();
  const sim = await startCloud({ ca: authority, faults: { is: () => false }, clock: systemClock, serial: SERIAL });
  await writeIdentity(dir, authority);
  const { mqtt } = sim.places;
  writeFileSync(
    join(dir, 'site.yaml'),
    `name: Lobby
chassis: { host: 127.0.0.1, serial: ${SERIAL} }
enrolment: { url: 'https://enrol.example.com/', identityDir: identity }
stateDir: state
cloud: { mqtt: { host: ${mqtt.host}, port: ${mqtt.port}, fallbackPort: ${mqtt.fallbackPort}, alpn: ${mqtt.alpn} } }
`,
  );
  const used = parts();
  const site = await loadSite(join(dir, 'site.yaml'));
  const cloud = await openCloud(site, { ...used, readIdentity: createIdentityReader(site) });
  if (cloud === null) throw new Error('no cloud');
  const ending = new AbortController();
  await cloud.start({ signal: ending.signal, fail: (error) => expect.fail(String(error)) });
  await until(
    () => cloud.view().status,
    (status) => status === 'connected',
  );
  const received = (topic: string) =>
    sim
      .received()
      .filter((message) => message.topic === `gw/${SERIAL}/${topic}`)
      .map(({ payload }) => JSON.parse(Buffer.from(payload).toString()));
  return {
    ...used,
    cloud,
    sim,
    received,
    async [Symbol.asyncDispose]() {
      await cloud.stop();
      ending.abort();
      await sim[Symbol.asyncDispose]();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

const world = shared(await gatewayWithCloud());

describe('the cloud of the gateway', () => {
  it('is null for a site file without cloud', async () => {
    const site = parseSite(`name: Lobby\nchassis: { host: 127.0.0.1, serial: ${SERIAL} }\n`, 'site.yaml');
    expect(
      await openCloud({ ...site, stateDir: '/nonexistent' }, { ...parts(), readIdentity: async () => null }),
    ).toBeNull();
  });

  it('publishes the state of the robot in telemetry and shadow', async () => {
    await expect.poll(() => world.received('telemetry').length).toBeGreaterThan(0);
    expect(world.received('telemetry')[0]).toMatchObject({ serial: SERIAL, gw: { version: '0', status: 'ok' } });
    await expect.poll(() => world.received('shadow/update').length).toBeGreaterThan(0);
    const { reported } = world.received('shadow/update')[0].state;
    expect(reported).toMatchObject({ gw: { version: '1.2.3' }, site: { name: 'Lobby' } });
  });

  it('reaches nothing else of the robot: neither a desired state, nor a release without launcher, nor a tunnel', async () => {
    const { motion, sim, link, cloud } = world;
    await sim.send(`gw/${SERIAL}/shadow/update/delta`, JSON.stringify({ state: { stop: { latched: false } } }));
    const tunnel = { clientAccessToken: 'T', clientMode: 'destination', region: 'eu-central-1', services: ['SSH'] };
    await sim.send(`gw/${SERIAL}/tunnels/notify`, JSON.stringify(tunnel));
    sim.createJob({ schema: 'gw/release-job/1', version: '9.9.9' }, { jobId: 'job-1' });
    await expect.poll(() => cloud.view().received).toMatchObject({ tunnelNotifications: 1 });
    await expect.poll(() => sim.jobs()).toMatchObject([{ status: 'REJECTED' }]);
    expect(motion.calls).toEqual([]);
    expect(link.forwarded).toEqual([]);
  });

  it('stops the robot with reason and sender of the message, and with own words without them', async () => {
    const { motion, sim } = world;
    const stop = () => motion.status().stop;
    await sim.stop({ reason: 'fire alarm', by: 'control centre' });
    await expect.poll(stop).toMatchObject({ latched: true, reason: 'fire alarm', by: 'cloud, control centre' });
    await motion.clearStop('a person on site');
    await sim.stop();
    await expect.poll(stop).toMatchObject({ latched: true, reason: 'Stop from the cloud', by: 'cloud' });
    expect(motion.calls.filter((call) => call.startsWith('stopRobot'))).toHaveLength(2);
    await motion.clearStop('a person on site');
  });

  it('does not acknowledge a stop before the motion module has it on the disk', async () => {
    const { motion, sim, cloud } = world;
    const disk = Promise.withResolvers<void>();
    motion.untilStopSaved = () => disk.promise;
    await sim.stop({ reason: 'fire alarm' });
    await expect.poll(() => cloud.view().received?.unsavedStops).toBe(1);
    expect(motion.status().stop.latched).toBe(true);
    disk.resolve();
    await expect.poll(() => cloud.view().received?.unsavedStops).toBe(0);
  });
});
