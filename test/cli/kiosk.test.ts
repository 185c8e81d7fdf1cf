import { stripVTControlCharacters } from 'node:util';
import chalk from 'chalk';
import { describe, expect, it } from 'vitest';
import { renderKioskLock, renderKioskPlan, renderKioskSetup, renderKioskStatus } from '../../src/cli/render/kiosk.ts';
import {
  type KioskLock,
  type KioskPlan,
  type KioskSetup,
  type KioskStatus,
  kioskLockSchema,
  kioskPlanSchema,
  kioskSetupSchema,
  kioskStatusSchema,
} from '../../src/lib/toolkit/kiosk/kiosk.result.ts';

const address = { host: '192.0.2.5', port: 5555 };
const tablet = {
  model: 'T\u001b[31m10',
  manufacturer: 'Acme',
  serial: 'S1',
  android: '13',
  sdk: 33,
  bootId: '1a2b3c4d-1111-4111-8111-111111111111',
  androidId: null,
};
const step = { id: 'a', title: 'Brightness', expected: '200', found: '10', byHand: false, remedy: null, error: null };
const redLine = { id: 'tablet-open' as const, title: 'T', detail: 'It is open.', remedy: 'Run lock.' };
const lines = (text: string) => stripVTControlCharacters(text).split('\n');

const plan = (verdict: KioskPlan['verdict'], steps: KioskPlan['steps']): KioskPlan =>
  kioskPlanSchema.parse({
    address,
    profile: 'Lobby',
    tablet,
    verdict,
    steps,
    differing: steps.filter(({ state }) => state === 'differs').length,
    redLine,
    tookMs: 1,
  });

describe('gw kiosk plan', () => {
  it('starts with the verdict; unchecked steps are never green', () => {
    expect(lines(renderKioskPlan(plan('as-planned', [{ ...step, state: 'ok' }])))[0]).toBe(
      'The tablet matches its profile.',
    );
    expect(lines(renderKioskPlan(plan('differs', [{ ...step, state: 'differs' }])))[0]).toBe(
      "1 of 1 steps of profile 'Lobby' differ on the tablet.",
    );
    const unknown = lines(
      renderKioskPlan(plan('not-checked', [{ ...step, state: 'not-checked', found: 'not reported' }])),
    );
    expect(unknown[0]).toMatch(/^No difference from profile 'Lobby' found, 1 of 1 steps not checked\.$/);
    expect(unknown).toContain('--   Brightness: not checked: not reported');
  });

  it('shows found and expected values, the remedy, by hand, and the red line', () => {
    const shown = lines(
      renderKioskPlan(plan('differs', [{ ...step, state: 'differs', byHand: true, remedy: 'Set it.' }])),
    );
    expect(shown).toContain('FAIL Brightness: 10; expected 200 (by hand)');
    expect(shown).toContain('     Set it.');
    expect(shown.slice(-2)).toEqual(['It is open.', 'Run lock.']);
  });

  it('escapes text of the tablet for the terminal', () => {
    const hostile = { ...step, state: 'differs' as const, found: '\u001b]0;x\u0007' };
    const shown = renderKioskPlan(plan('differs', [hostile]));
    for (const sequence of ['\u001b]', '\u0007', 'T\u001b[31m10']) expect(shown).not.toContain(sequence);
  });
});

const lockPart = {
  verdict: 'closed',
  port: 'closed',
  wasOpen: true,
  afterRestart: 'not-checked',
  afterRestartBasis: 'none',
  keepsOpening: null,
  answeredBy: 'same',
  wasRestarted: false,
  readAfterRestart: null,
} as const;

describe('gw kiosk setup', () => {
  const setUp = (part: Partial<KioskSetup>): string[] =>
    lines(
      renderKioskSetup(
        kioskSetupSchema.parse({
          address,
          profile: 'Lobby',
          tablet,
          verdict: 'done',
          steps: [{ ...step, state: 'changed', found: '200' }],
          changed: 1,
          lock: lockPart,
          redLine: null,
          tookMs: 1,
          ...part,
        }),
      ),
    );

  it('reports that the tablet is configured and locked', () => {
    const shown = setUp({});
    expect(shown[0]).toBe('The tablet is configured and locked (1 of 1 steps changed).');
    expect(shown).toContain('ok   Brightness: 200 (changed)');
    expect(shown).toContain('ok   ADB port: the tablet refuses connections');
  });

  it('is not green when the settings were not read after the restart', () => {
    const restarted = {
      ...lockPart,
      afterRestart: 'closed',
      afterRestartBasis: 'read-now',
      wasRestarted: true,
    } as const;
    expect(setUp({ lock: restarted })[0]).toBe(
      'The tablet was configured (1 of 1 steps changed), restarted and locked; its settings were not read after the restart.',
    );
    const reading = { verdict: 'as-profile', steps: 1, differing: 0, unknown: 0 } as const;
    expect(setUp({ lock: { ...restarted, readAfterRestart: reading } })[0]).toMatch(/is configured and locked/);
    const differing = { ...reading, verdict: 'differs', differing: 1 } as const;
    const shown = setUp({ verdict: 'not-done', lock: { ...restarted, readAfterRestart: differing } });
    expect(shown[0]).toMatch(/differs from its profile after the restart/);
    expect(shown).toContain('FAIL Settings, read after the restart: 1 of 1 steps differ');
  });

  it.each([
    [{ lock: null, redLine }, /left open/],
    [{ verdict: 'not-done', lock: null, redLine } as const, /not configured/],
    [
      { verdict: 'not-locked', lock: { ...lockPart, verdict: 'open', port: 'open' }, redLine } as const,
      /not verified as closed/,
    ],
  ])('states an open port in the first line', (part, first) => {
    const shown = setUp(part as Partial<KioskSetup>);
    expect(shown[0]).toMatch(first);
    expect(shown.at(-2)).toBe('It is open.');
  });

  it('shows the error of a failed step and the steps not reached', () => {
    const failed = {
      ...step,
      state: 'failed',
      found: null,
      remedy: 'Free some.',
      error: { code: 'X', message: 'No space.' },
    };
    const shown = setUp({
      verdict: 'not-done',
      lock: null,
      steps: [failed, { ...step, state: 'not-reached', found: null }] as KioskSetup['steps'],
    });
    expect(shown).toContain('FAIL Brightness: No space.');
    expect(shown).toContain('     Free some.');
    expect(shown).toContain('--   Brightness: not reached');
  });
});

