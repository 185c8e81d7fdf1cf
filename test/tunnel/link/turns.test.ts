import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createTurns, type Sender, type Turns } from '../../../src/lib/tunnel/link/connection.ts';
import { runs } from '../../properties.ts';

const CHUNK = 32_768;
const CREDIT = 256 * 1024;

/** A WebSocket that takes one message at a time, and writes down whose it was. */
function createWorld() {
  let unsent = 0;
  const log: string[] = [];
  const turns: Turns = createTurns({ unsentBytes: () => unsent, pauseBytes: 0, creditBytes: CREDIT });
  return {
    turns,
    log,
    /** A sender with messages of these lengths; more can be added. */
    sender(name: string, lengths: number[]) {
      const sent = { bytes: 0 };
      const sender: Sender = {
        sendOne() {
          const bytes = lengths.shift();
          if (bytes === undefined) return { bytes: 0, hasMore: false };
          log.push(name);
          sent.bytes += bytes;
          unsent += bytes;
          return { bytes, hasMore: lengths.length > 0 };
        },
      };
      return {
        sent,
        push(...more: number[]) {
          lengths.push(...more);
          turns.add(sender);
        },
      };
    },
    /** All that waits is sent. */
    drain() {
      unsent = 0;
      turns.run();
    },
  };
}

describe('turns of local connections', () => {
  test('one message each, in the order in which they came', () => {
    const world = createWorld();
    for (const name of ['a', 'b', 'c']) world.sender(name, []).push(CHUNK, CHUNK);
    for (let i = 0; i < 8; i += 1) world.drain();
    expect(world.log.join('')).toBe('abcabc');
  });

  test('nothing is sent while more than the limit waits, and it goes on below half of it', () => {
    let unsent = 100;
    let sent = 0;
    const turns = createTurns({ unsentBytes: () => unsent, pauseBytes: 99, creditBytes: CREDIT });
    const sender: Sender = {
      sendOne() {
        sent += 1;
        return { bytes: 1, hasMore: false };
      },
    };
    turns.add(sender);
    expect(sent).toBe(0);
    unsent = 50;
    turns.run();
    expect(sent).toBe(0);
    unsent = 49;
    turns.run();
    expect(sent).toBe(1);
  });

  test('a sender that becomes ready within its own turn keeps its place', () => {
    const turns = createTurns({ unsentBytes: () => 0, pauseBytes: 1, creditBytes: CREDIT });
    let left = 3;
    const sender: Sender = {
      sendOne() {
        left -= 1;
        if (left > 0) turns.add(sender);
        return { bytes: 1, hasMore: false };
      },
    };
    turns.add(sender);
    expect(left).toBe(0);
  });

  test('one that was silent for long catches up by the credit at most', () => {
    const world = createWorld();
    const idle = world.sender('i', []);
    const busy = world.sender('b', []);
    idle.push(1);
    busy.push(...Array.from({ length: 1_000 }, () => CHUNK));
    for (let i = 0; i < 500; i += 1) world.drain();
    const before = world.log.length;
    idle.push(...Array.from({ length: 100 }, () => CHUNK));
    for (let i = 0; i < 30; i += 1) world.drain();
    const first = world.log.slice(before).indexOf('b');
    expect(world.log[before]).toBe('i');
    expect(first).toBeGreaterThan(0);
    expect(first).toBeLessThanOrEqual(CREDIT / CHUNK + 2);
  });

  test('property: those that always have something are served equally, whatever their messages and pauses of others', {
    tags: 'property',
  }, () => {
    const lengths = fc.array(fc.integer({ min: 1, max: CHUNK }), { minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(fc.array(lengths, { minLength: 2, maxLength: 6 }), lengths, fc.nat(7), (all, other, every) => {
        const world = createWorld();
        const senders = all.map((sizes, i) => {
          const sender = world.sender(`${i}`, []);
          sender.push(...Array.from({ length: 400 }, (_, at) => sizes[at % sizes.length] ?? 1));
          return sender;
        });
        const late = world.sender('late', []);
        for (let i = 0; i < 200; i += 1) {
          if (i % (every + 1) === 0) late.push(...other);
          world.drain();
          const bytes = senders.map(({ sent }) => sent.bytes);
          expect(Math.max(...bytes) - Math.min(...bytes)).toBeLessThanOrEqual(2 * CHUNK);
        }
      }),
      { numRuns: runs(100) },
    );
  });
});
