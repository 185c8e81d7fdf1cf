import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { askCloud } from '../../../../src/lib/sim/control/cloud-commands.ts';
import * as schemas from '../../../../src/lib/sim/control/control.result.ts';
import { type SimTunnelBrowseOptions, simTunnelBrowse } from '../../../../src/lib/sim/control/tunnel-commands.ts';
import { shared } from '../../../lifecycle/shared.ts';
import { createDrivenClock, type DrivenClock } from '../../driven-clock.ts';
import { until } from '../../raw-client.ts';
import { type Device, SERIAL, startCloudSim } from '../device.ts';
import { dial, type Side } from './client.ts';
import { startDestination, startPages } from './destination.ts';

// The commands of `gw sim tunnel` through the control port of a running simulator, with a destination of the test.

const world = shared(await startCloudSim());

const signal = new AbortController().signal;
const NOTIFY = 'tunnels/notify';
const minute = { lifetimeMs: 60_000 };
type About = Partial<Omit<SimTunnelBrowseOptions, 'clock'>>;
const browse = (about: About = {}, clock?: DrivenClock) => {
  const usual = { tunnelId: null, lifetimeMs: 300_000, paths: ['/'], timeoutMs: 10_000, signal };
  return simTunnelBrowse(world, { ...usual, ...about, ...(clock && { clock }) });
};
const open = (about: object = {}) => askCloud(world, { action: 'tunnel-open', services: ['web'], ...minute, ...about });
const list = () => askCloud(world, { action: 'tunnel-list' });
const last = async () => (await list()).tunnels.at(-1);
const close = (tunnelId?: string) => askCloud(world, { action: 'tunnel-close', tunnelId });
const rotate = (side: Side | 'all', tunnelId?: string) => askCloud(world, { action: 'tunnel-rotate', side, tunnelId });
const connects = (side: Side, token: string | null) =>
  dial({ place: world.cloud.tunnel.place, caPem: world.ca().caPem }, side, { token: token ?? '' });
const notified = async (device: Device, skip = 0) =>
  (await device.next(NOTIFY, skip)) as { clientAccessToken: string; services: string[] };

async function withDevice() {
  const device = await world.connect({ clean: true });
  await device.subscribe(NOTIFY);
  return device;
}

/** A device that connects the destination for each notification. */
async function withDestination() {
  const device = await withDevice();
  const pages = await startPages();
  const destinations: ReturnType<typeof startDestination>[] = [];
  device.client.on('message', (_topic, payload) => {
    const { clientAccessToken: token, services } = JSON.parse(payload.toString());
    const about = { ca: world.ca().caPem, token, service: services[0], targetPort: pages.port };
    destinations.push(startDestination(world.cloud.tunnel.place, about));
  });
  return {
    destinations,
    pages,
    async [Symbol.asyncDispose]() {
      for (const destination of destinations) destination[Symbol.dispose]();
      await pages[Symbol.asyncDispose]();
      await device[Symbol.asyncDispose]();
    },
  };
}

