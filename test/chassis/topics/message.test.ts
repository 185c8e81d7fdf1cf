import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { knownTopics } from '../../../src/lib/chassis/index.ts';
import { parseTopicMessage, readTopicFrame } from '../../../src/lib/chassis/topics/message.ts';
import { isFull, runs } from '../../properties.ts';

const parse = (message: object) => parseTopicMessage(JSON.stringify(message));

describe('a message of the topic stream', () => {
  it('is an acknowledgement when it names the enabled topics and no topic', () => {
    expect(parse({ enabled_topics: ['/b', '/a'] })).toEqual({ kind: 'enabled', topics: ['/b', '/a'] });
  });

  it('is data, with unknown fields kept', () => {
    expect(parse({ topic: '/tracked_pose', pos: [1, 2, 3], ori: 90, cov: [[1]] })).toMatchObject({
      kind: 'data',
      topic: '/tracked_pose',
      data: { pos: [1, 2, 3], ori: 90, cov: [[1]] },
    });
  });

  it('may belong to a topic that is not subscribed', () => {
    expect(parse({ topic: '/imu_state' })).toEqual({ kind: 'other', topic: '/imu_state' });
    expect(parse({ topic: 'toString' })).toEqual({ kind: 'other', topic: 'toString' });
  });

  it.each<[string, string]>([
    ['{', 'malformed message: the JSON is cut off in the middle'],
    ['<html>', 'malformed message: answered with HTML instead of JSON'],
    ['7', 'message is JSON, but not an object'],
    ['[]', 'message is JSON, but not an object'],
    ['{}', 'message without a topic'],
    ['{"topic":7}', 'message whose topic is not a string'],
    ['{"topic":"/tracked_pose","pos":[1,2],"ori":NaN}', 'the answer contains NaN, which is no JSON number'],
    ['{"topic":"/tracked_pose","pos":[1,2],"ori":1e999}', '/tracked_pose: ori: expected number, received Infinity'],
    ['{"topic":"/tracked_pose","pos":[1,2],"ori":"90"}', 'number sent as text in /tracked_pose.ori'],
    [
      '{"topic":"/tracked_pose","pos":["1","-2e0"],"ori":"90"}',
      'numbers sent as text in /tracked_pose.pos[0], /tracked_pose.pos[1], /tracked_pose.ori',
    ],
    [
      '{"topic":"/battery_state","percentage":"0.5","power_supply_status":7}',
      'number sent as text in /battery_state.percentage; /battery_state: power_supply_status',
    ],
    ['{"topic":"/tracked_pose","pos":[1,2],"ori":"north"}', '/tracked_pose: ori: expected number, received string'],
    ['{"topic":"/tracked_pose","pos":[1,2],"ori":""}', '/tracked_pose: ori: expected number, received string'],
    ['{"topic":"/tracked_pose","pos":[1,2],"ori":"0,5"}', '/tracked_pose: ori: expected number, received string'],
    ['{"topic":"/tracked_pose","pos":[1,2],"ori":true}', '/tracked_pose: ori: expected number, received boolean'],
    ['{"topic":"/tracked_pose","pos":[1],"ori":90}', '/tracked_pose: pos'],
    ['{"topic":"/tracked_pose","ori":1,"ori":90,"pos":[1,2]}', 'malformed message: the JSON names the key "ori" twice'],
    ['{"topic":"/battery_state","percentage":55}', '/battery_state: percentage: Too big'],
    ['{"topic":"/wheel_state","control_mode":"auto","emergency_stop_pressed":0}', '/wheel_state: emergency_stop_pr'],
  ])('that is invalid is a complaint: %s', (text, what) => {
    const message = parseTopicMessage(text);
    expect(message.kind).toBe('complaint');
    expect((message as { what: string }).what).toContain(what);
  });

  const sound: Readonly<Record<(typeof knownTopics)[number], Record<string, unknown>>> = {
    '/tracked_pose': { pos: [1.5, -2], ori: 90 },
    '/planning_state': { action_id: 7, move_state: 'idle', fail_reason: 0, remaining_distance: 1.25 },
    '/battery_state': { percentage: 0.5 },
    '/wheel_state': { control_mode: 'auto', emergency_stop_pressed: false },
    '/slam/state': { state: 'positioning', reliable: true },
    '/alerts': { alerts: [{ code: 8501, level: 'warning', msg: '42' }, { code: 1 }] },
    '/map/info': { name: '7', uid: '8', map_version: 3, overlays_version: 4 },
  };

  it('with any of its numbers quoted is rejected, and each of them is named', { tags: 'property' }, () => {
    const numbersIn = (value: unknown, path = ''): string[] => {
      if (typeof value === 'number') return [path];
      if (Array.isArray(value)) return value.flatMap((item, i) => numbersIn(item, `${path}[${i}]`));
      if (typeof value !== 'object' || value === null) return [];
      return Object.entries(value).flatMap(([key, item]) => numbersIn(item, path === '' ? key : `${path}.${key}`));
    };
    const inQuotes = (value: unknown, chosen: ReadonlySet<string>, path = ''): unknown => {
      if (typeof value === 'number') return chosen.has(path) ? `${value}` : value;
      if (Array.isArray(value)) return value.map((item, i) => inQuotes(item, chosen, `${path}[${i}]`));
      if (typeof value !== 'object' || value === null) return value;
      const member = ([key, item]: [string, unknown]) => [
        key,
        inQuotes(item, chosen, path === '' ? key : `${path}.${key}`),
      ];
      return Object.fromEntries(Object.entries(value).map(member));
    };
    const cases = fc
      .constantFrom(...knownTopics.filter((topic) => numbersIn(sound[topic]).length > 0))
      .chain((topic) =>
        fc.record({ topic: fc.constant(topic), paths: fc.subarray(numbersIn(sound[topic]), { minLength: 1 }) }),
      );
    fc.assert(
      fc.property(cases, ({ topic, paths }) => {
        const message = parse({ topic, ...(inQuotes(sound[topic], new Set(paths)) as object) });
        const named = paths.map((path) => `${topic}.${path}`).join(', ');
        const word = paths.length === 1 ? 'number' : 'numbers';
        expect(message).toMatchObject({ kind: 'complaint', topic, what: `${word} sent as text in ${named}` });
        expect(parse({ topic, ...sound[topic] }).kind).toBe('data');
      }),
    );
  });

  it('never makes the parser throw, and its numbers are finite', { tags: 'property' }, () => {
    const topic = fc.constantFrom(...knownTopics);
    const texts = fc.oneof(
      fc.string(),
      fc.json(),
      fc.record({ topic, pos: fc.anything(), ori: fc.oneof(fc.double(), fc.anything()) }).map(text),
      fc
        .tuple(topic, fc.dictionary(fc.string(), fc.jsonValue()))
        .map(([name, fields]) => text({ ...fields, topic: name })),
    );
    fc.assert(
      fc.property(texts, (input) => {
        const message = parseTopicMessage(input);
        if (message.kind === 'data' && message.topic === '/tracked_pose') {
          expect(Number.isFinite(message.data.ori)).toBe(true);
          expect(message.data.pos.slice(0, 2).every(Number.isFinite)).toBe(true);
        }
        if (message.kind === 'complaint') expect(message.what.length).toBeLessThan(600);
      }),
      { numRuns: runs(500) },
    );
  });
});

