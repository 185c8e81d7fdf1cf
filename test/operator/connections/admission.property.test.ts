import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createAdmission } from '../../../src/lib/operator/connections/admission.ts';
import { peerOf } from '../../../src/lib/operator/connections/ip-address.ts';
import { runs } from '../../properties.ts';

interface Item {
  readonly peer: string;
  isHeldOpen: boolean;
}

const limitsArbitrary = fc
  .record({
    total: fc.integer({ min: 1, max: 12 }),
    perPeer: fc.integer({ min: 1, max: 6 }),
    smallPeer: fc.integer({ min: 1, max: 4 }),
  })
  .map((limits) => ({ ...limits, smallPeer: Math.min(limits.smallPeer, limits.perPeer) }));

type Act =
  | { readonly kind: 'accept'; readonly peer: string }
  | { readonly kind: 'touch' | 'close' | 'hold'; readonly which: number };

const actArbitrary: fc.Arbitrary<Act> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ kind: fc.constant('accept' as const), peer: fc.constantFrom('a', 'b', 'c', 'd') }),
  },
  fc.record({ kind: fc.constantFrom('touch' as const, 'close' as const, 'hold' as const), which: fc.nat(50) }),
);

const countOf = (items: readonly Item[], peer: string) => items.filter((item) => item.peer === peer).length;

describe('admission of connections', () => {
  it('keeps its bounds, admits peers with few connections, and closes the right one, in any sequence', {
    tags: 'property',
  }, () => {
    fc.assert(
      fc.property(limitsArbitrary, fc.array(actArbitrary, { maxLength: 80 }), (limits, acts) => {
        const admission = createAdmission<Item>(limits);
        /** From the least to the most recently used. */
        let open: Item[] = [];
        for (const act of acts) {
          if (act.kind !== 'accept') {
            const item = open[act.which % Math.max(1, open.length)];
            if (item === undefined) continue;
            if (act.kind === 'hold') item.isHeldOpen = true;
            else open = open.filter((other) => other !== item);
            if (act.kind === 'close') admission.remove(item);
            if (act.kind === 'touch') {
              admission.touch(item);
              open.push(item);
            }
            continue;
          }
          const { peer } = act;
          const { kind, evicted } = admission.admit(peer);
          const isPeerFull = countOf(open, peer) >= limits.perPeer;
          const isFull = open.length >= limits.total;
          const closable = open.filter((item) => !item.isHeldOpen && (!isPeerFull || item.peer === peer));
          if (!isPeerFull && !isFull) expect([kind, evicted]).toEqual(['admitted', null]);
          else if (closable.length === 0) expect(kind).toBe('refused');
          else {
            // With any connection to close, no new one is refused.
            expect(kind).toBe('admitted');
            if (evicted === null) throw new Error('expected a closed connection');
            expect(closable).toContain(evicted);
            const hasMore = (item: Item) => countOf(open, item.peer) > limits.smallPeer;
            const most = Math.max(...closable.map((item) => countOf(open, item.peer)));
            const greedy = closable.some(hasMore)
              ? closable.filter((item) => countOf(open, item.peer) === countOf(open, evicted.peer))
              : closable;
            if (closable.some(hasMore)) expect(countOf(open, evicted.peer)).toBe(most);
            expect(closable.filter((item) => item.peer === evicted.peer)[0]).toBe(evicted);
            if (!closable.some(hasMore)) expect(greedy[0]).toBe(evicted);
            open = open.filter((item) => item !== evicted);
          }
          if (kind === 'admitted') {
            const item = { peer, isHeldOpen: false };
            admission.add(item);
            open.push(item);
          }
          expect(admission.size()).toBe(open.length);
          expect(open.length).toBeLessThanOrEqual(limits.total);
          for (const name of ['a', 'b', 'c', 'd']) {
            expect(admission.sizeOf(name)).toBe(countOf(open, name));
            expect(countOf(open, name)).toBeLessThanOrEqual(limits.perPeer);
          }
          expect([...admission.connections()]).toEqual(open);
        }
      }),
      { numRuns: runs(400) },
    );
  });

  it('counts IPv4 by address, mapped or not, and IPv6 by /64', () => {
    expect(peerOf('::ffff:192.0.2.7')).toBe('192.0.2.7');
    expect(peerOf('192.0.2.8')).not.toBe(peerOf('192.0.2.7'));
    expect(peerOf('2001:db8:1:2::1')).toBe(peerOf('2001:db8:1:2:ffff:ffff:ffff:ffff'));
    expect(peerOf('2001:db8:1:3::1')).not.toBe(peerOf('2001:db8:1:2::1'));
    expect(peerOf('fe80::1%eth0')).toBe(peerOf('fe80::2'));
  });
});
