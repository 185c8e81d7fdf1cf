import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  afterConnection,
  afterLock,
  afterOpen,
  afterOrder,
  afterReading,
  afterRefusal,
  afterWireless,
  answererAfterOrder,
  answererOf,
  type Sighting,
  type TabletRecord,
  tabletRecordSchema,
} from '../../src/lib/kiosk/index.ts';

const endpoint = { host: '192.0.2.5', port: 5555 };
const seen = (part: Partial<Sighting> = {}): Sighting => ({
  at: '2026-01-31T12:00:00.000Z',
  machine: { bootId: null, uptimeS: null },
  serial: null,
  bootId: null,
  androidId: null,
  mac: null,
  ...part,
});
const facts = {
  model: 'T10',
  manufacturer: 'Acme',
  serial: 'S1',
  android: '13',
  sdk: 33,
  bootId: 'boot-1' as string | null,
  androidId: 'a1' as string | null,
};
const device = (part: Partial<typeof facts> = {}) => {
  const { serial, bootId, androidId } = { ...facts, ...part };
  return seen({ serial, bootId, androidId });
};
const reading = {
  by: 'setup' as const,
  profile: { name: 'Lobby', sha256: 'x' },
  verdict: 'as-profile' as const,
  steps: [],
  seen: device(),
};

/** Connected, set up, read; open still. */
function setUp(mac: string | null = null): TabletRecord {
  const connected = afterConnection(null, endpoint, facts, { ...device(), mac });
  return afterReading(afterOpen(connected, endpoint, 'test', { ...device(), mac }), reading);
}
const locked = (mac: string | null = null) =>
  afterLock(afterOrder(setUp(mac), false, { ...device(), mac }), 'closed', 'test', 'not-checked', { ...device(), mac });
const doubts = (record: TabletRecord | null) => record?.reading?.doubts.map(({ id }) => id);

describe('what a refusal proves', () => {
  it('ends the memory of a closed or ordered tablet, whoever it was', () => {
    expect(afterRefusal(locked(), endpoint, seen()).bridge.state).toBe('closed');
    const silent = afterLock(afterOrder(setUp(), false, device()), 'not-proven', 'silent', 'not-checked', device());
    expect(afterRefusal(silent, endpoint, seen()).bridge.state).toBe('closed');
    expect(afterRefusal(null, endpoint, seen()).bridge).toMatchObject({ state: 'closed', seen: { serial: null } });
  });

  it('does not end that of an open one, unless the same hardware address refuses', () => {
    const mac = '02:00:00:00:00:05';
    const other = '02:00:00:00:00:77';
    for (const [was, now, state] of [
      [null, null, 'not-proven'],
      [mac, null, 'not-proven'],
      [null, mac, 'not-proven'],
      [mac, other, 'not-proven'],
      [mac, mac, 'closed'],
    ] as const) {
      const record = afterRefusal(setUp(was), endpoint, seen({ mac: now }));
      expect(record.bridge.state, `${was} ${now}`).toBe(state);
      // Asked again and again it proves no more.
      expect(afterRefusal(record, endpoint, seen({ mac: now })).bridge.state, `${was} ${now}`).toBe(state);
    }
  });

  it('at another address than the tablet was seen at proves nothing of it', () => {
    const open = afterOpen(null, endpoint, 'test', seen());
    const moved = afterRefusal(open, { ...endpoint, host: '192.0.2.9' }, seen());
    expect(moved).toMatchObject({ address: endpoint, bridge: { state: 'not-proven' } });
  });

  it('by another hardware address leaves a closed tablet as it was last seen', () => {
    const record = locked('02:00:00:00:00:05');
    const now = seen({ at: '2026-02-01T12:00:00.000Z', mac: '02:00:00:00:00:77' });
    expect(answererOf(record, now.mac)).toBe('other');
    expect(afterRefusal(record, endpoint, now)).toEqual(record);
  });

  it('never makes closed of what was left open, without an order or the same device, in any order of events', () => {
    const events = fc.array(fc.constantFrom('refused', 'silent', 'refused-other-address'), { maxLength: 8 });
    fc.assert(
      fc.property(events, (list) => {
        let record = setUp();
        for (const event of list) {
          const where = event === 'refused-other-address' ? { ...endpoint, host: '192.0.2.9' } : endpoint;
          record =
            event === 'silent'
              ? afterLock(record, 'not-proven', 'silent', 'not-checked', seen())
              : afterRefusal(record, where, seen());
          expect(record.bridge.state).not.toBe('closed');
          expect(tabletRecordSchema.safeParse(record).success).toBe(true);
        }
      }),
    );
  });
});