describe('gw kiosk lock', () => {
  const lock = (part: Partial<KioskLock>): string[] =>
    lines(
      renderKioskLock(
        kioskLockSchema.parse({ ...lockPart, address, reading: null, redLine: null, tookMs: 1, ...part }),
      ),
    );

  it.each([
    [{}, /switched off, verified closed/],
    [{ wasOpen: false }, /was already closed; the tablet refuses connections/],
    [{ wasOpen: false, answeredBy: 'unknown' } as const, /^Connections are refused at .* is unknown/],
    [{ verdict: 'not-verified', answeredBy: 'unknown' } as const, /not verified as closed: .* may be another device/],
    [{ verdict: 'open', port: 'open' } as const, /still open/],
    [{ verdict: 'not-verified', port: 'silent' } as const, /not verified as closed: no answer/],
    [
      { verdict: 'opens-again', afterRestart: 'open', keepsOpening: 'p=5555' } as const,
      /a restart of the tablet opens it/,
    ],
  ])('starts with the state: %j', (part, first) => {
    expect(lock(part)[0]).toMatch(first);
    expect(lock(part)[0]).toContain('192.0.2.5:5555');
  });

  it('never says that the tablet refuses, nor in green, where the address could not be identified', () => {
    for (const part of [
      { wasOpen: false, answeredBy: 'unknown' },
      { answeredBy: 'unknown', afterRestart: 'closed' },
      { verdict: 'not-verified', wasOpen: false, answeredBy: 'unknown' },
    ] as const) {
      const shown = lock(part);
      expect(shown.join('\n')).not.toContain('the tablet refuses');
      expect(shown).toContain('--   ADB port: its address refuses connections; the device is not identified');
    }
    expect(lock({ answeredBy: 'unknown' })[0]).toMatch(/was switched off; .*whether the tablet does is unknown\.$/);
    expect(lock({ verdict: 'not-verified', wasOpen: false, answeredBy: 'unknown' })[0]).toMatch(
      /no tablet was ever connected/,
    );
  });

  it('names the property that opens it again', () => {
    expect(lock({ keepsOpening: 'persist.adb.tcp.port=5555' }).join('\n')).toContain('persist.adb.tcp.port=5555');
  });
});

describe('the lines of gw kiosk lock', () => {
  const lock = (part: Partial<KioskLock>): string[] => {
    const data = { ...lockPart, address, reading: null, redLine: null, tookMs: 1, ...part };
    return lines(renderKioskLock(kioskLockSchema.parse(data)));
  };

  it('never shows the restart of an earlier run as ok', () => {
    const restart = 'After a restart of the tablet: stayed closed';
    expect(lock({ afterRestart: 'closed', afterRestartBasis: 'read-now' })).toContain(`ok   ${restart}`);
    expect(lock({ afterRestart: 'closed', afterRestartBasis: 'remembered' })).toContain(
      `--   ${restart} at the last watched restart (remembered)`,
    );
  });

  it('shows the settings read before the lock', () => {
    const differing = { verdict: 'differs', steps: 13, differing: 1, unknown: 0 } as const;
    expect(lock({ reading: differing })).toContain('FAIL Settings, read just before the lock: 1 of 13 steps differ');
    const unreported = { verdict: 'not-checked', steps: 13, differing: 0, unknown: 2 } as const;
    expect(lock({ reading: unreported })).toContain(
      '--   Settings, read just before the lock: 2 of 13 steps not reported',
    );
  });
});

