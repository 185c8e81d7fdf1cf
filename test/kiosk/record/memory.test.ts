import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  afterConnection,
  afterLock,
  afterOpen,
  afterOrder,
  afterRefusal,
  newTabletRecord,
  type Observation,
  responderAfterOrder,
  responderOf,
  type TabletRecord,
  tabletRecordSchema,
} from '../../../src/lib/kiosk/index.ts';

const endpoint = { host: '192.0.2.5', port: 5555 };
const observed = (part: Partial<Observation> = {}): Observation => ({
  ...{ at: '2026-01-31T12:00:00.000Z', machine: { bootId: null, uptimeS: null } },
  ...{ serial: null, bootId: null, androidId: null, mac: null },
  ...part,
});
const ids: { bootId: string | null; androidId: string | null } = { bootId: 'boot-1', androidId: 'a1' };
const facts = { model: 'T10', manufacturer: 'Acme', serial: 'S1', android: '13', sdk: 33, ...ids };
const device = (part: Partial<typeof facts> = {}) => {
  const { serial, bootId, androidId } = { ...facts, ...part };
  return observed({ serial, bootId, androidId });
};
const reading = {
  by: 'setup' as const,
  profile: { name: 'Lobby', sha256: 'x' },
  verdict: 'as-profile' as const,
  steps: [],
  observed: device(),
  doubts: [],
};

/** Connected, configured and read, with an open port. */
function setUp(mac: string | null = null): TabletRecord {
  const connected = afterConnection(newTabletRecord(endpoint, device()), endpoint, { ...device(), mac }, facts);
  return { ...afterOpen(connected, endpoint, { ...device(), mac }), reading };
}
const locked = (mac: string | null = null) =>
  afterLock(afterOrder(setUp(mac), false, { ...device(), mac }), 'closed', 'test', 'not-checked', { ...device(), mac });
const doubts = (record: TabletRecord | null) => record?.reading?.doubts.map(({ id }) => id);

describe('a refusal', () => {
  it('closes the record of a closed or ordered tablet, from any device', () => {
    expect(afterRefusal(locked(), endpoint, observed()).bridge.state).toBe('closed');
    const silent = afterLock(afterOrder(setUp(), false, device()), 'not-verified', 'silent', 'not-checked', device());
    expect(afterRefusal(silent, endpoint, observed()).bridge.state).toBe('closed');
    const expected = { state: 'closed', observed: { serial: null } };
    expect(afterRefusal(newTabletRecord(endpoint, observed()), endpoint, observed()).bridge).toMatchObject(expected);
  });

  it('closes that of an open tablet only from the same MAC address', () => {
    const mac = '02:00:00:00:00:05';
    const other = '02:00:00:00:00:77';
    for (const [was, now, state] of [
      [null, null, 'not-verified'],
      [mac, null, 'not-verified'],
      [null, mac, 'not-verified'],
      [mac, other, 'not-verified'],
      [mac, mac, 'closed'],
    ] as const) {
      const record = afterRefusal(setUp(was), endpoint, observed({ mac: now }));
      expect(record.bridge.state, `${was} ${now}`).toBe(state);
      // A repeated refusal changes nothing.
      expect(afterRefusal(record, endpoint, observed({ mac: now })).bridge.state, `${was} ${now}`).toBe(state);
    }
  });

  it('at another address than that of the tablet closes nothing', () => {
    const open = afterOpen(newTabletRecord(endpoint, observed()), endpoint, observed());
    const moved = afterRefusal(open, { ...endpoint, host: '192.0.2.9' }, observed());
    expect(moved).toMatchObject({ address: endpoint, bridge: { state: 'not-verified' } });
  });

  it('from another MAC address leaves the record of a closed tablet unchanged', () => {
    const record = locked('02:00:00:00:00:05');
    const now = observed({ at: '2026-02-01T12:00:00.000Z', mac: '02:00:00:00:00:77' });
    expect(responderOf(record, now.mac)).toBe('other');
    expect(afterRefusal(record, endpoint, now)).toEqual(record);
  });

  it('never closes an open tablet without an order or the same device, in any order of events', {
    tags: 'property',
  }, () => {
    const events = fc.array(fc.constantFrom('refused', 'silent', 'refused-other-address'), { maxLength: 8 });
    fc.assert(
      fc.property(events, (list) => {
        let record = setUp();
        for (const event of list) {
          const where = event === 'refused-other-address' ? { ...endpoint, host: '192.0.2.9' } : endpoint;
          record =
            event === 'silent'
              ? afterLock(record, 'not-verified', 'silent', 'not-checked', observed())
              : afterRefusal(record, where, observed());
          expect(record.bridge.state).not.toBe('closed');
          expect(tabletRecordSchema.safeParse(record).success).toBe(true);
        }
      }),
    );
  });
});

