import { Duplex } from 'node:stream';
import { describe, expect, it } from 'vitest';
import {
  clearReopening,
  type PortState,
  type PortTarget,
  probePort,
  type Tablet,
  verifyClosed,
  waitUntilDown,
  watchRestart,
} from '../../src/lib/kiosk/index.ts';
import { systemClock } from '../../src/lib/lifecycle/index.ts';
import { DialError, type DialFailure } from '../../src/lib/net/index.ts';

/** A port whose answer depends on the time, with a clock that advances only by waiting. */
type Answer = (ms: number) => 'open' | DialFailure;
function portAnswering(answer: Answer, host = '192.0.2.5'): PortTarget & { nowMs(): number } {
  /** Not 0, so that no sum passes for a difference. */
  const startMs = 86_400_000;
  let nowMs = startMs;
  return {
    dialer: {
      way: 'direct',
      async dial() {
        const result = answer(nowMs - startMs);
        if (result === 'open') return new Duplex({ read() {}, write: (_chunk, _encoding, done) => done() });
        throw new DialError(result, { address: '192.0.2.5', port: 5555 });
      },
    },
    endpoint: { host, port: 5555 },
    clock: {
      ...systemClock,
      monotonicMs: () => nowMs,
      async sleep(ms) {
        nowMs += ms;
      },
    },
    signal: new AbortController().signal,
    onProgress: () => {},
    nowMs: () => nowMs - startMs,
  };
}

it.each([
  ['open', 'open'],
  ['refused', 'closed'],
  // Accepted and reset at once: something listens.
  ['cut', 'open'],
  ['no-answer', 'silent'],
  ['no-route', 'silent'],
  ['unknown-name', 'silent'],
  ['other', 'silent'],
] as const)('a probe of the port maps %s to %s', async (answer, state: PortState) => {
  expect(await probePort(portAnswering(() => answer))).toBe(state);
});

describe('the verification that it is closed', () => {
  it('needs three refusals in a row', async () => {
    const closed = portAnswering(() => 'refused');
    expect(await verifyClosed(closed)).toBe('closed');
    expect(closed.nowMs()).toBe(1_000);
    expect(await verifyClosed(portAnswering((ms) => (ms === 1_000 ? 'open' : 'refused')))).toBe('closed');
  });

  it('waits for a port that closes later', async () => {
    expect(await verifyClosed(portAnswering((ms) => (ms < 9_000 ? 'open' : 'refused')))).toBe('closed');
  });

  it('fails when it stays open, and when it does not answer', async () => {
    expect(await verifyClosed(portAnswering(() => 'open'))).toBe('open');
    expect(await verifyClosed(portAnswering(() => 'no-answer'))).toBe('silent');
    const ending = portAnswering(() => 'no-route');
    expect(await verifyClosed(ending)).toBe('silent');
    expect(ending.nowMs()).toBeLessThan(20_000);
  });
});

describe('a restart that is watched', () => {
  const over = (from: number, to: number, then: 'open' | DialFailure) => (ms: number) =>
    ms < from ? 'refused' : ms < to ? 'no-answer' : then;

  it('ends 20 s after the tablet is back, closed', async () => {
    const watched = portAnswering(over(2_000, 40_000, 'refused'));
    expect(await watchRestart(watched, 180_000)).toBe('closed');
    expect(watched.nowMs()).toBeGreaterThanOrEqual(60_000);
    expect(watched.nowMs()).toBeLessThan(70_000);
  });

  it('ends at once when the port opens again', async () => {
    const watched = portAnswering(over(2_000, 40_000, 'open'));
    expect(await watchRestart(watched, 180_000)).toBe('open');
    expect(watched.nowMs()).toBeLessThan(45_000);
  });

  it('verifies nothing for a tablet that does not come back, or came back too late', async () => {
    expect(await watchRestart(portAnswering(over(2_000, 500_000, 'refused')), 60_000)).toBe('silent');
    expect(await watchRestart(portAnswering(over(2_000, 50_000, 'refused')), 60_000)).toBe('silent');
  });

  it('without a silence verifies nothing: refusals alone are no restart', async () => {
    const watched = portAnswering(() => 'refused');
    expect(await watchRestart(watched, 60_000)).toBe('silent');
    expect(watched.nowMs()).toBe(60_000);
    // A router refuses on behalf of an absent tablet, whose port opens only after the watch.
    const absent = portAnswering((ms) => (ms < 130_000 ? 'refused' : 'open'));
    expect(await watchRestart(absent, 120_000)).toBe('silent');
    // On loopback there is no silence.
    const local = portAnswering(() => 'refused', '127.0.0.1');
    expect(await watchRestart(local, 60_000)).toBe('closed');
    expect(await watchRestart(portAnswering(over(2_000, 50_000, 'refused'), '127.0.0.1'), 60_000)).toBe('silent');
  });

  it('begins when the port stops answering, and never when it stays open', async () => {
    expect(await waitUntilDown(portAnswering((ms) => (ms < 3_000 ? 'open' : 'no-answer')))).toBe(true);
    expect(await waitUntilDown(portAnswering(() => 'open'))).toBe(false);
  });
});

describe('settings that open the port again', () => {
  /** A tablet with these settings and properties that accepts or ignores changes. */
  function tablet(values: { wireless: string; port: string }, isWritable: boolean): Tablet {
    const answer = (stdout: string) => ({ stdout, stderr: '', exitCode: 0 });
    return {
      async run(command: string) {
        // As Android does: sets the value of the command.
        const words = command.split(' ').map((word) => word.replaceAll("'", ''));
        const key = command.startsWith('settings') ? words[3] : words[1];
        if (command.startsWith('settings get'))
          return answer(key === 'adb_wifi_enabled' ? `${values.wireless}\n` : 'null\n');
        if (isWritable && command.startsWith('settings put') && key === 'adb_wifi_enabled')
          values.wireless = words[4] ?? '';
        if (isWritable && command.startsWith('setprop') && key === 'persist.adb.tcp.port') values.port = words[2] ?? '';
        return answer('');
      },
      properties: async () => new Map([['persist.adb.tcp.port', values.port]]),
    } as Partial<Tablet> as Tablet;
  }

  it('are cleared and read back', async () => {
    const values = { wireless: '1', port: '5555' };
    expect(await clearReopening(tablet(values, true))).toEqual({ keepsOpening: null, wirelessStaysOn: false });
    expect(values).toEqual({ wireless: '0', port: '' });
    const unreadable = { wireless: 'Failure calling service settings', port: '' };
    expect(await clearReopening(tablet(unreadable, false))).toMatchObject({ wirelessStaysOn: true });
  });

  it('are reported when the tablet keeps them, regardless of its output', async () => {
    const kept = await clearReopening(tablet({ wireless: '1', port: '5555' }, false));
    expect(kept).toEqual({ keepsOpening: 'persist.adb.tcp.port=5555', wirelessStaysOn: true });
    // Android before 11 has no wireless debugging.
    const old = await clearReopening(tablet({ wireless: 'null', port: '0' }, false));
    expect(old).toEqual({ keepsOpening: null, wirelessStaysOn: false });
  });
});
