import { describe, expect, it } from 'vitest';
import { gatewayHealthSchema } from '../../../src/lib/operator/index.ts';
import type { Site } from '../../../src/lib/site/index.ts';
import { judgeHealth } from '../../../src/lib/toolkit/gateway/health.ts';
import { standInHealth } from '../../operator/stand-ins.ts';

const health = (over: Parameters<typeof standInHealth>[0] = {}) => gatewayHealthSchema.parse(standInHealth(over));
const cloud = { tunnel: {} } as NonNullable<Site['cloud']>;
const fleet = {} as NonNullable<Site['fleet']>;

describe('the verdict on the health of a gateway', () => {
  it('is that of the gateway where nothing is left open', () => {
    expect(judgeHealth(health(), {})).toBe('ok');
    expect(judgeHealth(health({ status: 'degraded' }), {})).toBe('wrong');
    expect(judgeHealth(health({ status: 'degraded', fleet: { status: 'not-checked', detail: '' } }), { fleet })).toBe(
      'wrong',
    );
  });

  it('is open where the site file names time sources and the clock is not decided, and wrong where it is wrong', () => {
    const time = { urls: [] };
    const clock = (status: 'ok' | 'wrong' | 'not-decided' | 'not-checked' | 'not-configured') =>
      health({
        ...(status === 'wrong' && { status: 'degraded' }),
        clock: {
          ...{ status, behindMs: null, uncertainMs: null, ageMs: null, from: [], jumps: 0, lastJump: null },
          ...{ detail: '', remedy: null },
        },
      });
    expect(judgeHealth(clock('ok'), { time })).toBe('ok');
    expect(judgeHealth(clock('wrong'), { time })).toBe('wrong');
    for (const status of ['not-decided', 'not-checked', 'not-configured'] as const) {
      expect(judgeHealth(clock(status), { time })).toBe('not-checked');
      expect(judgeHealth(clock(status), {})).toBe('ok');
    }
    // A gateway of an earlier version does not report it.
    expect(judgeHealth(health(), { time })).toBe('not-checked');
  });

  it('is open where a part that the site file configures was not checked', () => {
    const unsure = { status: 'not-checked', detail: '' } as const;
    const configured = { cloud, fleet };
    const sound = {
      cloud: { status: 'connected', detail: '' },
      support: { status: 'waiting', records: 'not-checked', detail: '' },
      fleet: { status: 'ok', detail: '' },
    } as const;
    expect(judgeHealth(health(sound), configured)).toBe('ok');
    expect(judgeHealth(health({ ...sound, cloud: unsure }), configured)).toBe('not-checked');
    expect(judgeHealth(health({ ...sound, fleet: unsure }), configured)).toBe('not-checked');
    expect(judgeHealth(health({ ...sound, support: { ...sound.support, status: 'not-checked' } }), configured)).toBe(
      'not-checked',
    );
    // A gateway of an earlier version does not report the other robots.
    const { fleet: _fleet, ...earlier } = health(sound);
    expect(judgeHealth(earlier, configured)).toBe('not-checked');
    expect(judgeHealth(earlier, { cloud })).toBe('ok');
  });
});
