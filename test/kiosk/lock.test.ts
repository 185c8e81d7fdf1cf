import { Duplex } from 'node:stream';
import { describe, expect, it } from 'vitest';
import {
  clearReopening,
  lookAtPort,
  type PortScene,
  type PortState,
  proveClosed,
  type Tablet,
  waitUntilDown,
  watchRestart,
} from '../../src/lib/kiosk/index.ts';
import { systemClock } from '../../src/lib/lifecycle/index.ts';
import { DialError, type DialFailure } from '../../src/lib/net/index.ts';

/** A port that answers as the time says, on a clock that only moves by waiting. */
function scene(answer: (ms: number) => 'open' | DialFailure, host = '192.0.2.5'): PortScene & { nowMs(): number } {
  /** Not 0, so that no sum passes for a difference. */
  const startMs = 86_400_000;
  let nowMs = startMs;
  return {
    dialer: {
      way: 'direct',
      async dial() {
        const said = answer(nowMs - startMs);
        if (said === 'open') return new Duplex({ read() {}, write: (_chunk, _encoding, done) => done() });
        throw new DialError(said, { address: '192.0.2.5', port: 5555 });
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

describe('a look at the port', () => {
  it.each([
    ['open', 'open'],
    ['refused', 'closed'],
    // Taken, and cut at once: something listens there.
    ['cut', 'open'],
    ['no-answer', 'silent'],
    ['no-route', 'silent'],
    ['unknown-name', 'silent'],
    ['other', 'silent'],
  ] as const)('takes %s for %s', async (answer, state: PortState) => {
    expect(await lookAtPort(scene(() => answer))).toBe(state);
  });
});

describe('the proof that it is closed', () => {
  it('needs three refusals in a row', async () => {
    const closed = scene(() => 'refused');
    expect(await proveClosed(closed)).toBe('closed');
    expect(closed.nowMs()).toBe(1_000);
    expect(await proveClosed(scene((ms) => (ms === 1_000 ? 'open' : 'refused')))).toBe('closed');
  });

  it('waits for a port that closes some moments later', async () => {
    expect(await proveClosed(scene((ms) => (ms < 9_000 ? 'open' : 'refused')))).toBe('closed');
  });

  it('is none when it stays open, and none when nobody answers', async () => {
    expect(await proveClosed(scene(() => 'open'))).toBe('open');
    expect(await proveClosed(scene(() => 'no-answer'))).toBe('silent');
    const ending = scene(() => 'no-route');
    expect(await proveClosed(ending)).toBe('silent');
    expect(ending.nowMs()).toBeLessThan(20_000);
  });
});

describe('a restart that is watched', () => {
  const over = (from: number, to: number, then: 'open' | DialFailure) => (ms: number) =>
    ms < from ? 'refused' : ms < to ? 'no-answer' : then;

  it('ends 20 s after the tablet is back, closed', async () => {
    const watched = scene(over(2_000, 40_000, 'refused'));
    expect(await watchRestart(watched, 180_000)).toBe('closed');
    expect(watched.nowMs()).toBeGreaterThanOrEqual(60_000);
    expect(watched.nowMs()).toBeLessThan(70_000);
  });

  it('ends at once when the port opens again', async () => {
    const watched = scene(over(2_000, 40_000, 'open'));
    expect(await watchRestart(watched, 180_000)).toBe('open');
    expect(watched.nowMs()).toBeLessThan(45_000);
  });

  it('proves nothing about a tablet that does not come back, or only just did', async () => {
    expect(await watchRestart(scene(over(2_000, 500_000, 'refused')), 60_000)).toBe('silent');
    expect(await watchRestart(scene(over(2_000, 50_000, 'refused')), 60_000)).toBe('silent');
  });

  it('that was not seen proves nothing: refusals alone are no restart', async () => {
    const watched = scene(() => 'refused');
    expect(await watchRestart(watched, 60_000)).toBe('silent');
    expect(watched.nowMs()).toBe(60_000);
    // A router that refuses for a tablet which is away, and opens only after the watch.
    expect(
      await watchRestart(
        scene((ms) => (ms < 130_000 ? 'refused' : 'open')),
        120_000,
      ),
    ).toBe('silent');
    // Inside this machine there is no silence.
    expect(
      await watchRestart(
        scene(() => 'refused', '127.0.0.1'),
        60_000,
      ),
    ).toBe('closed');
    expect(await watchRestart(scene(over(2_000, 50_000, 'refused'), '127.0.0.1'), 60_000)).toBe('silent');
  });

  it('begins when the port does not answer any more, and not at all when it never goes away', async () => {
    expect(await waitUntilDown(scene((ms) => (ms < 3_000 ? 'open' : 'no-answer')))).toBe(true);
    expect(await waitUntilDown(scene(() => 'open'))).toBe(false);
  });
});

describe('what opens the port again', () => {
  /** A tablet with these settings and properties that takes a change, or keeps what it has. */
  function tablet(held: { wireless: string; port: string }, takes: boolean): Tablet {
    const answer = (stdout: string) => ({ stdout, stderr: '', exitCode: 0 });
    return {
      async run(command: string) {
        // As Android does: what stands in the command is what is set.
        const words = command.split(' ').map((word) => word.replaceAll("'", ''));
        const key = command.startsWith('settings') ? words[3] : words[1];
        if (command.startsWith('settings get'))
          return answer(key === 'adb_wifi_enabled' ? `${held.wireless}\n` : 'null\n');
        if (takes && command.startsWith('settings put') && key === 'adb_wifi_enabled') held.wireless = words[4] ?? '';
        if (takes && command.startsWith('setprop') && key === 'persist.adb.tcp.port') held.port = words[2] ?? '';
        return answer('');
      },
      properties: async () => new Map([['persist.adb.tcp.port', held.port]]),
    } as Partial<Tablet> as Tablet;
  }

  it('is taken away and read back', async () => {
    const held = { wireless: '1', port: '5555' };
    expect(await clearReopening(tablet(held, true))).toEqual({ keepsOpening: null, wirelessStaysOn: false });
    expect(held).toEqual({ wireless: '0', port: '' });
    const odd = { wireless: 'Failure calling service settings', port: '' };
    expect(await clearReopening(tablet(odd, false))).toMatchObject({ wirelessStaysOn: true });
  });

  it('is told where the tablet keeps it, whatever it said', async () => {
    expect(await clearReopening(tablet({ wireless: '1', port: '5555' }, false))).toEqual({
      keepsOpening: 'persist.adb.tcp.port=5555',
      wirelessStaysOn: true,
    });
    // Android before 11 knows no wireless debugging.
    expect(await clearReopening(tablet({ wireless: 'null', port: '0' }, false))).toEqual({
      keepsOpening: null,
      wirelessStaysOn: false,
    });
  });
});
