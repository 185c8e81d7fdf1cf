import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { askCloud } from '../../../../src/lib/sim/control/cloud-commands.ts';
import {
  simTunnelBrowseSchema,
  simTunnelCloseSchema,
  simTunnelListSchema,
  simTunnelOpenSchema,
  simTunnelRotateSchema,
} from '../../../../src/lib/sim/control/control.result.ts';
import { type SimTunnelBrowseOptions, simTunnelBrowse } from '../../../../src/lib/sim/control/tunnel-commands.ts';
import { loadSite } from '../../../../src/lib/site/index.ts';
import { createFakeClock } from '../../../lifecycle/fake-clock.ts';
import { until } from '../../raw-client.ts';
import { type CloudSim, SERIAL, startCloudSim } from '../device.ts';
import { dial } from './client.ts';
import { startDestination, startPages } from './destination.ts';

// The commands of `gw sim tunnel` through the control port of a running simulator, with a destination of the test.

const signal = new AbortController().signal;
const topic = `gw/${SERIAL}/tunnels/notify`;
const notifications = async (device: { next(topic: string, skip?: number): Promise<object> }, skip = 0) =>
  (await device.next(topic, skip)) as { clientAccessToken: string; services: string[]; region: string };

const browseOptions = (about: Partial<SimTunnelBrowseOptions> = {}): SimTunnelBrowseOptions => ({
  tunnelId: null,
  lifetimeMs: 300_000,
  paths: ['/'],
  timeoutMs: 10_000,
  signal,
  ...about,
});

/** A device that connects the destination for each notification. */
async function withDestination(world: CloudSim) {
  const device = await world.connect();
  await device.client.subscribeAsync(topic, { qos: 1 });
  const pages = await startPages();
  const destinations: ReturnType<typeof startDestination>[] = [];
  device.client.on('message', (_topic, payload) => {
    const { clientAccessToken: token, services } = JSON.parse(payload.toString());
    const about = { ca: world.ca().caPem, token, service: services[0], targetPort: pages.port };
    destinations.push(startDestination(world.cloud.tunnel.place, about));
  });
  return {
    destinations,
    async [Symbol.asyncDispose]() {
      for (const destination of destinations) destination[Symbol.dispose]();
      await pages[Symbol.asyncDispose]();
      await device[Symbol.asyncDispose]();
    },
  };
}

