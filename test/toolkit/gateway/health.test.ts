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
