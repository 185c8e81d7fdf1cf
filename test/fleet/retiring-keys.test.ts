import { describe, expect, it } from 'vitest';
import { decodeHeartbeat, encodeHeartbeat } from '../../src/lib/fleet/datagram.ts';
import { retiringKeys } from '../../src/lib/fleet/fleet.ts';
import { createKey, createKeyRing, keyName } from '../../src/lib/fleet/keys.ts';
import { createFakeClock } from '../lifecycle/fake-clock.ts';
import { heartbeatOf } from './heartbeats.ts';

const HOUR_MS = 3_600_000;

function world() {
  const clock = createFakeClock();
  const [signing, old] = [createKey(Buffer.alloc(32, 1)), createKey(Buffer.alloc(32, 2))];
  const retired: string[] = [];
  const ring = retiringKeys(createKeyRing([signing, old]), {
    afterMs: 24 * HOUR_MS,
    clock,
    onRetired: (key) => retired.push(key),
  });
  let sequence = 0;
  const receive = (key: typeof old) => {
    sequence += 1;
    return decodeHeartbeat(encodeHeartbeat(heartbeatOf({ sequence }), key), ring).kind;
  };
  return { clock, signing, old, retired, receive: receive };
}

describe('a key that is accepted for a limited time', () => {
  it('is dropped once, when the time is over and no heartbeat was signed with it for an hour', async () => {
    const { clock, old, retired, receive } = world();
    expect(receive(old)).toBe('heartbeat');
    await clock.advance(24 * HOUR_MS - 1);
    expect(receive(old)).toBe('heartbeat');
    await clock.advance(HOUR_MS - 1);
    expect(receive(old)).toBe('heartbeat');
    await clock.advance(HOUR_MS);
    expect(retired).toEqual([]);
    expect(receive(old)).toBe('otherKey');
    expect(receive(old)).toBe('otherKey');
    expect(retired).toEqual([keyName(old)]);
  });

  it('is kept while a robot still signs with it', async () => {
    const { clock, old, retired, receive } = world();
    for (let hours = 0; hours < 100; hours += 0.9) {
      expect(receive(old)).toBe('heartbeat');
      await clock.advance(0.9 * HOUR_MS);
    }
    expect(retired).toEqual([]);
  });

  it('is not kept by a datagram that only names it, and does not depend on the wall clock', async () => {
    const { clock, old, receive } = world();
    const forger = { ...old, sign: () => Buffer.alloc(32) };
    clock.setWall(new Date('2040-01-01'));
    expect(receive(forger)).toBe('forged');
    for (let hours = 0; hours < 24; hours += 0.5) {
      await clock.advance(0.5 * HOUR_MS);
      expect(['forged', 'otherKey']).toContain(receive(forger));
    }
    expect(receive(old)).toBe('otherKey');
  });

  it('does not affect the signing key, however long it is silent', async () => {
    const { clock, signing, receive } = world();
    await clock.advance(1_000 * HOUR_MS);
    expect(receive(signing)).toBe('heartbeat');
  });
});
