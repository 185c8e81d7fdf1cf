import { stripVTControlCharacters } from 'node:util';
import { describe, expect, test } from 'vitest';
import { renderChecklistRun, renderChecklistVerdict, renderStepLine } from '../../src/cli/render/checklist.ts';
import { renderDemo } from '../../src/cli/render/demo.ts';
import type { StepResult } from '../../src/lib/checklist/index.ts';
import type { ChecklistRun } from '../../src/lib/toolkit/checklist-run.result.ts';
import type { Demo } from '../../src/lib/toolkit/demo.result.ts';

const step = (change: Partial<StepResult>): StepResult => ({
  id: 'a',
  title: 'It answers',
  proves: 'Device',
  kind: 'run',
  run: 'chassis probe',
  moves: false,
  verdict: 'ok',
  why: 'state: ok',
  shown: 'serial S1',
  remedy: null,
  tookMs: 10,
  expectations: [],
  error: null,
  answer: null,
  measured: null,
  ...change,
});

const run = (...steps: StepResult[]): ChecklistRun => {
  const count = (verdict: string) => steps.filter((one) => one.verdict === verdict).length;
  return {
    name: 'demo',
    title: 'A robot',
    purpose: 'To see.',
    file: 'demo.yaml',
    subject: { site: 'Lobby', serial: 'S1' },
    startedAt: '2026-01-02T03:04:05.000Z',
    tookMs: 2000,
    motionAllowed: false,
    interrupted: false,
    ok: steps.every((one) => one.verdict === 'ok'),
    counts: { ok: count('ok'), wrong: count('wrong'), skipped: count('skipped'), notChecked: count('not-checked') },
    steps,
    written: [],
  };
};
const plain = (text: string) => stripVTControlCharacters(text);

describe('a checklist on the screen', () => {
  test('answers in its first line', () => {
    const first = (...steps: StepResult[]) => plain(renderChecklistVerdict(run(...steps)));
    expect(first(step({}), step({}))).toBe('ALL OK  A robot: 2 of 2 steps are ok.');
    expect(first(step({}), step({ verdict: 'wrong' }), step({ verdict: 'skipped' }))).toBe(
      'NOT OK  A robot: 1 wrong, 1 skipped, 1 ok of 3 steps.',
    );
    expect(first(step({}), step({ verdict: 'not-checked' }))).toBe(
      'NOT COMPLETE  A robot: 1 not checked, 1 ok of 2 steps.',
    );
  });

  test('says of what is not ok why, and how to mend it', () => {
    const bad = step({ verdict: 'wrong', why: 'unit: expected degrees', remedy: 'Stop it.', shown: null });
    expect(plain(renderChecklistRun(run(step({}), bad)))).toBe(
      `NOT OK  A robot: 1 wrong, 1 ok of 2 steps.
Lobby, chassis S1, 2.0 s

ok    It answers serial S1
FAIL  It answers
        unit: expected degrees
        to mend: Stop it.`,
    );
  });

  test('shows the four verdicts apart, also without colour', () => {
    const marks = (['ok', 'wrong', 'skipped', 'not-checked'] as const).map((verdict) =>
      plain(renderStepLine(step({ verdict, shown: null, why: '' }))).slice(0, 4),
    );
    expect(marks).toEqual(['ok  ', 'FAIL', 'skip', '--  ']);
  });

  test('lets no control character of a device through', () => {
    const text = plain(renderChecklistRun(run(step({ title: 'a\u001b[2Jb', shown: 'c\rd\ne' }))));
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what must not be there
    expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f]/);
    expect(text.split('\n')).toHaveLength(4);
  });
});

describe('the demo on the screen', () => {
  const demo = (kept: boolean): Demo => ({
    dir: '/srv/gw-demo',
    ok: true,
    tookMs: 17_100,
    robot: { serial: 'SIM-0001', software: '2.12' },
    addresses: {
      surface: 'http://127.0.0.1:5173/',
      service: 'http://127.0.0.1:5173/service',
      readOnly: 'http://127.0.0.1:5174/',
      chassis: 'http://127.0.0.1:40000',
    },
    readyMs: { sim: 210, serve: 320 },
    kept,
    checklist: run(...Array.from({ length: 13 }, () => step({}))),
    logs: ['/srv/gw-demo/sim.log'],
  });

  test('tells verdict, robot, every step, the report and what to try, in less than forty lines', () => {
    const lines = plain(renderDemo(demo(false), '/srv')).split('\n');
    expect(lines[0]).toBe('ALL OK  A robot: 13 of 13 steps are ok.');
    expect(lines[1]).toContain('SIM-0001');
    expect(lines.join('\n')).toContain('Report  ./gw-demo/demo.md');
    expect(lines.join('\n')).toContain('gw demo --keep');
    expect(lines.length).toBeLessThan(40);
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThan(140);
  });

  test('kept up, it names every address and commands that fit the folder', () => {
    const text = plain(renderDemo(demo(true), '/home/lou'));
    for (const address of Object.values(demo(true).addresses)) expect(text).toContain(address);
    expect(text).toContain('gw sim fault radians on --dir /srv/gw-demo');
    expect(text.split('\n').length).toBeLessThan(40);
  });
});