describe('who refuses after the order to close', () => {
  const mac = '02:00:00:00:00:05';
  it.each([
    ['over the network', null, null, { isUsb: false, wasOpen: true }, 'same'],
    ['by the same hardware address', mac, mac, { isUsb: false, wasOpen: true }, 'same'],
    ['after the tablet got another address', mac, '02:00:00:00:00:77', { isUsb: false, wasOpen: true }, 'other'],
    ['at a cable, where the address was open', null, null, { isUsb: true, wasOpen: true }, 'same'],
    ['at a cable, where it was not', null, null, { isUsb: true, wasOpen: false }, 'unknown'],
  ] as const)('%s', (_what, was, now, way, answerer) => {
    expect(answererAfterOrder(setUp(was), now, way)).toBe(answerer);
  });
});

describe('what happens after a reading', () => {
  it('is no doubt while the same tablet runs on', () => {
    expect(doubts(locked())).toEqual([]);
    expect(doubts(afterConnection(locked(), endpoint, facts, device()))).toEqual([]);
  });

  it.each([
    ['restarted', { bootId: 'boot-2' }, ['restarted']],
    ['restarted, as far as it reports', { bootId: null }, ['restarted']],
    ['reset to factory settings', { bootId: 'boot-2', androidId: 'a2' }, ['reset', 'restarted']],
    ['reset, with an id that is not reported', { bootId: 'boot-2', androidId: null }, ['reset', 'restarted']],
    ['another one', { serial: 'S2', bootId: 'boot-9', androidId: 'a9' }, ['other-device', 'restarted']],
    ['another model without a serial', { model: 'T8', bootId: 'boot-9' }, ['other-device', 'restarted']],
  ])('is a doubt: the tablet is %s', (_what, change, ids) => {
    const now = { ...facts, ...change };
    const record = afterConnection(locked(), endpoint, now, device(now));
    expect(doubts(record)).toEqual(ids);
    expect(record.tablet).toEqual(now);
  });

  it('a tablet put in its place takes away what was proven of the one before, closed port and restart', () => {
    const proven = afterLock(locked(), 'closed', 'test', 'closed', device());
    const now = { ...facts, serial: 'S2' };
    expect(afterConnection(proven, endpoint, now, device(now)).bridge).toMatchObject({
      state: 'not-proven',
      afterRestart: { verdict: 'not-checked', seen: null },
    });
  });

  it('an open port is a doubt once it was closed, and a restart by gw is one of its own', () => {
    expect(doubts(afterOpen(setUp(), endpoint, 'test', seen()))).toEqual([]);
    expect(doubts(afterOpen(locked(), endpoint, 'test', seen()))).toEqual(['opened']);
    expect(doubts(afterOrder(setUp(), true, device()))).toEqual(['restarted-by-gw']);
  });

  it('is no doubt about a later reading', () => {
    const opened = afterOpen(locked(), endpoint, 'test', seen());
    expect(doubts(afterReading(opened, { ...reading, verdict: 'differs' }))).toEqual([]);
  });
});

describe('wireless debugging that stays on', () => {
  it('is not refuted by a refused port, nor by one that was opened and locked, but by reading it', () => {
    const on = afterWireless(locked('02:00:00:00:00:05'), true);
    const refused = afterRefusal(on, endpoint, seen({ mac: '02:00:00:00:00:05' }));
    expect(refused.bridge).toMatchObject({ state: 'closed', isWirelessOn: true });
    const again = afterLock(afterOpen(refused, endpoint, 'test', seen()), 'closed', 'test', 'closed', device());
    expect(again.bridge.isWirelessOn).toBe(true);
    expect(afterWireless(again, false).bridge.isWirelessOn).toBe(false);
  });
});

describe('a restart that opened the port', () => {
  it('is refuted only by a restart that did not', () => {
    const reopens = afterLock(locked(), 'closed', 'test', 'open', device());
    const again = afterOpen(reopens, endpoint, 'test', seen());
    const closed = afterLock(afterOrder(again, false, device()), 'closed', 'test', 'not-checked', device());
    expect(closed.bridge.afterRestart.verdict).toBe('open');
    expect(afterLock(closed, 'closed', 'test', 'closed', device()).bridge.afterRestart.verdict).toBe('closed');
  });

  it('that did not is forgotten when the port was open again', () => {
    const proven = afterLock(locked(), 'closed', 'test', 'closed', device());
    expect(afterOpen(proven, endpoint, 'test', seen()).bridge.afterRestart.verdict).toBe('not-checked');
    // A look from outside loses nothing of what is known about the device.
    expect(afterOpen(proven, endpoint, 'test', seen()).bridge.seen).toMatchObject({ serial: 'S1', bootId: 'boot-1' });
  });
});
