import chalk from 'chalk';
import { describe, expect, it } from 'vitest';
import { renderKioskLock, renderKioskPlan, renderKioskSetup, renderKioskStatus } from '../../src/cli/render/kiosk.ts';
import * as result from '../../src/lib/toolkit/kiosk/kiosk.result.ts';
import { linesOf } from './shown.ts';

const address = { host: '192.0.2.5', port: 5555 };
const bootId = '1a2b3c4d-1111-4111-8111-111111111111';
const tablet = {
  ...{ model: 'T\u001b[31m10', manufacturer: 'Acme', serial: 'S1', android: '13', sdk: 33, bootId, androidId: null },
};
const step = { id: 'a', title: 'Brightness', expected: '200', found: '10', byHand: false, remedy: null, error: null };
const redLine = { id: 'tablet-open' as const, title: 'T', detail: 'It is open.', remedy: 'Run lock.' };
const common = { address, profile: 'Lobby', tablet, tookMs: 1 };

describe('gw kiosk plan', () => {
  const text = (verdict: result.KioskPlan['verdict'], change: Partial<result.KioskPlan['steps'][number]>) => {
    const steps = [{ ...step, ...change }];
    const differing = steps.filter(({ state }) => state === 'differs').length;
    return renderKioskPlan(result.kioskPlanSchema.parse({ ...common, verdict, steps, differing, redLine }));
  };

  it('starts with the verdict; unchecked steps are never green', () => {
    expect(linesOf(text('as-planned', { state: 'ok' }))[0]).toBe('The tablet matches its profile.');
    expect(linesOf(text('differs', { state: 'differs' }))[0]).toMatch(/^1 of 1 steps of profile 'Lobby' differ/);
    const unknown = linesOf(text('not-checked', { state: 'not-checked', found: 'not reported' }));
    expect(unknown[0]).toBe("No difference from profile 'Lobby' found, 1 of 1 steps not checked.");
    expect(unknown).toContain('--   Brightness: not checked: not reported');
  });

  it('shows found and expected values, the remedy, by hand, and the red line', () => {
    const shown = linesOf(text('differs', { state: 'differs', byHand: true, remedy: 'Set it.' }));
    expect(shown).toContain('FAIL Brightness: 10; expected 200 (by hand)');
    expect(shown).toContain('     Set it.');
    expect(shown.slice(-2)).toEqual(['It is open.', 'Run lock.']);
  });

  it('escapes text of the tablet for the terminal', () => {
    const shown = text('differs', { state: 'differs', found: '\u001b]0;x\u0007' });
    for (const sequence of ['\u001b]', '\u0007', 'T\u001b[31m10']) expect(shown).not.toContain(sequence);
  });
});

const lockPart = {
  ...{ verdict: 'closed', port: 'closed', wasOpen: true, afterRestart: 'not-checked', afterRestartBasis: 'none' },
  ...{ keepsOpening: null, answeredBy: 'same', wasRestarted: false, readAfterRestart: null },
} as const;
const open = { verdict: 'open', port: 'open' } as const;