describe('gw sim tunnel', () => {
  it('open: the device receives exactly the notification, and the printed token connects the source', async () => {
    await using world = await startCloudSim();
    const without = await askCloud(world, { action: 'tunnel-open', services: ['web'], lifetimeMs: 10 * 60_000 });
    expect(simTunnelOpenSchema.parse(without)).toEqual(without);
    expect(without).toMatchObject({ connected: false, tunnel: { status: 'OPEN', serial: SERIAL, services: ['web'] } });
    expect(without.tunnel.leftMs).toBeGreaterThan(599_000);
    expect(without).toMatchObject({ ...world.cloud.places.tunnel, caFile: join(world.dir, 'enrolment-ca.pem') });
    await using device = await world.connect();
    await device.client.subscribeAsync(topic, { qos: 1 });
    const { connected, sourceToken } = await askCloud(world, {
      action: 'tunnel-open',
      services: ['a', 'b'],
      lifetimeMs: 1 * 60_000,
      region: 'x-1',
    });
    expect(connected).toBe(true);
    const notification = await notifications(device);
    expect(Object.keys(notification).toSorted()).toEqual(['clientAccessToken', 'clientMode', 'region', 'services']);
    expect(notification).toMatchObject({ clientMode: 'destination', region: 'x-1', services: ['a', 'b'] });
    expect(device.received[0]).toMatchObject({ topic, retain: false });
    const service = { place: world.cloud.tunnel.place, caPem: world.ca().caPem };
    expect(await dial(service, 'source', { token: sourceToken })).toHaveProperty('ws');
    expect(await dial(service, 'destination', { token: notification.clientAccessToken })).toHaveProperty('ws');
  });

  it('open: to another device, and an error for no service', async () => {
    await using world = await startCloudSim();
    const { tunnel } = await askCloud(world, {
      action: 'tunnel-open',
      services: ['web'],
      lifetimeMs: 1 * 60_000,
      serial: 'SN0007',
    });
    expect(tunnel.serial).toBe('SN0007');
    await expect(
      askCloud(world, { action: 'tunnel-open', services: [], lifetimeMs: 1 * 60_000 }),
    ).rejects.toMatchObject({ code: 'USAGE' });
    await expect(
      askCloud(world, { action: 'tunnel-open', services: ['a'], lifetimeMs: 721 * 60_000 }),
    ).rejects.toMatchObject({ code: 'USAGE' });
  });

  it('open: nothing is sent while the broker is down, and no tunnel is left open', async () => {
    await using world = await startCloudSim();
    world.sim.setFault('cloud-cut', true);
    await world.sim.settled();
    await expect(askCloud(world, { action: 'tunnel-open', services: ['web'], lifetimeMs: 1 * 60_000 })).rejects.toThrow(
      'cloud-cut',
    );
    expect((await askCloud(world, { action: 'tunnel-list' })).tunnels).toMatchObject([{ status: 'CLOSED' }]);
  });

  it('rotate, close and list: of the only open tunnel, or a named one', async () => {
    await using world = await startCloudSim();
    await expect(askCloud(world, { action: 'tunnel-close' })).rejects.toThrow('No tunnel is open.');
    await using device = await world.connect();
    await device.client.subscribeAsync(topic, { qos: 1 });
    const first = await askCloud(world, { action: 'tunnel-open', services: ['web'], lifetimeMs: 1 * 60_000 });
    const rotated = await askCloud(world, { action: 'tunnel-rotate', side: 'destination' });
    expect(simTunnelRotateSchema.parse(rotated)).toEqual(rotated);
    expect(rotated).toMatchObject({ sourceToken: null, connected: true, tunnel: { tunnelId: first.tunnel.tunnelId } });
    expect((await notifications(device, 1)).clientAccessToken).not.toBe(
      (await notifications(device)).clientAccessToken,
    );
    const second = await askCloud(world, { action: 'tunnel-open', services: ['web'], lifetimeMs: 1 * 60_000 });
    await expect(askCloud(world, { action: 'tunnel-rotate', side: 'all' })).rejects.toThrow('2 tunnels are open.');
    const source = await askCloud(world, { action: 'tunnel-rotate', tunnelId: second.tunnel.tunnelId, side: 'source' });
    expect([source.connected, source.sourceToken === second.sourceToken]).toEqual([null, false]);
    const closed = await askCloud(world, { action: 'tunnel-close', tunnelId: first.tunnel.tunnelId });
    expect(simTunnelCloseSchema.parse(closed)).toEqual(closed);
    expect(closed.tunnel).toMatchObject({ status: 'CLOSED', closedBy: 'person' });
    await dial({ place: world.cloud.tunnel.place, caPem: world.ca().caPem }, 'source', { token: 'x' });
    const list = await askCloud(world, { action: 'tunnel-list' });
    expect(simTunnelListSchema.parse(list)).toEqual(list);
    expect(list.tunnels.map(({ status }) => status)).toEqual(['CLOSED', 'OPEN']);
    expect(list.handshakes).toMatchObject([
      { mode: 'source', status: 400, tunnelId: null, reason: 'Invalid access token' },
    ]);
    expect(JSON.stringify(list)).not.toContain(source.sourceToken);
  });

  it('browse: pages through the tunnel, each over a connection of its own, and the tunnel is closed afterwards', async () => {
    await using world = await startCloudSim();
    await using device = await withDestination(world);
    const paths = ['/', '/big', '/settings', '/cut'];
    const browsed = await simTunnelBrowse(world, browseOptions({ paths }));
    expect(simTunnelBrowseSchema.parse(browsed)).toEqual(browsed);
    expect(browsed).toMatchObject({ opened: true, problem: null, service: 'web' });
    const [page, big, refused, cut] = browsed.pages;
    expect(page).toMatchObject({
      path: '/',
      status: 200,
      problem: null,
      title: 'Robot  SN0007',
      lines: [
        '<!doctype html>',
        '<html>',
        '<head><title>Robot  SN0007</title></head>',
        '<body>Hello</body>',
        '</html>',
      ],
      headers: { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store' },
    });
    expect(big).toMatchObject({ status: 200, bytes: 3_000_000, title: null, lines: [] });
    expect(refused).toMatchObject({ status: 403, problem: null, lines: ['{"error":{"code":"READ_ONLY"}}'] });
    // Half a page is no answer.
    expect(cut).toMatchObject({ status: 200, problem: expect.any(String) });
    expect(device.destinations[0]?.connections()).toBe(4);
    expect((await askCloud(world, { action: 'tunnel-list' })).tunnels).toMatchObject([
      { status: 'CLOSED', closedBy: 'person' },
    ]);
  });

  it('browse: through a given tunnel, which stays open', async () => {
    await using world = await startCloudSim();
    await using _device = await withDestination(world);
    const { tunnel, sourceToken } = await askCloud(world, {
      action: 'tunnel-open',
      services: ['status', 'web'],
      lifetimeMs: 1 * 60_000,
    });
    const { tunnelId } = tunnel;
    const browsed = await simTunnelBrowse(world, browseOptions({ tunnelId }));
    expect(browsed).toMatchObject({ opened: false, service: 'status', pages: [{ status: 200 }] });
    expect((await askCloud(world, { action: 'tunnel-list' })).tunnels).toMatchObject([
      { status: 'OPEN', source: { connects: 1 } },
    ]);
    const service = { place: world.cloud.tunnel.place, caPem: world.ca().caPem };
    expect(await dial(service, 'source', { token: sourceToken })).toMatchObject({ status: 400 });
    const { sourceToken: token } = await askCloud(world, { action: 'tunnel-rotate', side: 'source' });
    await expect(simTunnelBrowse(world, browseOptions({ tunnelId, service: 'ssh' }))).rejects.toThrow(
      "The tunnel has no service 'ssh'; it has status, web.",
    );
    // Refused before its token was replaced.
    expect(await dial(service, 'source', { token: token ?? '' })).toHaveProperty('ws');
    await expect(simTunnelBrowse(world, browseOptions({ tunnelId: 'none' }))).rejects.toThrow(
      "There is no tunnel 'none'",
    );
  });

  it('browse: claims no page without a destination, after a refusal, or without an answer', async () => {
    const clock = createFakeClock();
    await using world = await startCloudSim();
    const waiting = simTunnelBrowse(world, browseOptions({ clock }));
    let isWaiting = true;
    void waiting.finally(() => {
      isWaiting = false;
    });
    await until(async () => {
      await clock.advance(200);
      return !isWaiting;
    });
    const none = await waiting;
    expect(none).toMatchObject({ problem: 'no destination connected within 10 s', pages: [] });
    expect((await askCloud(world, { action: 'tunnel-list' })).tunnels).toMatchObject([{ status: 'CLOSED' }]);

    await using _device = await withDestination(world);
    const silent = await simTunnelBrowse(world, browseOptions({ paths: ['/never'], timeoutMs: 500 }));
    expect(silent.pages).toMatchObject([{ status: null, problem: 'no complete answer within 500 ms' }]);

    const { tunnel } = await askCloud(world, { action: 'tunnel-open', services: ['web'], lifetimeMs: 1 * 60_000 });
    await until(() => world.cloud.tunnel.list().at(-1)?.destination.connected === true);
    world.sim.setFault('cloud-tunnel-refused', true);
    const refused = await simTunnelBrowse(world, browseOptions({ tunnelId: tunnel.tunnelId }));
    expect(refused).toMatchObject({ problem: 'the tunnel service refused the source: 403 Forbidden', pages: [] });
    const unreachable = await simTunnelBrowse(world, browseOptions({ timeoutMs: 300 }));
    expect(unreachable.problem).toContain('its last handshake: 403 Forbidden');
  });

  it('browse: a destination that is lost during an answer is a problem of that page', async () => {
    await using world = await startCloudSim();
    await using device = await withDestination(world);
    const { tunnel } = await askCloud(world, { action: 'tunnel-open', services: ['web'], lifetimeMs: 1 * 60_000 });
    const browsing = simTunnelBrowse(world, browseOptions({ tunnelId: tunnel.tunnelId, paths: ['/never'] }));
    await until(() => device.destinations[0]?.connections() === 1);
    device.destinations[0]?.ws.terminate();
    expect((await browsing).pages).toMatchObject([{ status: null, problem: 'the stream was reset' }]);
  });

  it('browse: a signal ends it and closes the tunnel; an invalid path opens none', async () => {
    await using world = await startCloudSim();
    const aborter = new AbortController();
    const onProgress = () => aborter.abort(new Error('Ctrl-C'));
    await expect(simTunnelBrowse(world, browseOptions({ signal: aborter.signal, onProgress }))).rejects.toThrow(
      'Ctrl-C',
    );
    expect((await askCloud(world, { action: 'tunnel-list' })).tunnels).toMatchObject([{ status: 'CLOSED' }]);
    for (const path of ['service', '/a b', '/a\nb', '']) {
      await expect(simTunnelBrowse(world, browseOptions({ paths: [path] }))).rejects.toMatchObject({ code: 'USAGE' });
    }
    expect((await askCloud(world, { action: 'tunnel-list' })).tunnels).toHaveLength(1);
  });

  it('has a tunnel in the site file that the site schema accepts', async () => {
    await using world = await startCloudSim();
    const { cloud } = await loadSite(join(world.dir, 'site.yaml'));
    expect(cloud?.tunnel).toMatchObject({ ...world.cloud.places.tunnel, services: ['web'] });
    expect(cloud?.caFile).toBe(join(world.dir, 'enrolment-ca.pem'));
  });
});
