import type { Endpoint } from '../net/index.ts';
import type { Doubt, Reading, TabletRecord } from './record.ts';
import type { Sighting } from './sighting.ts';
import type { TabletFacts } from './tablet.ts';

/**
 * What each event does to the record of a tablet. Pure: a sighting says when it was, and on which device. The rule of
 * all of them: what was found wrong stays until something refutes it, and nothing proves more than it was asked.
 */

const NOT_CHECKED = { verdict: 'not-checked', seen: null } as const;

/** The port takes connections. Whoever else connected meanwhile may have changed anything. */
export function afterOpen(before: TabletRecord | null, endpoint: Endpoint, why: string, seen: Sighting): TabletRecord {
  const record = before ?? emptyRecord(endpoint, seen);
  const isNews = record.bridge.state !== 'open';
  const { afterRestart } = record.bridge;
  const opened = record.reading === null || !isNews ? record.reading : doubted(record.reading, 'opened', seen);
  return {
    ...record,
    address: addressOf(endpoint),
    reading: opened,
    bridge: {
      state: 'open',
      why,
      isOpenUnresolved: true,
      isWirelessOn: record.bridge.isWirelessOn,
      seen: withDevice(seen, record),
      // That it opens at every start is refuted by a restart only; that it stays closed, by having been opened.
      afterRestart: afterRestart.verdict === 'open' ? afterRestart : NOT_CHECKED,
    },
  };
}

/** adb is connected: the tablet reported which one it is, and in which boot. */
export function afterConnection(
  before: TabletRecord | null,
  endpoint: Endpoint,
  facts: TabletFacts,
  seen: Sighting,
): TabletRecord {
  const record = before ?? emptyRecord(endpoint, seen);
  const change = deviceChange(record.tablet, facts);
  let { reading } = record;
  if (reading !== null) {
    const last = reading.seen;
    const device = deviceChange(
      { serial: last.serial ?? '', androidId: last.androidId, model: record.tablet?.model ?? facts.model },
      facts,
    );
    if (device !== undefined) reading = doubted(reading, device, seen);
    // A tablet that does not report its boot may have restarted.
    if (facts.bootId === null || facts.bootId !== last.bootId) reading = doubted(reading, 'restarted', seen);
  }
  return {
    ...record,
    address: addressOf(endpoint),
    tablet: facts,
    reading,
    bridge:
      change === undefined
        ? record.bridge
        : {
            state: 'not-proven',
            why: change === 'reset' ? 'the tablet was reset' : 'another tablet than before',
            isOpenUnresolved: record.bridge.isOpenUnresolved,
            isWirelessOn: false,
            seen,
            afterRestart: NOT_CHECKED,
          },
  };
}

/** A new reading stands for itself: what happened before it is no doubt about it. */
export function afterReading(record: TabletRecord, reading: Omit<Reading, 'doubts'>): TabletRecord {
  return { ...record, reading: { ...reading, doubts: [] } };
}

/** The tablet was ordered to end ADB over TCP; `restart`: by a restart, which a reading from before does not outlive. */
export function afterOrder(record: TabletRecord, restart: boolean, seen: Sighting): TabletRecord {
  const { reading } = record;
  return {
    ...record,
    bridge: {
      ...record.bridge,
      state: 'not-proven',
      why: 'ordered to close, not yet proven',
      isOpenUnresolved: false,
      seen,
    },
    reading: reading === null || !restart ? reading : doubted(reading, 'restarted-by-gw', seen),
  };
}

/** What the tablet itself reported, while gw was connected, of a port that is not dialled here. */
export function afterWireless(record: TabletRecord, isWirelessOn: boolean): TabletRecord {
  return { ...record, bridge: { ...record.bridge, isWirelessOn } };
}

/** How the proof of a lock came out, with the tablet itself at the other end of the connection until a moment ago. */
export function afterLock(
  record: TabletRecord,
  state: TabletRecord['bridge']['state'],
  why: string,
  afterRestart: 'closed' | 'open' | 'not-checked',
  seen: Sighting,
): TabletRecord {
  const known = record.bridge.afterRestart;
  return {
    ...record,
    bridge: {
      ...record.bridge,
      state,
      why,
      isOpenUnresolved: state === 'open' || record.bridge.isOpenUnresolved,
      seen,
      afterRestart:
        afterRestart !== 'not-checked'
          ? { verdict: afterRestart, seen }
          : known.verdict === 'open'
            ? known
            : NOT_CHECKED,
    },
  };
}