describe('gw kiosk setup', () => {
  const whole = { ...common, verdict: 'done', steps: [{ ...step, state: 'changed', found: '200' }], changed: 1 };
  const setUp = (part: object): string[] => {
    const data = { ...whole, lock: lockPart, redLine: null, ...part };
    return linesOf(renderKioskSetup(result.kioskSetupSchema.parse(data)));
  };

  it('reports that the tablet is configured and locked', () => {
    const shown = setUp({});
    expect(shown[0]).toBe('The tablet is configured and locked (1 of 1 steps changed).');
    expect(shown).toContain('ok   Brightness: 200 (changed)');
    expect(shown).toContain('ok   ADB port: the tablet refuses connections');
  });

  it('is not green when the settings were not read after the restart', () => {
    const restarted = { ...lockPart, afterRestart: 'closed', afterRestartBasis: 'read-now', wasRestarted: true };
    expect(setUp({ lock: restarted })[0]).toMatch(/restarted and locked; its settings were not read after the restart/);
    const reading = { verdict: 'as-profile', steps: 1, differing: 0, unknown: 0 };
    expect(setUp({ lock: { ...restarted, readAfterRestart: reading } })[0]).toMatch(/is configured and locked/);
    const differing = { ...reading, verdict: 'differs', differing: 1 };
    const shown = setUp({ verdict: 'not-done', lock: { ...restarted, readAfterRestart: differing } });
    expect(shown[0]).toMatch(/differs from its profile after the restart/);
    expect(shown).toContain('FAIL Settings, read after the restart: 1 of 1 steps differ');
  });

  it.each([
    [{ lock: null, redLine }, /left open/],
    [{ verdict: 'not-done', lock: null, redLine }, /not configured/],
    [{ verdict: 'not-locked', lock: { ...lockPart, ...open }, redLine }, /not verified as closed/],
  ])('states an open port in the first line', (part, first) => {
    const shown = setUp(part);
    expect([shown[0], shown.at(-2)]).toEqual([expect.stringMatching(first), 'It is open.']);
  });

  it('shows the error of a failed step and the steps not reached', () => {
    const error = { code: 'X', message: 'No space.' };
    const failed = { ...step, state: 'failed', found: null, remedy: 'Free some.', error };
    const steps = [failed, { ...step, state: 'not-reached', found: null }];
    const expected = ['FAIL Brightness: No space.', '     Free some.', '--   Brightness: not reached'];
    expect(setUp({ verdict: 'not-done', lock: null, steps })).toEqual(expect.arrayContaining(expected));
  });
});

describe('gw kiosk lock', () => {
  const lock = (part: object): string[] => {
    const data = { ...lockPart, address, reading: null, redLine: null, tookMs: 1, ...part };
    return linesOf(renderKioskLock(result.kioskLockSchema.parse(data)));
  };
  const unknown = { answeredBy: 'unknown' };

  it.each([
    [{}, /switched off, verified closed/],
    [{ wasOpen: false }, /was already closed; the tablet refuses connections/],
    [{ wasOpen: false, ...unknown }, /^Connections are refused at .* is unknown/],
    [{ verdict: 'not-verified', ...unknown }, /not verified as closed: .* may be another device/],
    [open, /still open/],
    [{ verdict: 'not-verified', port: 'silent' }, /not verified as closed: no answer/],
    [{ verdict: 'opens-again', afterRestart: 'open', keepsOpening: 'p=5555' }, /a restart of the tablet opens it/],
  ])('starts with the state: %j', (part, first) => {
    expect(lock(part)[0]).toMatch(first);
    expect(lock(part)[0]).toContain('192.0.2.5:5555');
  });

  it('never says that the tablet refuses, nor in green, where the address could not be identified', () => {
    const notVerified = { verdict: 'not-verified', wasOpen: false, ...unknown };
    for (const part of [{ wasOpen: false, ...unknown }, { ...unknown, afterRestart: 'closed' }, notVerified]) {
      const shown = lock(part);
      expect(shown.join('\n')).not.toContain('the tablet refuses');
      expect(shown).toContain('--   ADB port: its address refuses connections; the device is not identified');
    }
    expect(lock(unknown)[0]).toMatch(/was switched off; .*whether the tablet does is unknown\.$/);
    expect(lock(notVerified)[0]).toMatch(/no tablet was ever connected/);
  });

  const restart = 'After a restart of the tablet: stayed closed';
  const reading = { verdict: 'not-checked', steps: 13, differing: 0, unknown: 2 };
  const read = 'Settings, read just before the lock:';
  it.each([
    [{ keepsOpening: 'persist.adb.tcp.port=5555' }, 'persist.adb.tcp.port=5555'],
    [{ afterRestart: 'closed', afterRestartBasis: 'read-now' }, `ok   ${restart}`],
    [{ afterRestart: 'closed', afterRestartBasis: 'remembered' }, `--   ${restart} at the last watched restart (rem`],
    [{ reading: { ...reading, verdict: 'differs', differing: 1, unknown: 0 } }, `FAIL ${read} 1 of 13 steps differ`],
    [{ reading }, `--   ${read} 2 of 13 steps not reported`],
  ])('has a line for what opens it again, its restart and its settings: %j', (part, text) => {
    expect(lock(part).join('\n')).toContain(text);
  });
});

