import { describe, expect, it } from 'vitest';
import { NO_PROVENANCE, type TabletRecord } from '../../src/lib/kiosk/index.ts';
import { type Seen, statusOf } from '../../src/lib/toolkit/kiosk/status-findings.ts';

const now = { wall: new Date('2026-01-31T12:00:00.000Z'), machine: { bootId: null, uptimeS: null } };

const ids = { serial: 'S', bootId: null, androidId: null, mac: null };
const observed = { at: '2026-01-31T11:00:00.000Z', machine: now.machine, ...ids };
const bridgeIn = (state: 'open' | 'closed' | 'not-verified') => ({
  state,
  why: 'last seen so',
  isOpenUnresolved: state !== 'closed',
  isWirelessOn: false,
  observed,
  afterRestart: { verdict: 'not-checked', observed: null } as const,
});

const address = { host: '192.0.2.5', port: 5555 };
const facts = { model: 'T10', manufacturer: 'A', serial: 'S', android: '13', sdk: 33, bootId: null, androidId: null };
const seen = (part: Partial<Seen>): Seen => ({
  ...{ now, port: 'closed', answeredBy: 'unknown', isOfAnother: false, foundBy: 'site-file', address },
  ...{ isRead: false, notRead: null, hash: null },
  ...part,
});

/** The port finding, by default for a tablet without a record. */
function portOf(port: Seen['port'], answeredBy: Seen['answeredBy'], bridge: TabletRecord['bridge'] | null = null) {
  const record = { schema: 'gw/tablet/2', address, tablet: facts, reading: null } as const;
  return statusOf(bridge && { ...record, bridge }, seen({ port, answeredBy })).findings[0];
}

describe('the port finding', () => {
  it('is ok for a refusal only, and names the device', () => {
    expect(portOf('closed', 'same')).toMatchObject({ verdict: 'ok', detail: expect.stringContaining('MAC address') });
    const expected = { verdict: 'ok', detail: expect.stringContaining('not visible from here') };
    expect(portOf('closed', 'unknown', bridgeIn('closed'))).toMatchObject(expected);
    expect(portOf('open', 'same')).toMatchObject({ verdict: 'wrong' });
    expect(portOf('silent', 'unknown')).toMatchObject({ verdict: 'not-checked' });
  });

  it.each([
    ['no tablet was ever connected there', null],
    ['the tablet was last seen open', bridgeIn('open')],
    ['the record is not verified', bridgeIn('not-verified')],
  ] as const)('is not checked when an unknown device refuses and %s', (_what, bridge) => {
    const expected = { verdict: 'not-checked', remedy: expect.stringContaining('MAC address') };
    expect(portOf('closed', 'unknown', bridge)).toMatchObject(expected);
  });

  it('is not checked when another device refuses at the address of the tablet', () => {
    expect(portOf('closed', 'other')).toMatchObject({
      verdict: 'not-checked',
      detail: expect.stringContaining('another device'),
      remedy: expect.stringContaining('tablet.host'),
    });
  });
});

it('the port is not checked at an address that is only remembered, or when the site file names another tablet', () => {
  const record = { schema: 'gw/tablet/2', address, tablet: facts, reading: null, bridge: bridgeIn('closed') } as const;
  const portAs = (part: Partial<Seen>) => statusOf(record, seen(part)).findings[0];
  expect(portAs({ foundBy: 'remembered' })).toMatchObject({
    verdict: 'not-checked',
    detail: expect.stringContaining('remembered address'),
  });
  for (const answeredBy of ['same', 'unknown'] as const) {
    expect(portAs({ isOfAnother: true, answeredBy })).toMatchObject({
      verdict: 'not-checked',
      detail: expect.stringContaining("the only known tablet is 'S'"),
    });
  }
  expect(portAs({ foundBy: 'mac', answeredBy: 'same' })).toMatchObject({ verdict: 'ok' });
});

it('an address that the tablet was given anew is no doubt where its MAC address answers, and one where not', () => {
  const reading: NonNullable<TabletRecord['reading']> = {
    ...{ by: 'setup', profile: { name: 'P', sha256: 'h' }, verdict: 'as-profile', steps: [], observed, doubts: [] },
  };
  const moved = { host: '192.0.2.9', port: 5555 };
  const record = { schema: 'gw/tablet/2', address: moved, tablet: facts, reading, bridge: bridgeIn('closed') } as const;
  const doubtsAs = (part: Partial<Seen>) =>
    statusOf(record, seen({ hash: 'h', ...part })).setUp.doubts.map(({ id }) => id);
  expect(doubtsAs({ foundBy: 'mac', answeredBy: 'same' })).toEqual([]);
  expect(doubtsAs({ foundBy: 'mac', answeredBy: 'unknown' })).toEqual(['address-changed']);
  expect(doubtsAs({ foundBy: 'site-file', answeredBy: 'same' })).toEqual(['address-changed']);
  expect(doubtsAs({ foundBy: 'mac', answeredBy: 'same', isOfAnother: true })).toEqual(['other-device']);
});

describe('a tablet that was never read', () => {
  it('is not checked, without time and device', () => {
    const { setUp, restart } = statusOf(null, seen({ answeredBy: 'same' }));
    expect(setUp).toMatchObject({ verdict: 'not-checked', ...NO_PROVENANCE });
    expect(restart).toEqual({ verdict: 'not-checked', ...NO_PROVENANCE });
  });

  it('names a missing profile, whether or not the port is open', () => {
    const notRead = { code: 'KIOSK_PROFILE_INVALID', message: 'kiosk.yaml does not exist.' };
    for (const port of ['open', 'closed'] as const) {
      const { setUp, findings } = statusOf(null, seen({ port, notRead }));
      expect(setUp.notRead).toEqual(notRead);
      expect(findings.at(-1)?.detail).toContain('not read now: kiosk.yaml does not exist.');
    }
  });
});
