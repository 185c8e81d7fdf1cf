import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createIdSet } from '../../../src/lib/tunnel/audit/records/sessions.ts';

describe('the set of ids', () => {
  it('has what was added and nothing else, over many times its first size', () => {
    const set = createIdSet();
    const ids = Array.from({ length: 60_000 }, (_, n) => (n % 2 === 0 ? randomUUID() : `session ${n}`));
    for (const id of ids) expect(set.has(id) || !set.add(id)).toBe(false);
    for (const id of ids) if (!set.has(id) || set.add(id)) throw new Error(`${id} is lost`);
    for (let n = 0; n < 60_000; n += 1) if (set.has(`other ${n}`)) throw new Error(`other ${n} was never added`);
    expect(set.isFull()).toBe(false);
  });
});
