import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { degrees } from '../../src/lib/angle/index.ts';
import { judgeCondition, type LiveValues } from '../../src/lib/chassis/index.ts';
import { createLiveValues } from '../../src/lib/chassis/live-values.ts';
import { readTopicFrame } from '../../src/lib/chassis/topics/message.ts';
import { chosen } from '../../src/lib/evidence/index.ts';
import { systemClock } from '../../src/lib/lifecycle/index.ts';
import { judgeOrder } from '../../src/lib/motion/gate.ts';
import type { Order } from '../../src/lib/motion/index.ts';
import { createSampler } from '../../src/lib/motion/trial/samples.ts';
import { ground, openGate, readySnapshot, withValues } from './snapshot.ts';

const move: Order = { kind: 'move', goal: chosen({ xM: 3, yM: 4, yawDeg: degrees(180), map: ground }, 'test') };
const pose: Order = { kind: 'pose', pose: chosen({ xM: 0, yM: 0, yawDeg: degrees(0), map: ground }, 'test') };

const wheels = { topic: '/wheel_state', control_mode: 'auto', emergency_stop_pressed: false };
const slam = { topic: '/slam/state', state: 'positioning', reliable: true };
const alerts = { topic: '/alerts', alerts: [] };
const planning = { topic: '/planning_state', action_id: 7, move_state: 'idle', fail_reason: 0 };

/** A robot after these frames, each an object or the text of a frame. */
function robot(...frames: (object | string)[]) {
  const live = createLiveValues(systemClock);
  live.connect();
  const receive = (frame: object | string): void => {
    const steps = readTopicFrame(Buffer.from(typeof frame === 'string' ? frame : JSON.stringify(frame)));
    let step = steps.next();
    while (step.done !== true) step = steps.next();
    const message = step.value;
    if (message.kind === 'data') live.update(message);
    if (message.kind === 'complaint' && message.topic !== undefined) {
      live.reject(message.topic, message.what, message.said);
    }
  };
  for (const frame of frames) receive(frame);
  return { live, receive };
}

/** The conditions of the robot at the gate; its poses are current whatever the frames were. */
function snapshotOf(values: LiveValues) {
  const { wheels: w, positioning, alerts: a, planning: p, battery } = values;
  return withValues({ wheels: w, positioning, alerts: a, planning: p, battery });
}
const refusals = (values: LiveValues, order: Order = move): string[] =>
  judgeOrder(order, openGate({ snapshot: snapshotOf(values) })).map(({ reason }) => reason);
const stateOf = (values: LiveValues, id: string) => {
  const found = judgeCondition(values).find((condition) => condition.id === id);
  return `${found?.verdict} ${found?.state}`;
};
const valuesAfter = (...frames: (object | string)[]) => robot(wheels, slam, alerts, planning, ...frames).live.values();

describe('a frame that says that the emergency stop is pressed', () => {
  it.each<[string, object | string]>([
    ['with a control mode that is a number', { ...wheels, emergency_stop_pressed: true, control_mode: 0 }],
    ['without a control mode', { topic: '/wheel_state', emergency_stop_pressed: true }],
    ['as text', { ...wheels, emergency_stop_pressed: 'true' }],
    ['as text in capitals', { ...wheels, emergency_stop_pressed: ' TRUE ' }],
    ['as a number', { ...wheels, emergency_stop_pressed: 1 }],
    ['as a number in text', { ...wheels, emergency_stop_pressed: '1' }],
    ['beside NaN', '{"topic":"/wheel_state","emergency_stop_pressed":true,"control_mode":"auto","speed":NaN}'],
    ['as Python prints it', '{"topic":"/wheel_state","emergency_stop_pressed":True,"control_mode":"auto"}'],
    ['and that it is not', '{"topic":"/wheel_state","emergency_stop_pressed":true,"emergency_stop_pressed":false}'],
    ['cut off', '{"topic":"/wheel_state","emergency_stop_pressed":true,"control_mo'],
    ['in a list', [{ ...wheels, emergency_stop_pressed: true }]],
    ['without its topic', { control_mode: 'auto', emergency_stop_pressed: true }],
    ['of another topic', { ...wheels, topic: '/wheel_states', emergency_stop_pressed: true }],
    ['in a large frame', { ...wheels, emergency_stop_pressed: true, log: 'x'.repeat(200_000) }],
  ])('%s closes the gate and is an error of the robot', (_, frame) => {
    for (const values of [valuesAfter(frame), robot(frame).live.values()]) {
      expect(refusals(values)).toContain('The emergency stop of the robot is pressed.');
      expect(refusals(values, pose)).toContain('The emergency stop of the robot is pressed.');
      expect(stateOf(values, 'emergency-stop')).toBe('wrong pressed');
    }
  });
});

