import { describe, expect, it } from 'vitest';
import type { Planning } from '../../src/lib/chassis/index.ts';
import { standstillOf } from '../../src/lib/motion/standstill.ts';
import { moves, standingNotKnown, stands } from '../chassis/poses.ts';
import { readySnapshot, received } from './snapshot.ts';

describe('whether the robot stands, for people', () => {
  const proof = { reason: 'r', acknowledged: true, forMs: 1 };
  const planning = (moveState: string) => received({ actionId: 1, actionType: 'standard', moveState } as Planning);
  const at = (standing: typeof stands, moveState = 'idle') => {
    const ready = readySnapshot({ standing });
    return { ...ready, values: { ...ready.values, planning: planning(moveState) } };
  };
  const away = readySnapshot({
    link: { kind: 'connecting', tried: { address: '127.0.0.1', port: 8090 } },
    standing: stands,
  });

  it.each([
    ['its poses show it, and nothing speaks against it', at(stands), null, 'stands'],
    ['a cancel is open', at(stands), { ...proof, verdict: 'awaited' }, 'not-known'],
    ['it did not obey', at(stands), { ...proof, verdict: 'drives-on' }, 'drives-on'],
    ['the chassis reports a running move', at(stands, 'moving'), null, 'moves'],
    ['its poses move while the chassis reports none', at(moves), null, 'moves'],
    ['its poses do not decide', at(standingNotKnown), null, 'not-known'],
    ['the chassis is not connected', away, null, 'not-known'],
  ] as const)('%s', (_when, snapshot, owed, verdict) => {
    expect(standstillOf(snapshot, owed)).toMatchObject({ verdict, isOwed: owed !== null });
  });
});
