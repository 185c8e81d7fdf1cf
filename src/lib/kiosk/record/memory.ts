import type { Endpoint } from '../../net/index.ts';
import type { Observation } from './observation.ts';
import type { Doubt, Reading, TabletFacts, TabletRecord } from './record.ts';

/**
 * Updates of the tablet record, one pure function per event; an observation gives time and device. A fault stays in the
 * record until an observation refutes it.
 */

const NOT_CHECKED = { verdict: 'not-checked', observed: null } as const;

/** The record of a tablet that no command has met. */
export function newTabletRecord(endpoint: Endpoint, observed: Observation): TabletRecord {
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

/** The port accepts connections, so another client may have changed any setting. */
export function afterOpen(
  record: TabletRecord,
  endpoint: Endpoint,
  observed: Observation,
  why = 'its port accepts connections',
): TabletRecord {
  const { bridge, reading } = record;
  return {
    ...record,
    address: addressOf(endpoint),
    reading: reading === null || bridge.state === 'open' ? reading : doubted(reading, 'opened', observed),
    bridge: {
      ...bridge,
      state: 'open',
      why,
      isOpenUnresolved: true,
      observed: withDevice(observed, record),
      // Only a restart refutes 'opens at every start'; an open port refutes 'stays closed'.
      afterRestart: unlessOpen(bridge.afterRestart),
    },
  };
}

/** adb is connected: the tablet reported its identity and boot id. */
export function afterConnection(
  record: TabletRecord,
  endpoint: Endpoint,
  observed: Observation,
  facts: TabletFacts,
): TabletRecord {
  const change = deviceChange(record.tablet, facts);
  let { reading, bridge } = record;
  if (reading !== null) {
    const { serial, androidId, bootId } = reading.observed;
    const model = record.tablet?.model ?? facts.model;
    const device = deviceChange({ serial: serial ?? '', androidId, model }, facts);
    if (device !== undefined) reading = doubted(reading, device, observed);
    // A tablet that does not report its boot id may have restarted.
    if (facts.bootId === null || facts.bootId !== bootId) reading = doubted(reading, 'restarted', observed);
  }
  if (change !== undefined) {
    const why = change === 'reset' ? 'factory reset of the tablet' : 'another tablet than before';
    const unknown = { isWirelessOn: false, observed, afterRestart: NOT_CHECKED };
    bridge = { ...bridge, state: 'not-verified', why, ...unknown };
  }
  return { ...record, address: addressOf(endpoint), tablet: facts, reading, bridge };
}

/** ADB over TCP was ordered to end; with `restart` by a restart of the tablet, which casts doubt on the reading. */
export function afterOrder(record: TabletRecord, restart: boolean, observed: Observation): TabletRecord {
  const { reading } = record;
  const ordered = {
    state: 'not-verified',
    why: 'ordered to close, not yet verified',
    isOpenUnresolved: false,
  } as const;
  return {
    ...record,
    bridge: { ...record.bridge, ...ordered, observed },
    reading: reading === null || !restart ? reading : doubted(reading, 'restarted-by-gw', observed),
  };
}

/** Result of a lock, whose connection was to the tablet itself. */
export function afterLock(
  record: TabletRecord,
  state: TabletRecord['bridge']['state'],
  why: string,
  verdict: 'closed' | 'open' | 'not-checked',
  observed: Observation,
): TabletRecord {
  const { bridge } = record;
  const isOpenUnresolved = state === 'open' || bridge.isOpenUnresolved;
  const afterRestart = verdict === 'not-checked' ? unlessOpen(bridge.afterRestart) : { verdict, observed };
  return { ...record, bridge: { ...bridge, state, why, isOpenUnresolved, observed, afterRestart } };
}

function unlessOpen(known: TabletRecord['bridge']['afterRestart']): TabletRecord['bridge']['afterRestart'] {
  return known.verdict === 'open' ? known : NOT_CHECKED;
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
export function afterRefusal(record: TabletRecord, endpoint: Endpoint, observed: Observation): TabletRecord {
  const { address, bridge } = record;
  const responder = responderOf(record, observed.mac);
  const isAddressSame = address.host === endpoint.host && address.port === endpoint.port;
  if (responder === 'same' || (responder === 'unknown' && isAddressSame && !bridge.isOpenUnresolved)) {
    const closed = { state: 'closed', why: 'its port refuses connections', isOpenUnresolved: false } as const;
    return { ...record, bridge: { ...bridge, ...closed, observed: withDevice(observed, record) } };
  }
  // The refusal may come from another device, so the record keeps its last observation.
  if (bridge.state === 'closed') return record;
  const refusal = responder === 'other' ? 'another device refuses connections' : 'a device refuses connections';
  return { ...record, bridge: { ...bridge, state: 'not-verified', why: `last seen open; ${refusal} at its address` } };
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

function doubted(reading: Reading, id: Doubt, observed: Observation): Reading {
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

function addressOf({ host, port }: Endpoint): TabletRecord['address'] {
  return { host, port };
}
