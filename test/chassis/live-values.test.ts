import { describe, expect, it } from 'vitest';
import { createLiveValues } from '../../src/lib/chassis/live-values.ts';
import { parseTopicMessage } from '../../src/lib/chassis/topics/message.ts';
import { systemClock } from '../../src/lib/lifecycle/index.ts';

/** Live values on a clock that the test advances. */
function bench() {
  let now = 1_234_567;
  const live = createLiveValues({ ...systemClock, monotonicMs: () => now });
  live.connect();
  return {
    live,
    pass(ms: number) {
      now += ms;
    },
    receive(message: object) {
      const parsed = parseTopicMessage(JSON.stringify(message));
      if (parsed.kind !== 'data') throw new Error('the message of the test is invalid');
      live.update(parsed);
    },
  };
}

const wheels = { topic: '/wheel_state', control_mode: 'auto', emergency_stop_pressed: false };
const staleness = (value: { status: string; stale?: boolean; staleReason?: string }) => [
  value.stale,
  value.staleReason,
];

describe('the age of a live value', () => {
  it('expires a steady topic that ceased, by its own rate', () => {
    const { live, pass, receive } = bench();
    for (let i = 0; i < 12; i += 1) {
      receive(wheels);
      pass(2_000);
    }
    pass(7_900);
    expect(staleness(live.values().wheels)).toEqual([false, undefined]);
    pass(200);
    expect(staleness(live.values().wheels)).toEqual([true, 'too-old']);
    receive(wheels);
    expect(staleness(live.values().wheels)).toEqual([false, undefined]);
  });

  it('expires no topic of unknown rate: it may be published on change only', () => {
    const { live, pass, receive } = bench();
    for (let i = 0; i < 6; i += 1) {
      receive(wheels);
      pass(300);
    }
    for (let i = 0; i < 40; i += 1) {
      receive({ topic: '/alerts', alerts: [] });
      pass(100);
    }
    pass(3_600_000);
    const { wheels: last, alerts } = live.values();
    expect([staleness(last), staleness(alerts)]).toEqual([
      [false, undefined],
      [false, undefined],
    ]);
  });

  it('measures the rate again on each connection', () => {
    const { live, pass, receive } = bench();
    for (let i = 0; i < 12; i += 1) {
      receive(wheels);
      pass(100);
    }
    live.disconnect();
    live.connect();
    expect(staleness(live.values().wheels)).toEqual([true, 'not-received-since-reconnect']);
    receive(wheels);
    pass(60_000);
    expect(staleness(live.values().wheels)).toEqual([false, undefined]);
  });
});