function text(value: unknown): string {
  try {
    return JSON.stringify(value) ?? 'null';
  } catch {
    return '{}';
  }
}

describe('a large message of the topic stream', () => {
  /** Number of event loop turns in between. */
  function read(frame: Buffer) {
    const steps = readTopicFrame(frame);
    for (let turns = 0; ; turns += 1) {
      const { done, value } = steps.next();
      if (done === true) return { message: value, turns };
    }
  }
  const frameOf = (value: unknown) => Buffer.from(typeof value === 'string' ? value : JSON.stringify(value));
  const map = { topic: '/map/info', name: 'EG', uid: 'u', map_version: 3, overlays_version: 4 };

  it('of a map keeps its overlays as unparsed text', () => {
    const features = Array.from({ length: 200_000 }, () => ({}));
    const frame = frameOf({ ...map, overlays: { features }, more: 'kept' });
    const { message, turns } = read(frame);
    expect(message).toMatchObject({ kind: 'data', topic: '/map/info', data: { name: 'EG', uid: 'u', more: 'kept' } });
    expect((message as { data: object }).data).not.toHaveProperty('overlays');
    expect((message as { text: string }).text).toBe(frame.toString());
    expect(turns).toBeGreaterThan(5);
  });

  it('is parsed as a small one is, whatever the position and format of its overlays', { tags: 'property' }, () => {
    fc.assert(
      fc.property(
        fc.shuffledSubarray(Object.entries(map), { minLength: 5 }),
        fc.nat({ max: 5 }),
        fc.constantFrom(undefined, 1),
        fc.jsonValue(),
        (members, at, indent, overlays) => {
          const large = [...members.slice(0, at), ['overlays', [overlays, 'x'.repeat(70_000)]], ...members.slice(at)];
          const { message } = read(frameOf(JSON.stringify(Object.fromEntries(large), null, indent)));
          const { text: _, ...expected } = parse(Object.fromEntries(members)) as { text: string };
          expect(message).toMatchObject(expected);
        },
      ),
      { numRuns: runs(50) },
    );
  });

  const tooMany: [string, string, string] = [
    'of too many values',
    `[${'1,'.repeat(isFull ? 4_000_001 : 0)}1]`,
    '4000000 values',
  ];
  it.each<[string, string | object, string]>([
    ['with many alerts', { topic: '/alerts', alerts: Array(6_000).fill({}) }, 'holds more than 5000'],
    ['with one long text', { topic: '/alerts', alerts: [], more: 'x'.repeat(70_000) }, '64 KiB without its overlays'],
    ['very deeply nested', '['.repeat(100_000), 'nested deeper than 200 levels'],
    ...(isFull ? [tooMany] : []),
    ['that is not JSON', 'x'.repeat(100_000), 'the message is not JSON'],
    ['that is truncated', `${JSON.stringify({ ...map, overlays: 'x'.repeat(20_000) }).slice(0, -1)}`, 'is not JSON'],
    ['that is not an object', `[${'1,'.repeat(4_500)}1]`, 'is JSON, but not an object'],
    ['that has overlays twice', `{"overlays":"${'x'.repeat(20_000)}","overlays":1}`, 'names the key "overlays" twice'],
    ['with a duplicate key', `{"overlays":"${'x'.repeat(20_000)}","topic":1,"topic":1}`, 'names the key "topic" twice'],
  ])('%s is a complaint', { tags: 'property' }, (_, frame, what) => {
    const { message } = read(frameOf(frame));
    expect(message).toMatchObject({ kind: 'complaint', what: expect.stringContaining(what) });
  });
});
