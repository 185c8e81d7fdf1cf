import { join } from 'node:path';
import { GwError } from '../../error/index.ts';
import {
  afterConnection,
  afterOpen,
  connectTablet,
  type KioskProfile,
  openBridge,
  openRelay,
  type PortTarget,
  probePort,
  type Tablet,
  type TabletTransport,
  tabletRedLine,
} from '../../kiosk/index.ts';
import { directDialer, type Endpoint, triedOver } from '../../net/index.ts';
import type { CheckContext, Toolkit } from '../toolkit.ts';
import { findAdb, startAdbServer } from './adb.ts';
import { changeRecord, observeNow } from './memory.ts';

/** Access to the tablet: options of every kiosk command. */
export interface KioskAccess {
  /** Path of the adb program; default: searched. */
  readonly adb?: string | undefined;
  /** PATH of the user. */
  readonly searchPath?: string | undefined;
  /** The tablet is connected over USB, not over the network. */
  readonly usb?: boolean | undefined;
  /** Time limit for the authorisation on the tablet. */
  readonly authorizeMs: number;
}

/** Address and profile of the tablet from the site file. Throws USAGE when it names no tablet. */
export function tabletEndpoint({ site }: Toolkit): Endpoint & { readonly profileFile: string } {
  if (site.tablet === undefined) {
    throw new GwError('USAGE', `${site.path} names no tablet.`, {
      remedy: 'Add the section tablet with the address of the tablet to the site file.',
    });
  }
  const { host, adbPort, profileFile } = site.tablet;
  return { host, port: adbPort, profileFile };
}

export function portTarget(toolkit: Toolkit, { signal, onProgress }: CheckContext): PortTarget {
  const { host, port } = tabletEndpoint(toolkit);
  return { dialer: toolkit.dialer, endpoint: { host, port }, clock: toolkit.clock, signal, onProgress };
}

/**
 * Runs `work` with the tablet: starts an adb server, connects, and always ends the server. An open port is recorded
 * first. Throws ADB_NOT_FOUND, PART_ENDED, TABLET_NOT_CONNECTED and the errors of {@link connectTablet}.
 */
export async function withTablet<T>(
  toolkit: Toolkit,
  access: KioskAccess & { readonly expected: KioskProfile['tablet'] },
  context: CheckContext,
  work: (tablet: Tablet) => Promise<T>,
): Promise<T> {
  const { clock, dialer, site } = toolkit;
  const { signal, onProgress } = context;
  const target = portTarget(toolkit, context);
  const adb = await findAdb({ named: access.adb, searchPath: access.searchPath });
  const usb = access.usb === true;
  if (!usb) await refuseUnreachable(target, toolkit);
  onProgress('Starting adb');
  await using server = await startAdbServer({ adb, keyDir: join(site.stateDir, 'adb'), usb, clock, signal });
  const { endpoint } = target;
  // adb dials directly and accepts no IPv6 literals; the relay uses the dialer.
  const needsRelay = !usb && (dialer !== directDialer || endpoint.host.includes(':'));
  await using relay = needsRelay ? await openRelay(dialer, endpoint) : undefined;
  const dialled = relay === undefined ? endpoint : { host: '127.0.0.1', port: relay.port };
  const transport: TabletTransport = usb ? { kind: 'usb' } : { kind: 'tcp', endpoint, dialled };
  const bridge = await openBridge(server.port, clock);
  onProgress('Connecting to the tablet');
  const { fingerprint } = server;
  const { expected, authorizeMs } = access;
  const tablet = await connectTablet({
    bridge,
    transport,
    expected,
    fingerprint,
    clock,
    signal,
    onProgress,
    authorizeMs,
  });
  const observed = await observeNow(toolkit, tablet.facts);
  await changeRecord(toolkit, (before) => {
    const connected = afterConnection(before, endpoint, tablet.facts, usb ? { ...observed, mac: null } : observed);
    return usb ? connected : afterOpen(connected, endpoint, 'gw connected to it by ADB', observed);
  });
  return await work(tablet);
}

/**
 * Runs a command that closes ADB over TCP at its end. One that is aborted says what the record knows of the port, since
 * the tablet stays as it is.
 */
export async function statingPort<T>(
  { site: { stateDir } }: Toolkit,
  { signal }: CheckContext,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    if (!signal.aborted) throw cause;
    const line = await tabletRedLine(stateDir);
    if (line === null) throw cause;
    throw new GwError('INTERRUPTED', `Interrupted. ${line.detail}`, { remedy: line.remedy, cause });
  }
}

/** Records that the port accepts connections. */
export async function rememberOpen(toolkit: Toolkit): Promise<void> {
  const observed = await observeNow(toolkit);
  const endpoint = tabletEndpoint(toolkit);
  await changeRecord(toolkit, (before) => afterOpen(before, endpoint, 'its port accepts connections', observed));
}

async function refuseUnreachable(target: PortTarget, toolkit: Toolkit): Promise<void> {
  const began = target.clock.monotonicMs();
  const state = await probePort(target);
  if (state === 'open') {
    await rememberOpen(toolkit);
    return;
  }
  const { host, port } = target.endpoint;
  const message =
    state === 'closed'
      ? 'not connected: connection refused, ADB over TCP is switched off.'
      : 'not connected: no answer from the address of the tablet.';
  throw new GwError('TABLET_NOT_CONNECTED', message, {
    tried: {
      address: host,
      port,
      ...triedOver(target.dialer),
      action: 'ADB',
      forMs: Math.round(target.clock.monotonicMs() - began),
    },
    ...(state === 'closed' && {
      remedy:
        'After a lock this is the expected state: `gw kiosk status`. To configure it, use --usb, or switch ADB over TCP on over USB (docs/kiosk.md).',
    }),
  });
}
