import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ConditionId, conditionIds, judgeCondition, type LiveValues } from '../../src/lib/chassis/index.ts';
import { createLiveValues } from '../../src/lib/chassis/live-values.ts';
import { parseTopicMessage } from '../../src/lib/chassis/topics/message.ts';
import { systemClock } from '../../src/lib/lifecycle/index.ts';

const inOrder = [
  { topic: '/wheel_state', control_mode: 'auto', emergency_stop_pressed: false },
  { topic: '/slam/state', state: 'positioning', reliable: true },
  { topic: '/battery_state', percentage: 0.5, power_supply_status: 'discharging' },
  { topic: '/alerts', alerts: [] },
];

/** Live values after these messages, over an open connection. */
function valuesAfter(...messages: object[]): { values: LiveValues; live: ReturnType<typeof createLiveValues> } {
  const live = createLiveValues(systemClock);
  live.connect();
  for (const sent of messages) {
    const message = parseTopicMessage(JSON.stringify(sent));
    if (message.kind === 'data') live.update(message);
    if (message.kind === 'complaint' && message.topic !== undefined)
      live.reject(message.topic, message.what, message.said);
  }
  return { values: live.values(), live };
}

const judged = (values: LiveValues) =>
  Object.fromEntries(judgeCondition(values).map(({ id, verdict, state }) => [id, `${verdict} ${state}`]));
const judgedAfter = (...messages: object[]) => judged(valuesAfter(...inOrder, ...messages).values);

