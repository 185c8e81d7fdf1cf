import { isIPv4 } from 'node:net';
import { GwError } from '../../error/index.ts';
import {
  newTabletRecord,
  type Observation,
  type PortTarget,
  readMachineTime,
  readTabletRecord,
  redLineOf,
  type TabletFacts,
  type TabletRecord,
  writeTabletRecord,
} from '../../kiosk/index.ts';
import { directDialer, type Endpoint, isLoopback, readNeighbourTable } from '../../net/index.ts';
import type { CheckContext, Toolkit } from '../toolkit.ts';
import type { KioskAccess } from './connection.ts';
import { type FoundBy, findTablet, type SearchOptions } from './find.ts';
import type { KioskLock } from './kiosk.result.ts';

/** One command on the tablet: how it is reached, and what is remembered of it. */
export interface Kiosk extends PortTarget {
  readonly site: Toolkit['site'];
  readonly profileFile: string;
  /** Serial number of the tablet by the site file. */
  readonly serial: string | undefined;
  /** How its address became known. */
  readonly foundBy: FoundBy;
  readonly beganMs: number;
  /** As of the last change by this command; null: no tablet was ever seen. */
  record: TabletRecord | null;
}

/**
 * Opens the tablet of the site file; where that has no `tablet.host`, it is looked for. Throws USAGE when the site file
 * names no tablet, FILE_UNREADABLE when the record is corrupt, and the errors of {@link findTablet}.
 */
export async function openKiosk(
  toolkit: Toolkit,
  { signal, onProgress }: CheckContext,
  access: KioskAccess & Pick<SearchOptions, 'mayBeClosed'>,
): Promise<Kiosk> {
  const { clock, dialer, site } = toolkit;
  const tablet = tabletOf(site);
  const beganMs = clock.monotonicMs();
  const record = await readTabletRecord(site.stateDir);
  const { host, adbPort: port, profileFile, serial } = tablet;
  const { endpoint, by } =
    host === undefined
      ? await findTablet(toolkit, { signal, onProgress }, { ...access, tablet, record })
      : { endpoint: { host, port }, by: 'site-file' as const };
  const found = { endpoint, foundBy: by, serial, profileFile };
  return { ...found, dialer, clock, signal, onProgress, site, beganMs, record };
}

/** The section of the site file. Throws USAGE where there is none. */
export function tabletOf({ tablet, path }: Toolkit['site']): NonNullable<Toolkit['site']['tablet']> {
  if (tablet !== undefined) return tablet;
  throw new GwError('USAGE', `${path} names no tablet.`, {
    remedy: 'Add the section tablet with its serial number, MAC address or address to the site file.',
  });
}

/** Whether a record is not of the tablet that the site file names by its serial number. */
export function isOfAnother({ serial }: Pick<Kiosk, 'serial'>, record: Pick<TabletRecord, 'tablet'> | null): boolean {
  const known = record?.tablet ?? null;
  return serial !== undefined && known !== null && known.serial !== serial;
}

/** What every result ends with. */
export function closingOf({
  endpoint,
  record,
  clock,
  beganMs,
}: Kiosk): Pick<KioskLock, 'address' | 'redLine' | 'tookMs'> {
  return {
    address: endpoint,
    redLine: record === null ? null : redLineOf(record),
    tookMs: Math.round(clock.monotonicMs() - beganMs),
  };
}

/** An observation of now: time, identity if reported, and the MAC address that answers. */
export async function observeNow(
  kiosk: Kiosk,
  facts?: Pick<TabletFacts, 'serial' | 'bootId' | 'androidId'>,
): Promise<Observation> {
  return {
    at: kiosk.clock.wall().toISOString(),
    machine: await readMachineTime(),
    serial: facts?.serial ?? null,
    bootId: facts?.bootId ?? null,
    androidId: facts?.androidId ?? null,
    mac: await macAddress(kiosk),
  };
}

/**
 * The MAC address of the tablet's IP address from the neighbour table of this machine; null without an entry: through
 * SSH, in another segment, for a host name, or on loopback.
 */
async function macAddress({ dialer, endpoint: { host } }: Kiosk): Promise<string | null> {
  if (dialer !== directDialer || !isIPv4(host) || isLoopback(host)) return null;
  const table = await readNeighbourTable().catch(() => []);
  return table.find(({ address, mac }) => address === host && mac !== null)?.mac ?? null;
}

/**
 * Changes the record by one event. It is read again, because another command may have changed it meanwhile. Throws
 * FILE_UNREADABLE, FILE_UNWRITABLE.
 */
export async function remember(
  kiosk: Kiosk,
  observed: Observation,
  event: (record: TabletRecord, endpoint: Endpoint, observed: Observation) => TabletRecord,
): Promise<TabletRecord> {
  const { endpoint, site } = kiosk;
  const before = await readTabletRecord(site.stateDir);
  const after = event(before ?? newTabletRecord(endpoint, observed), endpoint, observed);
  kiosk.record = after;
  if (after !== before) await writeTabletRecord(site.stateDir, after);
  return after;
}
