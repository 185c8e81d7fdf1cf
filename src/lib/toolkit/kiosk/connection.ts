import { join } from 'node:path';
import {
  connectTablet,
  type KioskProfile,
  openBridge,
  openRelay,
  type Tablet,
  type TabletTransport,
} from '../../kiosk/index.ts';
import { directDialer, type Endpoint } from '../../net/index.ts';
import type { CheckContext, Toolkit } from '../toolkit.ts';
import { findAdb, startAdbServer } from './adb.ts';

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

/**
 * Runs `work` with the tablet at `endpoint`, or on USB: starts an adb server, connects, and always ends the server. Throws
 * ADB_NOT_FOUND, PART_ENDED and the errors of {@link connectTablet}.
 */
export async function overAdb<T>(
  { clock, dialer, site, signal, onProgress }: Omit<Toolkit, 'ssh'> & CheckContext,
  endpoint: Endpoint | null,
  access: KioskAccess & { readonly expected: KioskProfile['tablet'] },
  work: (tablet: Tablet) => Promise<T>,
): Promise<T> {
  const adb = await findAdb({ named: access.adb, searchPath: access.searchPath });
  const usb = endpoint === null;
  onProgress('Starting adb');
  await using server = await startAdbServer({ adb, keyDir: join(site.stateDir, 'adb'), usb, clock, signal });
  // adb dials directly and accepts no IPv6 literals; the relay uses the dialer.
  const needsRelay = endpoint !== null && (dialer !== directDialer || endpoint.host.includes(':'));
  await using relay = needsRelay ? await openRelay(dialer, endpoint) : undefined;
  const transport: TabletTransport =
    endpoint === null
      ? { kind: 'usb' }
      : { kind: 'tcp', endpoint, dialled: relay === undefined ? endpoint : { host: '127.0.0.1', port: relay.port } };
  const bridge = await openBridge(server.port, clock);
  onProgress('Connecting to the tablet');
  const { fingerprint } = server;
  const { expected, authorizeMs } = access;
  return await work(
    await connectTablet({ bridge, transport, expected, fingerprint, clock, signal, onProgress, authorizeMs }),
  );
}