describe('the condition that the robot reports', () => {
  it('is ok where every value was received and is in its ok state', () => {
    expect(judgedAfter()).toEqual({
      'emergency-stop': 'ok not-pressed',
      'control-mode': 'ok auto',
      positioning: 'ok reliable',
      battery: 'ok enough',
      power: 'ok known',
      alerts: 'ok none',
    });
  });

  it.each<[ConditionId, string, object]>([
    ['emergency-stop', 'wrong pressed', { topic: '/wheel_state', control_mode: 'auto', emergency_stop_pressed: true }],
    ['control-mode', 'wrong not-auto', { ...inOrder[0], control_mode: 'manual' }],
    ['control-mode', 'wrong not-auto', { ...inOrder[0], control_mode: 'remote' }],
    ['control-mode', 'wrong wheels-released', { ...inOrder[0], wheels_released: true }],
    ['control-mode', 'ok auto', { ...inOrder[0], wheels_released: false }],
    ['control-mode', 'not-checked unknown', { ...inOrder[0], control_mode: 'AUTO' }],
    ['positioning', 'wrong lost', { ...inOrder[1], reliable: false }],
    ['positioning', 'wrong lost', { ...inOrder[1], position_quality: 1 }],
    ['positioning', 'wrong poor', { ...inOrder[1], position_quality: 3 }],
    ['positioning', 'ok reliable', { ...inOrder[1], position_quality: 8 }],
    ['positioning', 'wrong inactive', { ...inOrder[1], state: 'inactive' }],
    ['positioning', 'wrong mapping', { ...inOrder[1], state: 'slam' }],
    ['positioning', 'not-checked unreadable', { ...inOrder[1], position_quality: '3' }],
    ['positioning', 'wrong lost', { ...inOrder[1], reliable: false, position_quality: '3' }],
    ['control-mode', 'not-checked unreadable', { ...inOrder[0], wheels_released: 'no' }],
    ['emergency-stop', 'wrong pressed', { ...inOrder[0], emergency_stop_pressed: true, wheels_released: 'no' }],
    ['positioning', 'not-checked unknown', { ...inOrder[1], state: 'relocating' }],
    ['battery', 'wrong critical', { ...inOrder[2], percentage: 0.099 }],
    ['battery', 'wrong low', { ...inOrder[2], percentage: 0.199, power_supply_status: 'charging' }],
    ['battery', 'ok enough', { ...inOrder[2], percentage: 0.2 }],
    ['battery', 'not-checked missing', { ...inOrder[2], percentage: 55 }],
    ['power', 'not-checked unknown', { ...inOrder[2], power_supply_status: 'not charging' }],
    ['power', 'not-checked unknown', { ...inOrder[2], power_supply_status: null }],
    ['power', 'wrong contradictory', { ...inOrder[2], power_supply_status: 'full' }],
    ['power', 'ok known', { ...inOrder[2], percentage: 0.97, power_supply_status: 'full' }],
    ['alerts', 'wrong active', { topic: '/alerts', alerts: [{ code: 7005, level: 'error', msg: 'x' }] }],
    ['alerts', 'wrong active', { topic: '/alerts', alerts: [{ code: 8501, level: 'warning', msg: 'x' }] }],
    ['alerts', 'wrong active', { topic: '/alerts', alerts: [{ code: 1 }, { code: 2, level: 'none' }] }],
    ['alerts', 'not-checked without-level', { topic: '/alerts', alerts: [{ code: 2, level: 'none', msg: 'x' }] }],
  ])('%s is %s', (id, expected, message) => {
    expect(judgedAfter(message)[id]).toBe(expected);
  });

  it('has no charge of 1 that is full, until a charge between 0 and 1 shows that it is a share', () => {
    const charge = (percentage: number, power_supply_status = 'full') => ({
      ...inOrder[2],
      percentage,
      power_supply_status,
    });
    const chargeAfter = (...sent: object[]) => {
      const { values } = valuesAfter(...sent);
      const { battery, power } = judged(values);
      const reported = values.battery.status === 'received' ? values.battery.value : {};
      return { battery, power, ...reported };
    };
    const doubtful = { battery: 'not-checked doubtful', power: 'not-checked doubtful', percent: 100, orPercent: 1 };
    expect(chargeAfter(charge(1))).toMatchObject(doubtful);
    expect(chargeAfter(charge(0), charge(1))).toMatchObject(doubtful);
    expect(chargeAfter(charge(1, 'charging'))).toMatchObject({ ...doubtful, power: 'ok known' });
    expect(chargeAfter(charge(0.999), charge(1))).toMatchObject({ battery: 'ok enough', power: 'ok known' });
    expect(chargeAfter(charge(1), charge(0.999))).toMatchObject({ battery: 'ok enough' });
    expect(chargeAfter(charge(2), charge(1))).toMatchObject(doubtful);
    // Whatever it counts to: once above 1 it is never a share again.
    expect(chargeAfter(charge(0.5), charge(2), charge(0.9))).toMatchObject({ battery: 'not-checked doubtful' });
    expect(chargeAfter(charge(2), charge(0.1))).toMatchObject({ battery: 'wrong low' });
    expect(chargeAfter(charge(0))).toMatchObject({ battery: 'wrong critical', percent: 0 });
    const { live } = valuesAfter(charge(0.5));
    live.disconnect();
    live.connect();
    const again = parseTopicMessage(JSON.stringify(charge(1)));
    if (again.kind === 'data') live.update(again);
    expect(judged(live.values()).battery).toBe('not-checked doubtful');
  });

  it('is not checked, never ok, where it was not received, was rejected, or is outdated', () => {
    for (const id of conditionIds) expect(judged(valuesAfter().values)[id]).toBe('not-checked missing');
    const { live } = valuesAfter(...inOrder);
    live.disconnect();
    expect(judgeCondition(live.values()).map(({ missing }) => missing)).toEqual(Array(6).fill('no-connection'));
    live.connect();
    expect(judgeCondition(live.values()).map(({ missing }) => missing)).toEqual(
      Array(6).fill('not-received-since-reconnect'),
    );
    const quoted = { topic: '/alerts', alerts: [{ code: 'E7005', level: 'error', msg: 'position lost' }] };
    const alertsOf = (values: LiveValues) => judgeCondition(values).find(({ id }) => id === 'alerts');
    expect(alertsOf(valuesAfter(...inOrder, quoted).values)).toMatchObject({ missing: 'newer-rejected' });
    expect(alertsOf(valuesAfter(quoted).values)).toMatchObject({ missing: 'rejected' });
    expect(alertsOf(valuesAfter(quoted, ...inOrder).values)).toMatchObject({ verdict: 'ok' });
  });

  it('is ok only with the values listed as ok, whatever arrives', { tags: 'property' }, () => {
    const word = fc.oneof(
      fc.constantFrom('auto', 'manual', 'positioning', 'slam', 'full', 'charging', ''),
      fc.string(),
    );
    const messages = fc.record({
      stop: fc.boolean(),
      mode: word,
      released: fc.option(fc.boolean()),
      state: word,
      reliable: fc.boolean(),
      quality: fc.option(fc.integer({ min: 0, max: 12 })),
      percentage: fc.double({ min: 0, max: 1, noNaN: true }),
      status: fc.option(word),
      levels: fc.array(fc.option(fc.oneof(fc.constantFrom('error', 'warning', 'none'), fc.string())), { maxLength: 4 }),
    });
    fc.assert(
      fc.property(messages, (received) => {
        const { stop, mode, released, state, reliable, quality, percentage, status, levels } = received;
        const result = judged(
          valuesAfter(
            { topic: '/wheel_state', control_mode: mode, emergency_stop_pressed: stop, wheels_released: released },
            { topic: '/slam/state', state, reliable, position_quality: quality },
            { topic: '/battery_state', percentage, power_supply_status: status },
            { topic: '/alerts', alerts: levels.map((level, code) => ({ code, level })) },
          ).values,
        );
        const isOk = (id: ConditionId) => result[id]?.startsWith('ok') === true;
        expect(isOk('emergency-stop')).toBe(!stop);
        expect(isOk('control-mode')).toBe(mode === 'auto' && released !== true);
        expect(isOk('positioning')).toBe(state === 'positioning' && reliable && quality !== 1 && quality !== 3);
        expect(isOk('battery')).toBe(percentage * 100 >= 20 && percentage < 1);
        expect(isOk('alerts')).toBe(levels.length === 0);
        if (isOk('power')) expect(['charging', 'discharging', 'full']).toContain(status);
      }),
    );
  });

  it('keeps of a text of the robot its beginning, in whatever form it was sent', () => {
    const msg = 'x'.repeat(60_000);
    const alertsAfter = (...messages: object[]) => {
      const { alerts } = valuesAfter(...messages).values;
      return alerts.status === 'received' ? alerts.value.map(({ message }) => message.length) : alerts.status;
    };
    expect(alertsAfter({ topic: '/alerts', alerts: [{ code: 1, level: 'error', msg }] })).toEqual([500]);
    // Not readable as a whole, but it says that there is an alert.
    const beside = { topic: '/alerts', alerts: [{ code: '1', level: 'error', msg }] };
    expect(alertsAfter({ topic: '/alerts', alerts: [] }, beside)).toEqual([500]);
  });
});
