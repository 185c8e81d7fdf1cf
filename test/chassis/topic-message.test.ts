import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { knownTopics } from '../../src/lib/chassis/index.ts';
import { parseTopicMessage } from '../../src/lib/chassis/topic-message.ts';

const say = (message: object) => parseTopicMessage(JSON.stringify(message));

describe('a message of the topic stream', () => {
  it('is the acknowledgement when it names the enabled topics and no topic', () => {
    expect(say({ enabled_topics: ['/b', '/a'] })).toEqual({ kind: 'enabled', topics: ['/b', '/a'] });
  });

  it('is data with unknown fields kept', () => {
    expect(say({ topic: '/tracked_pose', pos: [1, 2, 3], ori: 90, cov: [[1]] })).toMatchObject({
      kind: 'data',
      topic: '/tracked_pose',
      data: { pos: [1, 2, 3], ori: 90, cov: [[1]] },
    });
  });

  it('may be of a topic that is not read', () => {
    expect(say({ topic: '/imu_state' })).toEqual({ kind: 'other', topic: '/imu_state' });
    expect(say({ topic: 'toString' })).toEqual({ kind: 'other', topic: 'toString' });
  });

  it.each<[string, string]>([
    ['{', 'a message: the JSON is cut off in the middle'],
    ['<html>', 'a message: answered with HTML instead of JSON'],
    ['7', 'a message is JSON, but not an object'],
    ['[]', 'a message is JSON, but not an object'],
    ['{}', 'a message names no topic'],
    ['{"topic":7}', 'a message names a topic that is no text'],
    ['{"topic":"/tracked_pose","pos":[1,2],"ori":NaN}', 'a message: the answer contains NaN, which is no JSON number'],
    ['{"topic":"/tracked_pose","pos":[1,2],"ori":1e999}', '/tracked_pose: ori: expected number, received Infinity'],
    ['{"topic":"/tracked_pose","pos":[1,2],"ori":"90"}', '/tracked_pose: ori: expected number, received string'],
    ['{"topic":"/tracked_pose","pos":[1],"ori":90}', '/tracked_pose: pos'],
    ['{"topic":"/tracked_pose","ori":1,"ori":90,"pos":[1,2]}', 'a message: the JSON names the key "ori" twice'],
    ['{"topic":"/battery_state","percentage":55}', '/battery_state: percentage: Too big'],
    [
      '{"topic":"/wheel_state","control_mode":"auto","emergency_stop_pressed":0}',
      '/wheel_state: emergency_stop_pressed',
    ],
  ])('that is wrong is a complaint: %s', (text, what) => {
    const message = parseTopicMessage(text);
    expect(message.kind).toBe('complaint');
    expect((message as { what: string }).what).toContain(what);
  });

  it('never makes the reader throw, and its data is of finite numbers', () => {
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
      { numRuns: 500 },
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
