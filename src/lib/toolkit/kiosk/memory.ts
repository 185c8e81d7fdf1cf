import { isIPv4 } from 'node:net';
import {
  afterReading,
  type KioskProfile,
  type Observation,
  profileHash,
  type Reading,
  readMachineTime,
  readTabletRecord,
  type StepOutcome,
  type TabletFacts,
  type TabletRecord,
  writeTabletRecord,
} from '../../kiosk/index.ts';
import { directDialer, isLoopback, readNeighbourTable } from '../../net/index.ts';
import type { Toolkit } from '../toolkit.ts';

/** An observation of now: time, identity if reported, and the MAC address that answers. */
export async function observeNow(
  toolkit: Toolkit,
  facts?: Pick<TabletFacts, 'serial' | 'bootId' | 'androidId'>,
): Promise<Observation> {
  return {
    at: toolkit.clock.wall().toISOString(),
    machine: await readMachineTime(),
    serial: facts?.serial ?? null,
    bootId: facts?.bootId ?? null,
    androidId: facts?.androidId ?? null,
    mac: await macAddress(toolkit),
  };
}

/**
 * The MAC address of the tablet's IP address from the neighbour table of this machine; null without an entry: through
 * SSH, in another segment, for a host name, or on loopback.
 */
async function macAddress({ dialer, site }: Toolkit): Promise<string | null> {
  const host = site.tablet?.host ?? '';
  if (dialer !== directDialer || !isIPv4(host) || isLoopback(host)) return null;
  const table = await readNeighbourTable().catch(() => []);
  return table.find(({ address, mac }) => address === host && mac !== null)?.mac ?? null;
}

/** Updates the record; null from `change` writes nothing. Throws FILE_UNREADABLE, FILE_UNWRITABLE. */
export async function changeRecord(
  { site }: Toolkit,
  change: (before: TabletRecord | null) => TabletRecord | null,
): Promise<TabletRecord | null> {
  const before = await readTabletRecord(site.stateDir);
  const after = change(before);
  if (after !== null && after !== before) await writeTabletRecord(site.stateDir, after);
  return after;
}

/** Stores a reading as the newest one. */
export async function storeReading(
  toolkit: Toolkit,
  by: Reading['by'],
  profile: KioskProfile,
  facts: TabletFacts,
  steps: readonly StepOutcome[],
  verdict: Reading['verdict'] = verdictOf(steps),
): Promise<void> {
  const observed = await observeNow(toolkit, facts);
  const { robotSegment } = toolkit.site.network;
  await changeRecord(toolkit, (record) =>
    record === null
      ? null
      : afterReading(record, {
          by,
          profile: { name: profile.name, sha256: profileHash(profile, robotSegment) },
          verdict,
          steps: steps.map(({ id, title, state, expected, found }) => {
            return { id, title, state: state === 'changed' ? 'ok' : state, expected, found };
          }),
          observed,
        }),
  );
}

/** The verdict of a reading: any difference is `differs`; without one, an unreported step is `not-checked`. */
export function verdictOf(steps: readonly Pick<StepOutcome, 'state'>[]): 'as-profile' | 'differs' | 'not-checked' {
  if (steps.some(({ state }) => state === 'differs' || state === 'failed')) return 'differs';
  const isComplete = steps.length > 0 && steps.every(({ state }) => state === 'ok' || state === 'changed');
  return isComplete ? 'as-profile' : 'not-checked';
}