describe('a frame that cannot be read', () => {
  it.each<[string, object | string, RegExp]>([
    ['released as text', { ...wheels, emergency_stop_pressed: 'false' }, /\/wheel_state could not be read/],
    ['released as a number', { ...wheels, emergency_stop_pressed: 0 }, /\/wheel_state could not be read/],
    ['released beside a bad mode', { ...wheels, control_mode: 0 }, /\/wheel_state could not be read/],
    ['without the emergency stop', { topic: '/wheel_state', control_mode: 'auto' }, /\/wheel_state could not be read/],
    ['of no form', '{"topic":"/wheel_state",', /\/wheel_state could not be read/],
    ['reliable as text', { ...slam, reliable: 'true' }, /\/slam\/state could not be read/],
    ['an alert without a code', { topic: '/alerts', alerts: [{ level: 'error' }] }, /\/alerts could not be read/],
    ['too many alerts', { topic: '/alerts', alerts: Array(600).fill({ code: 1 }) }, /\/alerts could not be read/],
    ['a running move', { ...planning, move_state: 'moving', action_id: '9' }, /\/planning_state could not be read/],
  ])('%s: closes the gate until one is read well', (_, frame, reason) => {
    const { live, receive } = robot(wheels, slam, alerts, planning);
    expect(refusals(live.values())).toEqual([]);
    receive(frame);
    expect(refusals(live.values()).join()).toMatch(reason);
    live.disconnect();
    live.connect();
    expect(refusals(live.values()).join()).toMatch(reason);
    for (const good of [wheels, slam, alerts, planning]) receive(good);
    expect(refusals(live.values())).toEqual([]);
  });

  it('closes the gate also where none was ever read well, and a topic never received does not', () => {
    expect(refusals(robot().live.values())).toEqual([]);
    expect(refusals(robot({ ...wheels, emergency_stop_pressed: 'false' }).live.values())).toHaveLength(1);
    expect(stateOf(robot({ ...wheels, emergency_stop_pressed: 'false' }).live.values(), 'emergency-stop')).toBe(
      'not-checked missing',
    );
  });

  it('leaves the pose order, which repairs a lost position, but not with an unreadable emergency stop', () => {
    expect(refusals(valuesAfter({ ...slam, reliable: 'no' }), pose)).toEqual([]);
    expect(refusals(valuesAfter({ ...wheels, control_mode: 1 }), pose)).toHaveLength(1);
  });

  it('of a plan without a running move leaves the gate as it is', () => {
    expect(refusals(valuesAfter({ ...planning, remaining_distance: 'NaN' }))).toEqual([]);
  });

  it('keeps what the last one said that was read well', () => {
    const values = valuesAfter(
      { ...wheels, emergency_stop_pressed: true },
      { ...wheels, emergency_stop_pressed: 'false' },
    );
    expect(refusals(values)).toContain('The emergency stop of the robot is pressed.');
    expect(stateOf(values, 'emergency-stop')).toBe('wrong pressed');
  });
});

describe('a frame that says that the position is lost', () => {
  it.each<[string, object | string]>([
    ['with a state that is a number', { ...slam, reliable: false, state: 2 }],
    ['as text', { ...slam, reliable: 'false' }],
    ['as a number', { ...slam, reliable: 0 }],
    ['by its quality as text', { ...slam, position_quality: '1' }],
    ['by its quality, otherwise unreadable', { ...slam, reliable: 'yes', position_quality: 1 }],
    ['beside NaN', '{"topic":"/slam/state","state":"positioning","reliable":false,"lidar_matching_score":NaN}'],
  ])('%s closes the gate and is an error of the robot', (_, frame) => {
    for (const values of [valuesAfter(frame), robot(frame).live.values()]) {
      expect(refusals(values).join()).toMatch(/has lost its position/);
      expect(refusals(values, pose)).toEqual([]);
      expect(stateOf(values, 'positioning')).toBe('wrong lost');
    }
  });
});

it('alerts of an unreadable list are alerts, and wheels released in any spelling are released', () => {
  const list = [{ code: 8004, level: 'error', msg: 'flip' }, { level: 'error' }, { code: '7', level: 3 }];
  const { alerts: live } = valuesAfter({ topic: '/alerts', alerts: list });
  expect(live).toMatchObject({ value: [{ code: 8004, level: 'error' }, { code: 7 }], staleReason: 'newer-rejected' });
  expect(stateOf(valuesAfter({ topic: '/alerts', alerts: list }), 'alerts')).toBe('wrong active');
  expect(stateOf(valuesAfter({ ...wheels, wheels_released: 'true' }), 'control-mode')).toBe('wrong wheels-released');
  expect(
    stateOf(valuesAfter({ ...wheels, control_mode: 'manual', emergency_stop_pressed: 'false' }), 'control-mode'),
  ).toBe('wrong not-auto');
});