describe('the device that refuses after the order to close', () => {
  const mac = '02:00:00:00:00:05';
  const usb = { isUsb: true, wasOpen: true, mayHaveMoved: false };
  const moved = { isUsb: false, wasOpen: true, mayHaveMoved: true };
  it.each([
    ['over the network', null, null, { ...moved, mayHaveMoved: false }, 'same'],
    ['from the same MAC address', mac, mac, moved, 'same'],
    ['after a restart, without a MAC address', null, null, moved, 'unknown'],
    ['after a restart, with one MAC address only', mac, null, moved, 'unknown'],
    ['after the tablet got another address', mac, '02:00:00:00:00:77', moved, 'other'],
    ['over USB, with an open port before', null, null, usb, 'same'],
    ['over USB, without one', null, null, { ...usb, wasOpen: false }, 'unknown'],
  ] as const)('%s', (_name, before, now, order, responder) => {
    expect(responderAfterOrder(setUp(before), now, order)).toBe(responder);
  });
});

describe('an event after a reading', () => {
  it('is no doubt while the same tablet keeps running', () => {
    expect(doubts(locked())).toEqual([]);
    expect(doubts(afterConnection(locked(), endpoint, device(), facts))).toEqual([]);
  });

  it.each([
    ['restarted', { bootId: 'boot-2' }, ['restarted']],
    ['restarted, as far as it reports', { bootId: null }, ['restarted']],
    ['reset to factory settings', { bootId: 'boot-2', androidId: 'a2' }, ['reset', 'restarted']],
    ['reset, with an id that is not reported', { bootId: 'boot-2', androidId: null }, ['reset', 'restarted']],
    ['another tablet', { serial: 'S2', bootId: 'boot-9', androidId: 'a9' }, ['other-device', 'restarted']],
    ['another model without a serial', { model: 'T8', bootId: 'boot-9' }, ['other-device', 'restarted']],
  ])('is a doubt: the tablet is %s', (_name, change, expected) => {
    const now = { ...facts, ...change };
    const record = afterConnection(locked(), endpoint, device(now), now);
    expect(doubts(record)).toEqual(expected);
    expect(record.tablet).toEqual(now);
  });

  it('another tablet invalidates closed port and restart of the former one', () => {
    const verified = afterLock(locked(), 'closed', 'test', 'closed', device());
    const now = { ...facts, serial: 'S2' };
    const expected = { state: 'not-verified', afterRestart: { verdict: 'not-checked', observed: null } };
    expect(afterConnection(verified, endpoint, device(now), now).bridge).toMatchObject(expected);
  });

  it('an open port is a doubt once it was closed; a restart by gw is a separate one', () => {
    expect(doubts(afterOpen(setUp(), endpoint, observed()))).toEqual([]);
    expect(doubts(afterOpen(locked(), endpoint, observed()))).toEqual(['opened']);
    expect(doubts(afterOrder(setUp(), true, device()))).toEqual(['restarted-by-gw']);
  });
});

it('wireless debugging that stays on is not refuted by a refused or newly locked port', () => {
  const before = locked('02:00:00:00:00:05');
  const on = { ...before, bridge: { ...before.bridge, isWirelessOn: true } };
  const refused = afterRefusal(on, endpoint, observed({ mac: '02:00:00:00:00:05' }));
  expect(refused.bridge).toMatchObject({ state: 'closed', isWirelessOn: true });
  const again = afterLock(afterOpen(refused, endpoint, observed()), 'closed', 'test', 'closed', device());
  expect(again.bridge.isWirelessOn).toBe(true);
});

describe('a restart of the tablet', () => {
  it('that opened the port is refuted only by one that did not', () => {
    const reopens = afterLock(locked(), 'closed', 'test', 'open', device());
    const again = afterOpen(reopens, endpoint, observed());
    const closed = afterLock(afterOrder(again, false, device()), 'closed', 'test', 'not-checked', device());
    expect(closed.bridge.afterRestart.verdict).toBe('open');
    expect(afterLock(closed, 'closed', 'test', 'closed', device()).bridge.afterRestart.verdict).toBe('closed');
  });

  it('that kept the port closed is invalidated when the port is open again', () => {
    const verified = afterLock(locked(), 'closed', 'test', 'closed', device());
    expect(afterOpen(verified, endpoint, observed()).bridge.afterRestart.verdict).toBe('not-checked');
    // An observation without a connection keeps the identity of the device.
    expect(afterOpen(verified, endpoint, observed()).bridge.observed).toMatchObject({ serial: 'S1', bootId: 'boot-1' });
  });
});