/** Which device refused, as far as its hardware address shows it. */
export type Answerer = 'same' | 'other' | 'unknown';

export function answererOf(record: TabletRecord | null, mac: string | null): Answerer {
  const known = record?.bridge.seen.mac ?? null;
  if (known === null || mac === null) return 'unknown';
  return known === mac ? 'same' : 'other';
}

/**
 * Who refuses after an order over a connection that dialled the address: the tablet itself, unless the hardware address
 * has changed in between, as when a restart gave it another address. A tablet at a cable is known to be the one at the
 * address only when that was open until the order.
 */
export function answererAfterOrder(
  record: TabletRecord | null,
  mac: string | null,
  way: { readonly isUsb: boolean; readonly wasOpen: boolean },
): Answerer {
  if (answererOf(record, mac) === 'other') return 'other';
  return way.isUsb && !way.wasOpen ? 'unknown' : 'same';
}

/**
 * The address refuses connections. A refusal proves that nothing listens at the address, and not whose address it is:
 * an open tablet may have another address by now. So it ends the memory of an open tablet only when the same hardware
 * address refuses. A tablet that was ordered to close since, or was never seen open, is believed.
 */
export function afterRefusal(before: TabletRecord | null, endpoint: Endpoint, seen: Sighting): TabletRecord {
  const why = 'connections to its port are refused';
  if (before === null) {
    const fresh = emptyRecord(endpoint, seen);
    return { ...fresh, bridge: { ...fresh.bridge, state: 'closed', why } };
  }
  const { bridge } = before;
  const answerer = answererOf(before, seen.mac);
  const isAddressSame = before.address.host === endpoint.host && before.address.port === endpoint.port;
  const isBelieved = answerer === 'same' || (answerer === 'unknown' && isAddressSame && !bridge.isOpenUnresolved);
  if (isBelieved) {
    const closed = {
      ...bridge,
      state: 'closed',
      why,
      isOpenUnresolved: false,
      seen: withDevice(seen, before),
    } as const;
    return { ...before, bridge: closed };
  }
  // What is known of the tablet stays as it was seen: this refusal may be that of another device.
  if (bridge.state === 'closed') return before;
  const who = answerer === 'other' ? 'another device refuses connections' : 'a device refuses connections';
  return { ...before, bridge: { ...bridge, state: 'not-proven', why: `last seen open; ${who} at its address` } };
}

/** Whether two reports are of one tablet: undefined when nothing speaks against it. */
function deviceChange(
  before: Pick<TabletFacts, 'serial' | 'androidId' | 'model'> | null,
  now: TabletFacts,
): 'other-device' | 'reset' | undefined {
  if (before === null) return undefined;
  if (before.serial !== now.serial || before.model !== now.model) return 'other-device';
  if (before.androidId !== null && before.androidId !== now.androidId) return 'reset';
  return undefined;
}

function doubted(reading: Reading, id: Doubt['id'], seen: Sighting): Reading {
  if (reading.doubts.some((doubt) => doubt.id === id)) return reading;
  return { ...reading, doubts: [...reading.doubts, { id, seen }] };
}

/** A look from outside names no device: what was last known of it goes along. */
function withDevice(seen: Sighting, record: TabletRecord): Sighting {
  const { bridge } = record;
  if (answererOf(record, seen.mac) === 'other') return seen;
  const { serial, bootId, androidId, mac } = bridge.seen;
  return {
    ...seen,
    serial: seen.serial ?? serial,
    bootId: seen.bootId ?? bootId,
    androidId: seen.androidId ?? androidId,
    mac: seen.mac ?? mac,
  };
}

function emptyRecord(endpoint: Endpoint, seen: Sighting): TabletRecord {
  return {
    schema: 'gw/tablet/2',
    address: addressOf(endpoint),
    tablet: null,
    bridge: {
      state: 'not-proven',
      why: 'its port was not looked at',
      isOpenUnresolved: false,
      isWirelessOn: false,
      seen,
      afterRestart: NOT_CHECKED,
    },
    reading: null,
  };
}

function addressOf({ host, port }: Endpoint): TabletRecord['address'] {
  return { host, port };
}
