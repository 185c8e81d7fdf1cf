import type { Endpoint } from '../../net/index.ts';
import type { TabletFacts } from '../adb/tablet.ts';
import type { Observation } from './observation.ts';
import type { Doubt, Reading, TabletRecord } from './record.ts';

/**
 * Updates of the tablet record, one pure function per event; an observation gives time and device. A fault stays in the
 * record until an observation refutes it.
 */

const NOT_CHECKED = { verdict: 'not-checked', observed: null } as const;

/** The port accepts connections, so another client may have changed any setting. */
export function afterOpen(
  before: TabletRecord | null,
  endpoint: Endpoint,
  why: string,
  observed: Observation,
): TabletRecord {
  const record = before ?? emptyRecord(endpoint, observed);
  const wasNotOpen = record.bridge.state !== 'open';
  const { afterRestart } = record.bridge;
  const opened = record.reading === null || !wasNotOpen ? record.reading : doubted(record.reading, 'opened', observed);
  return {
    ...record,
    address: addressOf(endpoint),
    reading: opened,
    bridge: {
      state: 'open',
      why,
      isOpenUnresolved: true,
      isWirelessOn: record.bridge.isWirelessOn,
      observed: withDevice(observed, record),
      // Only a restart refutes 'opens at every start'; an open port refutes 'stays closed'.
      afterRestart: afterRestart.verdict === 'open' ? afterRestart : NOT_CHECKED,
    },
  };
}

/** adb is connected: the tablet reported its identity and boot id. */
export function afterConnection(
  before: TabletRecord | null,
  endpoint: Endpoint,
  facts: TabletFacts,
  observed: Observation,
): TabletRecord {
  const record = before ?? emptyRecord(endpoint, observed);
  const change = deviceChange(record.tablet, facts);
  let { reading } = record;
  if (reading !== null) {
    const last = reading.observed;
    const device = deviceChange(
      { serial: last.serial ?? '', androidId: last.androidId, model: record.tablet?.model ?? facts.model },
      facts,
    );
    if (device !== undefined) reading = doubted(reading, device, observed);
    // A tablet that does not report its boot id may have restarted.
    if (facts.bootId === null || facts.bootId !== last.bootId) reading = doubted(reading, 'restarted', observed);
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
            state: 'not-verified',
            why: change === 'reset' ? 'factory reset of the tablet' : 'another tablet than before',
            isOpenUnresolved: record.bridge.isOpenUnresolved,
            isWirelessOn: false,
            observed,
            afterRestart: NOT_CHECKED,
          },
  };
}

/** A new reading replaces the former one together with its doubts. */
export function afterReading(record: TabletRecord, reading: Omit<Reading, 'doubts'>): TabletRecord {
  return { ...record, reading: { ...reading, doubts: [] } };
}

/** ADB over TCP was ordered to end; with `restart` by a restart of the tablet, which casts doubt on the reading. */
export function afterOrder(record: TabletRecord, restart: boolean, observed: Observation): TabletRecord {
  const { reading } = record;
  return {
    ...record,
    bridge: {
      ...record.bridge,
      state: 'not-verified',
      why: 'ordered to close, not yet verified',
      isOpenUnresolved: false,
      observed,
    },
    reading: reading === null || !restart ? reading : doubted(reading, 'restarted-by-gw', observed),
  };
}

/** State of wireless debugging as reported by the tablet; its port is not dialled. */
export function afterWireless(record: TabletRecord, isWirelessOn: boolean): TabletRecord {
  return { ...record, bridge: { ...record.bridge, isWirelessOn } };
}

/** Result of a lock, whose connection was to the tablet itself. */
export function afterLock(
  record: TabletRecord,
  state: TabletRecord['bridge']['state'],
  why: string,
  afterRestart: 'closed' | 'open' | 'not-checked',
  observed: Observation,
): TabletRecord {
  const known = record.bridge.afterRestart;
  return {
    ...record,
    bridge: {
      ...record.bridge,
      state,
      why,
      isOpenUnresolved: state === 'open' || record.bridge.isOpenUnresolved,
      observed,
      afterRestart:
        afterRestart !== 'not-checked'
          ? { verdict: afterRestart, observed }
          : known.verdict === 'open'
            ? known
            : NOT_CHECKED,
    },
  };
}