describe('gw kiosk status', () => {
  const none = { basis: 'none', at: null, ageS: null, ageBy: null, serial: null, bootId: null } as const;
  const rememberedPart = {
    basis: 'remembered',
    at: '2026-01-31T12:00:00.000Z',
    ageS: 750,
    ageBy: 'uptime',
    serial: 'S1',
    bootId: '1a2b3c4d-1111-4111-8111-111111111111',
  } as const;
  const finding = {
    id: 'port',
    title: 'Off',
    verdict: 'ok',
    detail: 'yes',
    remedy: null,
    spec: null,
    remembered: null,
    ...rememberedPart,
    basis: 'read-now',
    ageS: 0,
  } as const;
  const whole = {
    address,
    verdict: 'ok',
    port: 'closed',
    answeredBy: 'same',
    tablet: null,
    setUp: {
      verdict: 'not-checked',
      atLastConnection: 'not-checked',
      ...none,
      by: null,
      profile: null,
      steps: [],
      doubts: [],
      notRead: null,
    },
    restart: { verdict: 'not-checked', ...none },
    findings: [finding],
    redLine: null,
    tookMs: 1,
  } as const;
  const status = (part: Partial<KioskStatus>): string[] =>
    lines(renderKioskStatus(kioskStatusSchema.parse({ ...whole, ...part })));

  it('starts with the state of the port and the number of unchecked findings', () => {
    expect(status({})[0]).toBe('The ADB port of the tablet at 192.0.2.5:5555 is closed.');
    expect(status({ port: 'open' })[0]).toMatch(/is open/);
    expect(status({ port: 'silent' })[0]).toMatch(/does not answer/);
    expect(status({ answeredBy: 'other' })[0]).toMatch(/^Another device, not the tablet, answers/);
    expect(status({ findings: [finding, { ...finding, id: 'set-up', verdict: 'wrong', remedy: 'x' }] })[0]).toMatch(
      /closed, but a check failed/,
    );
    expect(status({ findings: [finding, { ...finding, id: 'restart', verdict: 'not-checked' }] })[0]).toMatch(
      /closed; 1 of 2 checks not made now\.$/,
    );
  });

  it('does not say closed of a tablet whose port finding is open, by the record or by an unknown device', () => {
    const open = { ...finding, verdict: 'not-checked', remedy: 'x' } as const;
    const unknown = status({ answeredBy: 'unknown', findings: [open] })[0] ?? '';
    expect(unknown).toBe(
      'Not decided: 192.0.2.5:5555 refuses connections, and whether the tablet does is unknown; 1 of 1 checks not made now.',
    );
    const red = status({ answeredBy: 'unknown', findings: [open], redLine })[0] ?? '';
    expect(red).toMatch(
      /^The tablet is not verified as closed: 192\.0\.2\.5:5555 refuses connections, by a device that/,
    );
    const failed = status({
      answeredBy: 'unknown',
      findings: [open, { ...finding, id: 'set-up', verdict: 'wrong' }],
      redLine,
    });
    expect(failed[0]).toMatch(/^The tablet is not verified as closed: .*; a check failed\.$/);
    expect(status({ answeredBy: 'unknown' })[0]).toBe(
      'The ADB port of the tablet at 192.0.2.5:5555 is closed, by a device that is not visible from here.',
    );
  });

  it('is green only for a refusal by the tablet itself', () => {
    const { level } = chalk;
    chalk.level = 1;
    try {
      const first = (part: Partial<KioskStatus>) =>
        renderKioskStatus(kioskStatusSchema.parse({ ...whole, ...part })).split('\n')[0] ?? '';
      const green = chalk.green('closed');
      expect(first({ answeredBy: 'same' })).toContain(green);
      expect(first({ answeredBy: 'unknown' })).not.toContain(green);
      expect(first({ answeredBy: 'other' })).not.toContain(green);
    } finally {
      chalk.level = level;
    }
  });

  it('shows age, device and boot of a remembered finding, and the differences', () => {
    const shown = status({
      findings: [{ ...finding, ...rememberedPart, verdict: 'not-checked', remembered: 'ok', detail: '13 of 13' }],
      setUp: {
        ...whole.setUp,
        doubts: [],
        steps: [{ id: 'b', title: 'Brightness', state: 'differs', expected: '200', found: '10' }],
      },
    });
    expect(shown).toContain(
      '--   Off: remembered as ok, read 12 min ago (2026-01-31T12:00:00.000Z, serial S1, boot 1a2b3c4d): 13 of 13',
    );
    expect(shown).toContain('     FAIL Brightness: 10; expected 200');
    const unknownAge = { ...finding, ...rememberedPart, ageS: null, ageBy: null, serial: null, bootId: null };
    expect(status({ findings: [{ ...unknownAge, verdict: 'not-checked', remembered: 'ok' }] }).join('\n')).toContain(
      'remembered as ok, age unknown (2026-01-31T12:00:00.000Z, serial unknown, boot unknown)',
    );
    const old = { ...finding, ...rememberedPart, ageS: 200_000, ageBy: 'wall-clock' as const };
    expect(status({ findings: [{ ...old, verdict: 'wrong', remembered: 'wrong' }] }).join('\n')).toContain(
      'remembered as FAIL, read 2 d ago by the wall clock',
    );
  });
});
