import { describe, expect, it } from 'vitest';
import { createDiscarded } from '../../../src/lib/cloud/gate/discarded.ts';
import { discardReasons } from '../../../src/lib/cloud/gate/model.ts';
import type { Log } from '../../../src/lib/lifecycle/index.ts';
import { createFakeClock } from '../../lifecycle/fake-clock.ts';
import { messageOf, topics } from './context.ts';

function opened() {
  const lines: { level: string; fields: object; message: string }[] = [];
  const level = (name: string) => (fields: object, message: string) =>
    void lines.push({ level: name, fields, message });
  const log: Log = { debug: level('debug'), info: level('info'), warn: level('warn'), error: level('error') };
  const clock = createFakeClock();
  return { lines, clock, discarded: createDiscarded({ clock, log, topics }) };
}

describe('discarded messages', () => {
  it('are counted by every reason, also those that did not occur', () => {
    const { discarded } = opened();
    discarded.add('late', messageOf('x', '{}'));
    discarded.add('late', messageOf('x', '{}'));
    expect(discarded.counts()).toEqual({ ...Object.fromEntries(discardReasons.map((reason) => [reason, 0])), late: 2 });
  });

  it('are listed and logged without their payload, with the size on the wire', () => {
    const { discarded, lines } = opened();
    discarded.add('unknown-field', messageOf(topics.tunnels, { clientAccessToken: 'secret' }));
    discarded.add('oversized', messageOf(topics.jobs, '', { oversizedBytes: 200_000 }));
    expect(discarded.last()).toEqual([
      { reason: 'oversized', topic: topics.jobs, bytes: 200_000, at: '2026-01-31T12:00:00.000Z' },
      { reason: 'unknown-field', topic: topics.tunnels, bytes: 30, at: '2026-01-31T12:00:00.000Z' },
    ]);
    expect(lines).toHaveLength(2);
    expect(JSON.stringify([discarded.last(), lines])).not.toContain('secret');
    // Events are folded by their message.
    expect(new Set(lines.map(({ message }) => message)).size).toBe(1);
  });

  it('show a foreign topic on one line and shortened', () => {
    const { discarded, lines } = opened();
    discarded.add('misaddressed', messageOf(`a\n\u001b[31m${'b'.repeat(70_000)}`, ''));
    expect(discarded.last()[0]?.topic).toMatch(/^a \[31mb{1,250}$/);
    expect(JSON.stringify(lines).length).toBeLessThan(500);
  });

  it('of one kind do not displace the others from the list', () => {
    const { discarded } = opened();
    discarded.add('wrong-type', messageOf(topics.stop, '{}'));
    for (let i = 0; i < 1_000; i += 1) discarded.add('misaddressed', messageOf(`x/${i}`, ''));
    expect(discarded.last()).toHaveLength(50);
    expect(discarded.last()[0]?.topic).toBe('x/999');
    expect(discarded.last().at(-1)?.reason).toBe('wrong-type');
    expect(discarded.counts()).toMatchObject({ 'wrong-type': 1, misaddressed: 1_000 });
  });

  it('on the stop topic have a log event of their own; an empty queue is no warning, and is logged', () => {
    const { discarded, lines } = opened();
    discarded.add('duplicate', messageOf(topics.stop, '{}'));
    discarded.add('empty-queue', messageOf(`${topics.jobs}/notify-next`, '{}'));
    discarded.add('misaddressed', messageOf('x', '{}'));
    expect(lines.map(({ level }) => level)).toEqual(['warn', 'info', 'warn']);
    expect(new Set(lines.map(({ message }) => message)).size).toBe(3);
  });
});