describe('gw sim tunnel', () => {
  it('rotate, close and list: of the only open tunnel, or a named one', async () => {
    await expect(close()).rejects.toThrow('No tunnel is open.');
    await using device = await withDevice();
    const first = (await open()).tunnel.tunnelId;
    const rotated = await rotate('destination');
    expect(schemas.simTunnelRotateSchema.parse(rotated)).toEqual(rotated);
    expect(rotated).toMatchObject({ sourceToken: null, connected: true, tunnel: { tunnelId: first } });
    expect((await notified(device, 1)).clientAccessToken).not.toBe((await notified(device)).clientAccessToken);
    const second = await open();
    await expect(rotate('all')).rejects.toThrow('2 tunnels are open.');
    const { connected, sourceToken } = await rotate('source', second.tunnel.tunnelId);
    expect([connected, sourceToken === second.sourceToken]).toEqual([null, false]);
    const closed = await close(first);
    expect(schemas.simTunnelCloseSchema.parse(closed)).toEqual(closed);
    expect(closed.tunnel).toMatchObject({ status: 'CLOSED', closedBy: 'person' });
    await connects('source', 'x');
    const listed = await list();
    expect(schemas.simTunnelListSchema.parse(listed)).toEqual(listed);
    expect(listed.tunnels.map(({ status }) => status)).toEqual(['CLOSED', 'OPEN']);
    const handshake = { mode: 'source', status: 400, tunnelId: null, reason: 'Invalid access token' };
    expect(listed.handshakes).toMatchObject([handshake]);
    expect(JSON.stringify(listed)).not.toContain(sourceToken);
    await close();
  });

  it('open: the device receives exactly the notification, and the printed token connects the source', async () => {
    const without = await open({ lifetimeMs: 10 * 60_000 });
    expect(schemas.simTunnelOpenSchema.parse(without)).toEqual(without);
    expect(without).toMatchObject({ connected: false, tunnel: { status: 'OPEN', serial: SERIAL, services: ['web'] } });
    expect(without.tunnel.leftMs).toBeLessThanOrEqual(600_000);
    expect(without).toMatchObject({ ...world.cloud.places.tunnel, caFile: join(world.dir, 'enrolment-ca.pem') });
    await using device = await withDevice();
    const { connected, sourceToken } = await open({ services: ['a', 'b'], region: 'x-1' });
    const notification = await notified(device);
    const clientAccessToken = expect.any(String);
    expect([connected, notification]).toEqual([
      true,
      { clientAccessToken, clientMode: 'destination', region: 'x-1', services: ['a', 'b'] },
    ]);
    expect(device.received).toMatchObject([{ topic: device.topic(NOTIFY), retain: false }]);
    expect(await connects('source', sourceToken)).toHaveProperty('ws');
    expect(await connects('destination', notification.clientAccessToken)).toHaveProperty('ws');
    expect((await open({ serial: 'OTHER' })).tunnel.serial).toBe('OTHER');
    for (const wrong of [{ services: [] }, { lifetimeMs: 721 * 60_000 }]) {
      await expect(open(wrong)).rejects.toMatchObject({ code: 'USAGE' });
    }
  });

  it('open: nothing is sent while the broker is down, and no tunnel is left open', async () => {
    world.sim.setFault('cloud-cut', true);
    await world.sim.settled();
    await expect(open()).rejects.toThrow('cloud-cut');
    expect(await last()).toMatchObject({ status: 'CLOSED' });
    world.sim.setFault('cloud-cut', false);
    await world.sim.settled();
  });

  it('browse: pages through the tunnel, each over a connection of its own, and the tunnel is closed afterwards', async () => {
    await using device = await withDestination();
    const browsed = await browse({ paths: ['/', '/big', '/settings', '/cut'] });
    expect(schemas.simTunnelBrowseSchema.parse(browsed)).toEqual(browsed);
    expect(browsed).toMatchObject({ opened: true, problem: null, service: 'web' });
    const title = 'Robot  SN0007';
    expect(browsed.pages).toMatchObject([
      {
        ...{ path: '/', status: 200, problem: null, title },
        lines: ['<!doctype html>', '<html>', `<head><title>${title}</title></head>`, '<body>Hello</body>', '</html>'],
        headers: { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store' },
      },
      { status: 200, bytes: 3_000_000, title: null, lines: [] },
      { status: 403, problem: null, lines: ['{"error":{"code":"READ_ONLY"}}'] },
      // Half a page is no answer.
      { status: 200, problem: expect.any(String) },
    ]);
    expect(device.pages.connections()).toBe(4);
    expect(await last()).toMatchObject({ status: 'CLOSED', closedBy: 'person' });
  });

  it('browse: through a given tunnel, which stays open', async () => {
    await using _device = await withDestination();
    const { tunnel, sourceToken } = await open({ services: ['status', 'web'] });
    const { tunnelId } = tunnel;
    const browsed = await browse({ tunnelId });
    expect(browsed).toMatchObject({ opened: false, service: 'status', pages: [{ status: 200 }] });
    expect(await last()).toMatchObject({ status: 'OPEN', source: { connects: 1 } });
    expect(await connects('source', sourceToken)).toMatchObject({ status: 400 });
    const { sourceToken: token } = await rotate('source', tunnelId);
    const unknown = "The tunnel has no service 'ssh'; it has status, web.";
    await expect(browse({ tunnelId, service: 'ssh' })).rejects.toThrow(unknown);
    // Refused before its token was replaced.
    expect(await connects('source', token)).toHaveProperty('ws');
    await expect(browse({ tunnelId: 'none' })).rejects.toThrow("There is no tunnel 'none'");
  });

  it('browse: claims no page without a destination, after a refusal, or without an answer', async () => {
    const clock = createDrivenClock();
    const none = await clock.during(browse({}, clock));
    expect(none).toMatchObject({ problem: 'no destination connected within 10 s', pages: [] });
    expect(await last()).toMatchObject({ status: 'CLOSED' });

    await using device = await withDestination();
    const never = browse({ paths: ['/never'], timeoutMs: 60_000 }, clock);
    await clock.until(() => device.pages.connections() === 1);
    const problem = 'no complete answer within 60000 ms';
    expect((await clock.during(never)).pages).toMatchObject([{ status: null, problem }]);

    const { tunnelId } = (await open()).tunnel;
    await until(() => world.cloud.tunnel.list().at(-1)?.destination.connected === true);
    world.sim.setFault('cloud-tunnel-refused', true);
    const refused = await browse({ tunnelId });
    expect(refused).toMatchObject({ problem: 'the tunnel service refused the source: 403 Forbidden', pages: [] });
    const unreachable = browse({}, clock);
    await until(() => world.cloud.tunnel.handshakes().at(-1)?.mode === 'destination');
    expect((await clock.during(unreachable)).problem).toContain('its last handshake: 403 Forbidden');
    world.sim.setFault('cloud-tunnel-refused', false);
  });

  it('browse: a destination that is lost during an answer is a problem of that page', async () => {
    await using device = await withDestination();
    const { tunnelId } = (await open()).tunnel;
    const browsing = browse({ tunnelId, paths: ['/never'] });
    await until(() => device.pages.connections() === 1);
    device.destinations[0]?.[Symbol.dispose]();
    expect((await browsing).pages).toMatchObject([{ status: null, problem: 'the stream was reset' }]);
  });

  it('browse: a signal ends it and closes the tunnel; an invalid path opens none', async () => {
    const aborter = new AbortController();
    const onProgress = () => aborter.abort(new Error('Ctrl-C'));
    await expect(browse({ signal: aborter.signal, onProgress })).rejects.toThrow('Ctrl-C');
    expect(await last()).toMatchObject({ status: 'CLOSED' });
    const { length } = (await list()).tunnels;
    for (const path of ['service', '/a b', '/a\nb', '']) {
      await expect(browse({ paths: [path] })).rejects.toMatchObject({ code: 'USAGE' });
    }
    expect((await list()).tunnels).toHaveLength(length);
  });
});
