import { stripVTControlCharacters } from 'node:util';
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
} from '../../src/lib/toolkit/kiosk.result.ts';

const address = { host: '192.0.2.5', port: 5555 };
const tablet = { model: 'T\u001b[31m10', manufacturer: 'Acme', serial: 'S1', android: '13', sdk: 33 };
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
  it('answers first whether something differs, and never calls green what was not checked', () => {
    expect(lines(renderKioskPlan(plan('as-planned', [{ ...step, state: 'ok' }])))[0]).toBe(
      'The tablet is as its profile says.',
    );
    expect(lines(renderKioskPlan(plan('differs', [{ ...step, state: 'differs' }])))[0]).toBe(
      "1 of 1 steps of profile 'Lobby' differ on the tablet.",
    );
    const unknown = lines(renderKioskPlan(plan('not-checked', [{ ...step, state: 'not-checked', found: 'no word' }])));
    expect(unknown[0]).toMatch(/does not tell everything \(1 not checked\)/);
    expect(unknown).toContain('--   Brightness: not checked: no word');
  });

  it('shows found and expected, the remedy, who has to do it, and the red line', () => {
    const shown = lines(
      renderKioskPlan(plan('differs', [{ ...step, state: 'differs', byHand: true, remedy: 'Set it.' }])),
    );
    expect(shown).toContain('FAIL Brightness: 10; expected 200 (by hand)');
    expect(shown).toContain('     Set it.');
    expect(shown.slice(-2)).toEqual(['It is open.', 'Run lock.']);
  });

  it('brings nothing of the tablet to the terminal unescaped', () => {
    const odd = { ...step, state: 'differs' as const, found: '\u001b]0;x\u0007' };
    const shown = renderKioskPlan(plan('differs', [odd]));
    for (const sequence of ['\u001b]', '\u0007', 'T\u001b[31m10']) expect(shown).not.toContain(sequence);
  });
});

const lockPart = {
  verdict: 'closed',
  port: 'closed',
  wasOpen: true,
  afterRestart: 'not-checked',
  keepsOpening: null,
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

  it('says that it is set up and closed', () => {
    const shown = setUp({});
    expect(shown[0]).toBe('The tablet is set up and closed (1 of 1 steps changed).');
    expect(shown).toContain('ok   Brightness: 200 (changed)');
    expect(shown).toContain('ok   Port of ADB: the tablet refuses connections to it');
  });

  it.each([
    [{ lock: null, redLine }, /left open/],
    [{ verdict: 'not-done', lock: null, redLine } as const, /not set up/],
    [
      { verdict: 'not-locked', lock: { ...lockPart, verdict: 'open', port: 'open' }, redLine } as const,
      /not proven closed/,
    ],
  ])('never hides in its first line that the tablet is open', (part, first) => {
    const shown = setUp(part as Partial<KioskSetup>);
    expect(shown[0]).toMatch(first);
    expect(shown.at(-2)).toBe('It is open.');
  });

  it('shows why a step failed and that the next was not reached', () => {
    const failed = {
      ...step,
      state: 'failed',
      found: null,
      remedy: 'Make room.',
      error: { code: 'X', message: 'No room.' },
    };
    const shown = setUp({
      verdict: 'not-done',
      lock: null,
      steps: [failed, { ...step, state: 'not-reached', found: null }] as KioskSetup['steps'],
    });
    expect(shown).toContain('FAIL Brightness: No room.');
    expect(shown).toContain('     Make room.');
    expect(shown).toContain('--   Brightness: not reached');
  });
});

describe('gw kiosk lock', () => {
  const lock = (part: Partial<KioskLock>): string[] =>
    lines(renderKioskLock(kioskLockSchema.parse({ ...lockPart, address, redLine: null, tookMs: 1, ...part })));

  it.each([
    [{}, /switched off, and proven closed/],
    [{ wasOpen: false }, /was closed already/],
    [{ verdict: 'open', port: 'open' } as const, /still open/],
    [{ verdict: 'not-proven', port: 'silent' } as const, /not proven: nobody answers/],
    [
      { verdict: 'opens-again', afterRestart: 'open', keepsOpening: 'p=5555' } as const,
      /a restart of the tablet opens it/,
    ],
  ])('says first how it stands: %j', (part, first) => {
    expect(lock(part)[0]).toMatch(first);
    expect(lock(part)[0]).toContain('192.0.2.5:5555');
  });

  it('names the property that opens it again', () => {
    expect(lock({ keepsOpening: 'persist.adb.tcp.port=5555' }).join('\n')).toContain('persist.adb.tcp.port=5555');
  });
});

describe('gw kiosk status', () => {
  const finding = { id: 'port', title: 'Off', verdict: 'ok', detail: 'yes', remedy: null, spec: null } as const;
  const status = (part: Partial<KioskStatus>): string =>
    lines(
      renderKioskStatus(
        kioskStatusSchema.parse({
          address,
          port: 'closed',
          record: null,
          findings: [finding],
          redLine: null,
          tookMs: 1,
          ...part,
        }),
      ),
    )[0] ?? '';

  it('answers whether the tablet is closed', () => {
    expect(status({})).toBe('The tablet at 192.0.2.5:5555 is closed.');
    expect(status({ port: 'open' })).toMatch(/is open/);
    expect(status({ port: 'silent' })).toMatch(/does not answer/);
    expect(status({ findings: [{ ...finding, verdict: 'wrong', remedy: 'x' }] })).toMatch(/closed, but not in order/);
  });
});
