import { isIPv4 } from 'node:net';
import {
  afterReading,
  type KioskProfile,
  profileHash,
  type Reading,
  readMachineTime,
  readTabletRecord,
  type Sighting,
  type StepOutcome,
  type TabletFacts,
  type TabletRecord,
  writeTabletRecord,
} from '../../kiosk/index.ts';
import { directDialer, isLoopback, readNeighbourTable } from '../../net/index.ts';
import type { Toolkit } from '../toolkit.ts';

/** The time of this moment, with the device when it reported itself and the hardware address that answers. */
export async function sightingNow(
  toolkit: Toolkit,
  facts?: Pick<TabletFacts, 'serial' | 'bootId' | 'androidId'>,
): Promise<Sighting> {
  return {
    at: toolkit.clock.wall().toISOString(),
    machine: await readMachineTime(),
    serial: facts?.serial ?? null,
    bootId: facts?.bootId ?? null,
    androidId: facts?.androidId ?? null,
    mac: await hardwareAddress(toolkit),
  };
}

/**
 * The hardware address behind the address of the tablet, from the table of this machine; null where that has none:
 * through SSH, in another segment, by name, or inside this machine.
 */
async function hardwareAddress({ dialer, site }: Toolkit): Promise<string | null> {
  const host = site.tablet?.host ?? '';
  if (dialer !== directDialer || !isIPv4(host) || isLoopback(host)) return null;
  const table = await readNeighbourTable().catch(() => []);
  return table.find(({ address, mac }) => address === host && mac !== null)?.mac ?? null;
}

/** Changes the record; a null stays null when `change` gives null. Throws FILE_UNWRITABLE. */
export async function changeRecord(
  { site }: Toolkit,
  change: (before: TabletRecord | null) => TabletRecord | null,
): Promise<TabletRecord | null> {
  const before = await readTabletRecord(site.stateDir);
  const after = change(before);
  if (after !== null && after !== before) await writeTabletRecord(site.stateDir, after);
  return after;
}

/** Stores what was read as the newest knowledge of the tablet, whichever command read it. */
export async function storeReading(
  toolkit: Toolkit,
  by: Reading['by'],
  profile: KioskProfile,
  facts: TabletFacts,
  steps: readonly StepOutcome[],
  verdict: Reading['verdict'] = verdictOf(steps),
): Promise<void> {
  const seen = await sightingNow(toolkit, facts);
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
          seen,
        }),
  );
}

/** Of a reading: one difference makes it differ, and what was not reported is never in order. */
export function verdictOf(steps: readonly Pick<StepOutcome, 'state'>[]): 'as-profile' | 'differs' | 'not-checked' {
  if (steps.some(({ state }) => state === 'differs' || state === 'failed')) return 'differs';
  const isWhole = steps.length > 0 && steps.every(({ state }) => state === 'ok' || state === 'changed');
  return isWhole ? 'as-profile' : 'not-checked';
}