describe('gw kiosk status', () => {
  const none = { basis: 'none', at: null, ageS: null, ageBy: null, serial: null, bootId: null };
  const at = '2026-01-31T12:00:00.000Z';
  const remembered = { basis: 'remembered', at, ageS: 750, ageBy: 'uptime', serial: 'S1', bootId };
  const finding = {
    ...{ id: 'port', title: 'Off', verdict: 'ok', detail: 'yes', remedy: null, spec: null, remembered: null },
    ...{ ...remembered, basis: 'read-now', ageS: 0 },
  };
  const setUp = {
    ...{ verdict: 'not-checked', atLastConnection: 'not-checked', ...none, by: null, profile: null },
    ...{ steps: [] as object[], doubts: [], notRead: null },
  };
  const text = (part: object) => {
    const whole = { address, verdict: 'ok', port: 'closed', answeredBy: 'same', tablet: null, setUp, redLine: null };
    const restart = { verdict: 'not-checked', ...none };
    const data = { ...whole, restart, findings: [finding], tookMs: 1, ...part };
    return renderKioskStatus(result.kioskStatusSchema.parse(data));
  };
  const openFinding = { ...finding, verdict: 'not-checked', remedy: 'x' };
  const failed = { ...finding, id: 'set-up', verdict: 'wrong', remedy: 'x' };
  const unknown = { answeredBy: 'unknown', findings: [openFinding] };

  it.each<[object, RegExp]>([
    [{}, /^The ADB port of the tablet at 192\.0\.2\.5:5555 is closed\.$/],
    [{ port: 'open' }, /is open/],
    [{ port: 'silent' }, /does not answer/],
    [{ answeredBy: 'other' }, /^Another device, not the tablet, answers/],
    [{ findings: [finding, failed] }, /closed, but a check failed/],
    [{ findings: [finding, { ...finding, id: 'r', verdict: 'not-checked' }] }, /closed; 1 of 2 checks not made now\.$/],
    // Its port finding is open, by the record or by an unknown device.
    [unknown, /^Not decided: .* refuses connections, and whether .* is unknown; 1 of 1 checks not made now\.$/],
    [{ ...unknown, redLine }, /^The tablet is not verified as closed: .* refuses connections, by a device that/],
    [{ ...unknown, findings: [openFinding, failed], redLine }, /^The tablet is not .* closed: .*; a check failed\.$/],
    [{ answeredBy: 'unknown' }, /is closed, by a device that is not visible from here\.$/],
  ])('starts with the state of the port: %j', (part, first) => expect(linesOf(text(part))[0]).toMatch(first));

  it('is green only for a refusal by the tablet itself', () => {
    const { level } = chalk;
    chalk.level = 1;
    try {
      const isGreen = (answeredBy: string) => text({ answeredBy }).split('\n')[0]?.includes(chalk.green('closed'));
      expect(['same', 'unknown', 'other'].map(isGreen)).toEqual([true, false, false]);
    } finally {
      chalk.level = level;
    }
  });

  it('shows age, device and boot of a remembered finding, and the differences', () => {
    const of = (change: object) => text({ findings: [{ ...finding, ...remembered, remembered: 'ok', ...change }] });
    const steps = [{ id: 'b', title: 'Brightness', state: 'differs', expected: '200', found: '10' }];
    expect(text({ setUp: { ...setUp, steps } })).toContain('     FAIL Brightness: 10; expected 200');
    const open = { verdict: 'not-checked', detail: '13 of 13' };
    expect(of(open)).toContain(`remembered as ok, read 12 min ago (${at}, serial S1, boot 1a2b3c4d): 13 of 13`);
    const ageless = { ...open, ageS: null, ageBy: null, serial: null, bootId: null };
    expect(of(ageless)).toContain(`remembered as ok, age unknown (${at}, serial unknown, boot unknown)`);
    const old = { verdict: 'wrong', remembered: 'wrong', ageS: 200_000, ageBy: 'wall-clock' };
    expect(of(old)).toContain('remembered as FAIL, read 2 d ago by the wall clock');
  });
});
