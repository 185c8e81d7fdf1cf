import { describe, expect, it } from 'vitest';
import { NO_PROVENANCE, type PortState } from '../../src/lib/kiosk/index.ts';
import { findingsOf, type Known, knownRestart, knownSetUp } from '../../src/lib/toolkit/kiosk/status-findings.ts';

const now = { wall: new Date('2026-01-31T12:00:00.000Z'), machine: { bootId: null, uptimeS: null } };
const unread = { now, isRead: false, hash: null, answeredBy: 'unknown', address: { host: 'h', port: 1 } } as const;

const observed = {
  at: '2026-01-31T11:00:00.000Z',
  machine: now.machine,
  serial: 'S',
  bootId: null,
  androidId: null,
  mac: null,
};
const bridgeIn = (state: 'open' | 'closed' | 'not-verified') => ({
  state,
  why: 'last seen so',
  isOpenUnresolved: state !== 'closed',
  isWirelessOn: false,
  observed,
  afterRestart: { verdict: 'not-checked', observed: null } as const,
});

/** The port finding, by default for a tablet without a record. */
const portOf = (port: PortState, answeredBy: 'same' | 'other' | 'unknown', bridge: Known['bridge'] = null) =>
  findingsOf({
    known: { bridge },
    port,
    answeredBy,
    setUp: { ...knownSetUp(null, unread), notRead: null },
    restart: knownRestart(null, { now, answeredBy }),
    now,
  })[0];

describe('the port finding', () => {
  it('is ok for a refusal only, and names the device', () => {
    expect(portOf('closed', 'same')).toMatchObject({ verdict: 'ok', detail: expect.stringContaining('MAC address') });
    expect(portOf('closed', 'unknown', bridgeIn('closed'))).toMatchObject({
      verdict: 'ok',
      detail: expect.stringContaining('not visible from here'),
    });
    expect(portOf('open', 'same')).toMatchObject({ verdict: 'wrong' });
    expect(portOf('silent', 'unknown')).toMatchObject({ verdict: 'not-checked' });
  });

  it.each([
    ['no tablet was ever connected there', null],
    ['the tablet was last seen open', bridgeIn('open')],
    ['the record is not verified', bridgeIn('not-verified')],
  ] as const)('is not checked when an unknown device refuses and %s', (_what, bridge) => {
    expect(portOf('closed', 'unknown', bridge)).toMatchObject({
      verdict: 'not-checked',
      remedy: expect.stringContaining('MAC address'),
    });
  });

  it('is not checked when another device refuses at the address of the tablet', () => {
    expect(portOf('closed', 'other')).toMatchObject({
      verdict: 'not-checked',
      detail: expect.stringContaining('another device'),
      remedy: expect.stringContaining('tablet.host'),
    });
  });
});

describe('a tablet that was never read', () => {
  it('is not checked, without time and device', () => {
    expect(knownSetUp(null, unread)).toMatchObject({ verdict: 'not-checked', ...NO_PROVENANCE });
    expect(knownRestart(null, { now, answeredBy: 'same' })).toEqual({ verdict: 'not-checked', ...NO_PROVENANCE });
  });
});