/** Which device answered, judged by its MAC address. */
export type Responder = 'same' | 'other' | 'unknown';

export function responderOf(record: TabletRecord | null, mac: string | null): Responder {
  const known = record?.bridge.observed.mac ?? null;
  if (known === null || mac === null) return 'unknown';
  return known === mac ? 'same' : 'other';
}

/**
 * Which device refuses after an order: the tablet itself, unless the MAC address has changed, or is not visible after a
 * restart, since the tablet may have got another IP address. Over USB the tablet counts as the device at the address only when the port was
 * open before the order.
 */
export function responderAfterOrder(
  record: TabletRecord | null,
  mac: string | null,
  order: { readonly isUsb: boolean; readonly wasOpen: boolean; readonly mayHaveMoved: boolean },
): Responder {
  const responder = responderOf(record, mac);
  if (responder === 'other' || (responder === 'unknown' && order.mayHaveMoved)) return responder;
  return order.isUsb && !order.wasOpen ? 'unknown' : 'same';
}

/**
 * The address refuses connections. A refusal does not identify the device: an open tablet may have another address by
 * now. An open tablet therefore counts as closed only when the same MAC address refuses; one that was ordered to close
 * since, or was never open, is accepted as closed.
 */
export function afterRefusal(before: TabletRecord | null, endpoint: Endpoint, observed: Observation): TabletRecord {
  const why = 'its port refuses connections';
  if (before === null) {
    const fresh = emptyRecord(endpoint, observed);
    return { ...fresh, bridge: { ...fresh.bridge, state: 'closed', why } };
  }
  const { bridge } = before;
  const responder = responderOf(before, observed.mac);
  const isAddressSame = before.address.host === endpoint.host && before.address.port === endpoint.port;
  const isAccepted = responder === 'same' || (responder === 'unknown' && isAddressSame && !bridge.isOpenUnresolved);
  if (isAccepted) {
    const closed = {
      ...bridge,
      state: 'closed',
      why,
      isOpenUnresolved: false,
      observed: withDevice(observed, before),
    } as const;
    return { ...before, bridge: closed };
  }
  // The refusal may come from another device, so the record keeps its last observation.
  if (bridge.state === 'closed') return before;
  const refusal = responder === 'other' ? 'another device refuses connections' : 'a device refuses connections';
  return { ...before, bridge: { ...bridge, state: 'not-verified', why: `last seen open; ${refusal} at its address` } };
}

/** The difference between two identities; undefined when both can be the same tablet. */
function deviceChange(
  before: Pick<TabletFacts, 'serial' | 'androidId' | 'model'> | null,
  now: TabletFacts,
): 'other-device' | 'reset' | undefined {
  if (before === null) return undefined;
  if (before.serial !== now.serial || before.model !== now.model) return 'other-device';
  if (before.androidId !== null && before.androidId !== now.androidId) return 'reset';
  return undefined;
}

function doubted(reading: Reading, id: Doubt['id'], observed: Observation): Reading {
  if (reading.doubts.some((doubt) => doubt.id === id)) return reading;
  return { ...reading, doubts: [...reading.doubts, { id, observed }] };
}

/** A connection attempt identifies no device, so the last known identity is added. */
function withDevice(observed: Observation, record: TabletRecord): Observation {
  const { bridge } = record;
  if (responderOf(record, observed.mac) === 'other') return observed;
  const { serial, bootId, androidId, mac } = bridge.observed;
  return {
    ...observed,
    serial: observed.serial ?? serial,
    bootId: observed.bootId ?? bootId,
    androidId: observed.androidId ?? androidId,
    mac: observed.mac ?? mac,
  };
}

function emptyRecord(endpoint: Endpoint, observed: Observation): TabletRecord {
  return {
    schema: 'gw/tablet/2',
    address: addressOf(endpoint),
    tablet: null,
    bridge: {
      state: 'not-verified',
      why: 'its port was not probed',
      isOpenUnresolved: false,
      isWirelessOn: false,
      observed,
      afterRestart: NOT_CHECKED,
    },
    reading: null,
  };
}

function addressOf({ host, port }: Endpoint): TabletRecord['address'] {
  return { host, port };
}
