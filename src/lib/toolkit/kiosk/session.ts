import { join } from 'node:path';
import { GwError } from '../../error/index.ts';
import {
  afterConnection,
  afterOpen,
  connectTablet,
  type KioskProfile,
  lookAtPort,
  openBridge,
  openRelay,
  type PortScene,
  type Tablet,
  type TabletWay,
} from '../../kiosk/index.ts';
import { directDialer, type Endpoint, viaOf } from '../../net/index.ts';
import type { CheckContext, Toolkit } from '../toolkit.ts';
import { findAdb, startAdbServer } from './adb.ts';
import { changeRecord, sightingNow } from './memory.ts';

/** What every kiosk command may be told about the way to the tablet. */
export interface KioskAccess {
  /** The adb program; looked for when absent. */
  readonly adb?: string | undefined;
  /** The PATH of the person. */
  readonly searchPath?: string | undefined;
  /** The tablet is at a cable of this machine, and not in the network. */
  readonly usb?: boolean | undefined;
  /** How long a person may take to allow this computer on the tablet. */
  readonly authorizeMs: number;
}

/** Where the site file says that the tablet is. Throws USAGE when it names none. */
export function tabletEndpoint({ site }: Toolkit): Endpoint & { readonly profileFile: string } {
  if (site.tablet === undefined) {
    throw new GwError('USAGE', `${site.path} names no tablet.`, {
      remedy: 'Write the section tablet with the address of the tablet into the site file.',
    });
  }
  const { host, adbPort, profileFile } = site.tablet;
  return { host, port: adbPort, profileFile };
}

export function portScene(toolkit: Toolkit, { signal, onProgress }: CheckContext): PortScene {
  const { host, port } = tabletEndpoint(toolkit);
  return { dialer: toolkit.dialer, endpoint: { host, port }, clock: toolkit.clock, signal, onProgress };
}

/**
 * Runs `work` with the tablet: starts an adb server, connects, and ends the server whatever happens. That the tablet
 * was found open is remembered before anything else is done. Throws ADB_NOT_FOUND, PART_ENDED, TABLET_NOT_CONNECTED
 * and what {@link connectTablet} throws.
 */
export async function withTablet<T>(
  toolkit: Toolkit,
  access: KioskAccess & { readonly wanted: KioskProfile['tablet'] },
  context: CheckContext,
  work: (tablet: Tablet) => Promise<T>,
): Promise<T> {
  const { clock, dialer, site } = toolkit;
  const { signal, onProgress } = context;
  const scene = portScene(toolkit, context);
  const adb = await findAdb({ named: access.adb, searchPath: access.searchPath });
  const usb = access.usb === true;
  if (!usb) await refuseUnreachable(scene, toolkit);
  onProgress('Starting adb');
  await using server = await startAdbServer({ adb, keyDir: join(site.stateDir, 'adb'), usb, clock, signal });
  const { endpoint } = scene;
  // adb dials by itself and takes no IPv6 literals; a relay goes the way of our dialer.
  const needsRelay = !usb && (dialer !== directDialer || endpoint.host.includes(':'));
  await using relay = needsRelay ? await openRelay(dialer, endpoint) : undefined;
  const dialled = relay === undefined ? endpoint : { host: '127.0.0.1', port: relay.port };
  const way: TabletWay = usb ? { kind: 'usb' } : { kind: 'tcp', endpoint, dialled };
  const bridge = await openBridge(server.port, clock);
  onProgress('Connecting to the tablet');
  const { fingerprint } = server;
  const { wanted, authorizeMs } = access;
  const tablet = await connectTablet({ bridge, way, wanted, fingerprint, clock, signal, onProgress, authorizeMs });
  const seen = await sightingNow(toolkit, tablet.facts);
  await changeRecord(toolkit, (before) => {
    const connected = afterConnection(before, endpoint, tablet.facts, usb ? { ...seen, mac: null } : seen);
    return usb ? connected : afterOpen(connected, endpoint, 'gw was connected to it', seen);
  });
  return await work(tablet);
}

/** The port takes connections: stored before anything else is tried. */
export async function rememberOpen(toolkit: Toolkit): Promise<void> {
  const seen = await sightingNow(toolkit);
  const endpoint = tabletEndpoint(toolkit);
  await changeRecord(toolkit, (before) => afterOpen(before, endpoint, 'its port takes connections', seen));
}

async function refuseUnreachable(scene: PortScene, toolkit: Toolkit): Promise<void> {
  const began = scene.clock.monotonicMs();
  const state = await lookAtPort(scene);
  if (state === 'open') {
    await rememberOpen(toolkit);
    return;
  }
  const { host, port } = scene.endpoint;
  const message =
    state === 'closed'
      ? 'not connected: the tablet is there, but ADB over TCP is switched off.'
      : 'not connected: nothing answers at the address of the tablet.';
  const via = viaOf(scene.dialer);
  throw new GwError('TABLET_NOT_CONNECTED', message, {
    tried: {
      address: host,
      port,
      ...(via !== undefined && { via }),
      action: 'ADB',
      forMs: Math.round(scene.clock.monotonicMs() - began),
    },
    ...(state === 'closed' && {
      remedy:
        'If it was locked before, that is as it should be: `gw kiosk status`. To set it up, switch ADB over TCP on at a cable (docs/kiosk.md).',
    }),
  });
}
