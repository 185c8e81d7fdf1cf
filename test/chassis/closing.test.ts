import { describe, expect, it } from 'vitest';
import { parseTopicMessage } from '../../src/lib/chassis/topics/message.ts';

/** What still counts of a message that is rejected for a field of it. */
const saidOf = (message: object) => {
  const parsed = parseTopicMessage(JSON.stringify(message));
  return parsed.kind === 'complaint' ? (parsed.said ?? null) : expect.fail(`${parsed.kind}, not rejected`);
};
/** Rejected, since whether it is reliable is said as text. */
const slam = { topic: '/slam/state', state: 'positioning' };

describe('a rejected message', () => {
  it.each<[string, object, object]>([
    ['unreliable alone', { reliable: 'no', position_quality: 7 }, { state: 'positioning', reliable: false }],
    ['of lost quality alone', { reliable: 'yes', position_quality: '1' }, { state: 'positioning', quality: 1 }],
    ['inactive', { state: 'inactive', reliable: 'yes', position_quality: 7 }, { state: 'inactive' }],
    ['neither', { reliable: 'yes', position_quality: 'good' }, {}],
  ])('says of the position what forbids a drive: %s', (_what, fields, positioning) => {
    expect(saidOf({ ...slam, ...fields })?.positioning ?? {}).toEqual(positioning);
  });

  it('of one topic that says nothing that counts has nothing said', () => {
    expect(saidOf({ topic: '/tracked_pose', pos: 'here', ori: 0 })).toBeNull();
    // Of two topics by its fields: then whose message it was is what it says.
    expect(saidOf({ emergency_stop_pressed: false, reliable: true })?.topics).toEqual(['/wheel_state', '/slam/state']);
  });
});
