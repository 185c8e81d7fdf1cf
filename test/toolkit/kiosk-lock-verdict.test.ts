import { describe, expect, it } from 'vitest';
import type { LockOutcome } from '../../src/lib/toolkit/kiosk/kiosk.result.ts';
import { concludeLock } from '../../src/lib/toolkit/kiosk/lock.ts';

const locked: LockOutcome = {
  verdict: 'closed',
  port: 'closed',
  wasOpen: true,
  afterRestart: 'not-checked',
  afterRestartBasis: 'none',
  keepsOpening: null,
  answeredBy: 'same',
  wasRestarted: false,
  readAfterRestart: null,
};
const concluded = (part: Partial<LockOutcome>, afterRestart = false) =>
  concludeLock({ ...locked, ...part }, { afterRestart });

describe('the verdict of a lock', () => {
  it('is ok where the tablet itself refuses, the restart being optional unless requested', () => {
    expect(concluded({})).toBe('ok');
    expect(concluded({}, true)).toBe('not-checked');
    expect(concluded({ afterRestart: 'closed', afterRestartBasis: 'remembered' }, true)).toBe('not-checked');
    expect(concluded({ afterRestart: 'closed', afterRestartBasis: 'read-now' }, true)).toBe('ok');
  });

  it.each(['unknown', 'other'] as const)(
    'is not ok where the refusing device is %s, whatever the record says',
    (answeredBy) => {
      expect(concluded({ answeredBy })).toBe('not-checked');
      expect(concluded({ answeredBy, wasOpen: false })).toBe('not-checked');
      expect(concluded({ answeredBy, afterRestart: 'closed', afterRestartBasis: 'read-now' }, true)).toBe(
        'not-checked',
      );
    },
  );

  it('is not ok for silence, and wrong for an open port or one that a restart opens', () => {
    expect(concluded({ port: 'silent', verdict: 'not-verified' })).toBe('not-checked');
    expect(concluded({ port: 'open', verdict: 'open' })).toBe('wrong');
    expect(concluded({ verdict: 'opens-again', afterRestart: 'open', afterRestartBasis: 'remembered' })).toBe('wrong');
  });
});
