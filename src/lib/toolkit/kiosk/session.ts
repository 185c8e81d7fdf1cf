import { join } from 'node:path';
import { GwError } from '../../error/index.ts';
import {
  afterConnection,
  afterOpen,
  connectTablet,
  type KioskProfile,
  openBridge,
  openRelay,
  type PortState,
  probePort,
  redLineOf,
  type Tablet,
  type TabletTransport,
} from '../../kiosk/index.ts';
import { directDialer, triedOver } from '../../net/index.ts';
import { findAdb, startAdbServer } from './adb.ts';
import { type Kiosk, observeNow, remember } from './memory.ts';

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

/** Probes the port; one that is open is recorded at once. */
export async function probe(kiosk: Kiosk): Promise<PortState> {
  const state = await probePort(kiosk);
  if (state === 'open') await remember(kiosk, await observeNow(kiosk), afterOpen);
  return state;
}

/**
 * Runs `work` with the tablet: starts an adb server, connects, and always ends the server. `port`: as probed; anything
 * for USB. Throws ADB_NOT_FOUND, PART_ENDED, TABLET_NOT_CONNECTED and the errors of {@link connectTablet}.
 */
export async function withTablet<T>(
  kiosk: Kiosk,
  access: KioskAccess & { readonly expected: KioskProfile['tablet'] },
  port: PortState | null,
  work: (tablet: Tablet) => Promise<T>,
): Promise<T> {
  const { clock, dialer, endpoint, site, signal, onProgress } = kiosk;
  const { expected, authorizeMs } = access;
  const adb = await findAdb({ named: access.adb, searchPath: access.searchPath });
  const usb = access.usb === true;
  if (!usb && port !== 'open') throw unreachable(kiosk, port === 'closed');
  onProgress('Starting adb');
  await using server = await startAdbServer({ adb, keyDir: join(site.stateDir, 'adb'), usb, clock, signal });
  // adb dials directly and accepts no IPv6 literals; the relay uses the dialer.
  const needsRelay = !usb && (dialer !== directDialer || endpoint.host.includes(':'));
  await using relay = needsRelay ? await openRelay(dialer, endpoint) : undefined;
  const dialled = relay === undefined ? endpoint : { host: '127.0.0.1', port: relay.port };
  const transport: TabletTransport = usb ? { kind: 'usb' } : { kind: 'tcp', endpoint, dialled };
  const bridge = await openBridge(server.port, clock);
  onProgress('Connecting to the tablet');
  const { fingerprint } = server;
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
  const observed = await observeNow(kiosk, tablet.facts);
  await remember(kiosk, observed, (before) => {
    const connected = afterConnection(before, endpoint, usb ? { ...observed, mac: null } : observed, tablet.facts);
    return usb ? connected : afterOpen(connected, endpoint, observed, 'gw connected to it by ADB');
  });
  return await work(tablet);
}

/**
 * Runs a command that closes ADB over TCP at its end. One that is aborted says what the record knows of the port, since
 * the tablet stays as it is.
 */
export async function statingPort<T>(kiosk: Kiosk, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    const line = kiosk.signal.aborted && kiosk.record !== null ? redLineOf(kiosk.record) : null;
    if (line === null) throw cause;
    throw new GwError('INTERRUPTED', `Interrupted. ${line.detail}`, { remedy: line.remedy, cause });
  }
}

function unreachable({ endpoint, dialer, clock, beganMs }: Kiosk, isRefused: boolean): GwError {
  const { host, port } = endpoint;
  const message = isRefused
    ? 'not connected: connection refused, ADB over TCP is switched off.'
    : 'not connected: no answer from the address of the tablet.';
  const forMs = Math.round(clock.monotonicMs() - beganMs);
  return new GwError('TABLET_NOT_CONNECTED', message, {
    tried: { address: host, port, ...triedOver(dialer), action: 'ADB', forMs },
    ...(isRefused && {
      remedy:
        'After a lock this is the expected state: `gw kiosk status`. To configure it, use --usb, or switch ADB over TCP on over USB (docs/kiosk.md).',
    }),
  });
}
