import { describe, expect, it } from 'vitest';
import { formatTried } from '../../src/lib/error/index.ts';
import {
  afterOverLink,
  DialError,
  directDialer,
  linkAllowanceMs,
  type RoundTrips,
  triedOver,
} from '../../src/lib/net/index.ts';
import { createFakeClock } from '../lifecycle/fake-clock.ts';
import { slowDialer } from './slow-dialer.ts';

const quick: RoundTrips = { medianMs: 4, longestMs: 10, isSlow: false };

describe('a deadline for the far end of a link', () => {
  it('is as given without a link, and where it was not measured yet', async () => {
    for (const dialer of [directDialer, slowDialer(() => null)]) {
      const clock = createFakeClock();
      let fired = 0;
      using _deadline = afterOverLink(dialer, clock, 1_000, () => {
        fired += 1;
      });
      await clock.advance(999);
      expect(fired).toBe(0);
      await clock.advance(1);
      expect(fired).toBe(1);
      await clock.advance(60_000);
      expect(fired).toBe(1);
    }
  });

  it('grows by three of the longest round trips, also when they get longer while it runs', async () => {
    const clock = createFakeClock();
    let roundTrips = quick;
    let firedAtMs: number | null = null;
    const began = clock.monotonicMs();
    using _deadline = afterOverLink(
      slowDialer(() => roundTrips),
      clock,
      1_000,
      () => {
        firedAtMs = clock.monotonicMs() - began;
      },
    );
    await clock.advance(1_010);
    roundTrips = { medianMs: 300, longestMs: 950, isSlow: true };
    await clock.advance(10_000);
    expect(firedAtMs).toBe(1_000 + 3 * 950);
  });

  it('leaves no timer when it is disposed, also of the second wait', async () => {
    const clock = createFakeClock();
    const deadline = afterOverLink(slowDialer(), clock, 1_000, () => expect.fail('disposed'));
    await clock.advance(1_500);
    deadline[Symbol.dispose]();
    expect(clock.pending).toBe(0);
    await clock.advance(10_000);
  });
});

describe('what was tried', () => {
  const address = { address: '192.0.2.7', port: 8090 };

  it('names the link where it is slow, and only there', () => {
    expect(triedOver(directDialer)).toEqual({});
    expect(linkAllowanceMs(directDialer)).toBe(0);
    expect(triedOver(slowDialer(() => quick))).toEqual({ via: 'technician@192.0.2.2:22' });
    const tried = { ...address, ...triedOver(slowDialer()), action: 'GET /device/info', forMs: 2_800 };
    expect(formatTried(tried)).toBe(
      '192.0.2.7:8090 via technician@192.0.2.2:22, a slow link (round trip 300 ms, longest 400 ms) (GET /device/info, 2800 ms)',
    );
  });

  it('and no answer over it is not blamed on the device: another failure is', () => {
    const tried = { ...address, ...triedOver(slowDialer()) };
    expect(new DialError('no-answer', tried).remedy).toMatch(/slow SSH link says little .* on the gateway itself/);
    expect(new DialError('refused', tried).remedy).toMatch(/gw chassis address/);
    expect(new DialError('no-answer', address).remedy).toMatch(/check power/);
  });
});