describe('for any frame', () => {
  const anything = fc.oneof(
    fc.jsonValue(),
    fc.constantFrom('auto', 'manual', 'positioning', 'true', 'false', 0, 1, null, false, true, '/wheel_state'),
  );
  const others = (own: string) =>
    fc
      .dictionary(fc.oneof(fc.string(), fc.constantFrom('control_mode', 'state', 'position_quality')), anything)
      .map((fields) => Object.fromEntries(Object.entries(fields).filter(([key]) => key !== own && key !== 'topic')));
  const spelledYes = fc.constantFrom<unknown>(true, 1, 'true', 'True', 'TRUE', ' true', '1', 'yes', 'on', 2, 'pressed');
  const spelledNo = fc.constantFrom<unknown>(false, 0, 'false', 'False', 'FALSE', 'false ', '0', 'no', 'off');
  const broken = fc.constantFrom('', ',"x":NaN', ',"x":Infinity', ',"x"', ',"x":"', ',"topic":1', ',}', '}');

  /** A frame with this member first or last, its tail broken or not. */
  const frameWith = (topic: string, key: string, spelled: fc.Arbitrary<unknown>) =>
    fc.tuple(spelled, others(key), broken, fc.boolean()).map(([value, rest, tail, isFirst]) => {
      const own = { topic, [key]: value };
      const text = JSON.stringify(isFirst ? { ...own, ...rest } : { ...rest, ...own });
      return `${text.slice(0, -1)}${tail}${tail === '}' ? '' : '}'}`;
    });

  it("'pressed' in any spelling closes the gate, whatever the rest of the frame and the frames before", {
    tags: 'property',
  }, () => {
    fc.assert(
      fc.property(frameWith('/wheel_state', 'emergency_stop_pressed', spelledYes), fc.boolean(), (frame, isFirst) => {
        const values = isFirst ? robot(frame).live.values() : valuesAfter(frame);
        expect(refusals(values)).toContain('The emergency stop of the robot is pressed.');
        expect(refusals(values, pose)).toContain('The emergency stop of the robot is pressed.');
        expect(stateOf(values, 'emergency-stop')).toBe('wrong pressed');
      }),
    );
  });

  it("'not reliable' in any spelling closes the gate", { tags: 'property' }, () => {
    fc.assert(
      fc.property(frameWith('/slam/state', 'reliable', spelledNo), fc.boolean(), (frame, isFirst) => {
        const values = isFirst ? robot(frame).live.values() : valuesAfter(frame);
        expect(refusals(values).join()).toMatch(/has lost its position/);
        expect(stateOf(values, 'positioning')).toMatch(/^wrong/);
      }),
    );
  });

  it('only a frame that is read well opens the gate again', { tags: 'property' }, () => {
    const unclear = fc.tuple(anything, others('emergency_stop_pressed')).map(([value, rest]) => ({
      control_mode: 'auto',
      ...rest,
      topic: '/wheel_state',
      emergency_stop_pressed: value,
    }));
    fc.assert(
      fc.property(fc.array(unclear, { maxLength: 4 }), (frames) => {
        const values = valuesAfter({ ...wheels, emergency_stop_pressed: true }, ...frames);
        const last = frames.findLast((frame) => typeof frame.emergency_stop_pressed === 'boolean' && isSound(frame));
        const sinceLast = last === undefined ? frames : frames.slice(frames.lastIndexOf(last) + 1);
        const isReleased =
          last?.emergency_stop_pressed === false && last.control_mode === 'auto' && sinceLast.length === 0;
        expect(refusals(values).length === 0).toBe(isReleased);
      }),
    );
  });

  const isSound = ({ control_mode }: { control_mode?: unknown }) => typeof control_mode === 'string';
});

it('a trial ends with the same words', () => {
  const reasonOf = (...frames: (object | string)[]) => {
    const snapshot = { ...readySnapshot(), values: snapshotOf(valuesAfter(...frames)).values };
    const link = { snapshot: () => snapshot, subscribe: () => ({ [Symbol.dispose]() {} }) };
    using sampler = createSampler(link as never, systemClock);
    return sampler.invalidatedBy;
  };
  expect(reasonOf()).toBeNull();
  expect(reasonOf({ ...wheels, emergency_stop_pressed: 'true' })).toBe('the emergency stop was pressed');
  expect(reasonOf({ ...slam, reliable: 0 })).toMatch(/lost its position/);
  expect(reasonOf({ ...wheels, emergency_stop_pressed: 'false' })).toMatch(/\/wheel_state could not be read/);
});
