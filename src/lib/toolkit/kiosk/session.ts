import { GwError } from '../../error/index.ts';
import {
  afterConnection,
  afterOpen,
  type KioskProfile,
  type PortState,
  probePort,
  redLineOf,
  type Tablet,
} from '../../kiosk/index.ts';
import { triedOver } from '../../net/index.ts';
import { findAdb } from './adb.ts';
import { type KioskAccess, overAdb } from './connection.ts';
import { type Kiosk, observeNow, remember } from './memory.ts';

/** Probes the port; one that is open is recorded at once. */
export async function probe(kiosk: Kiosk): Promise<PortState> {
  const state = await probePort(kiosk);
  if (state === 'open') await remember(kiosk, await observeNow(kiosk), afterOpen);
  return state;
}

/**
 * Runs `work` with the tablet, and records the connection. `port`: as probed; anything for USB. Throws TABLET_NOT_CONNECTED
 * and the errors of {@link overAdb}.
 */
export async function withTablet<T>(
  kiosk: Kiosk,
  access: KioskAccess & { readonly expected: KioskProfile['tablet'] },
  port: PortState | null,
  work: (tablet: Tablet) => Promise<T>,
): Promise<T> {
  const { endpoint } = kiosk;
  const usb = access.usb === true;
  // A missing program is said first: it is the one of these two that the person can mend at the desk.
  await findAdb({ named: access.adb, searchPath: access.searchPath });
  if (!usb && port !== 'open') throw unreachable(kiosk, port === 'closed');
  return await overAdb(kiosk, usb ? null : endpoint, access, async (tablet) => {
    const observed = await observeNow(kiosk, tablet.facts);
    await remember(kiosk, observed, (before) => {
      const connected = afterConnection(before, endpoint, usb ? { ...observed, mac: null } : observed, tablet.facts);
      return usb ? connected : afterOpen(connected, endpoint, observed, 'gw connected to it by ADB');
    });
    return await work(tablet);
  });
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
