import { stripVTControlCharacters } from 'node:util';
import { describe, expect, test } from 'vitest';
import {
  isInOrder,
  renderChecklistRun,
  renderChecklistVerdict,
  renderStepLine,
} from '../../src/cli/render/checklist.ts';
import { renderDemo } from '../../src/cli/render/demo.ts';
import type { StepResult } from '../../src/lib/checklist/index.ts';
import type { ChecklistRun, RecordVerify } from '../../src/lib/toolkit/checklist/checklist.result.ts';
import type { Demo } from '../../src/lib/toolkit/demo/demo.result.ts';

const step = (change: Partial<StepResult>): StepResult => ({
  id: 'a',
  title: 'It answers',
  proves: 'Device',
  kind: 'run',
  run: 'chassis probe',
  moves: false,
  section: null,
  precondition: false,
  leftOut: false,
  at: '2026-01-02T03:04:05.000Z',
  values: [],
  deviation: null,
  earlier: [],
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
    phase: null,
    sections: [],
    robots: [],
    deviations: 0,
    accepted: false,
    leftOut: 0,
    prerequisites: [],
    resumed: false,
    record: null,
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
  test('states the verdict in its first line', () => {
    const first = (...steps: StepResult[]) => plain(renderChecklistVerdict(run(...steps)));
    expect(first(step({}), step({}))).toBe('ALL OK  A robot: 2 of 2 steps are ok.');
    expect(first(step({}), step({ verdict: 'wrong' }), step({ verdict: 'skipped' }))).toBe(
      'NOT OK  A robot: 1 wrong, 1 skipped, 1 ok of 3 steps.',
    );
    expect(first(step({}), step({ verdict: 'not-checked' }))).toBe(
      'NOT COMPLETE  A robot: 1 not checked, 1 ok of 2 steps.',
    );
  });

  test('shows reason and fix of steps that are not ok', () => {
    const bad = step({ verdict: 'wrong', why: 'unit: expected degrees', remedy: 'Stop it.', shown: null });
    expect(plain(renderChecklistRun(run(step({}), bad), { all: true }))).toBe(
      `NOT OK  A robot: 1 wrong, 1 ok of 2 steps.
Lobby, chassis S1, 2.0 s

ok    It answers  serial S1
FAIL  It answers  (a)
        unit: expected degrees
        fix: Stop it.`,
    );
  });

  test('lists only what is not ok, unless every step is asked for, and says how many were ok', () => {
    const bad = step({ id: 'b', title: 'It stops', verdict: 'wrong', remedy: 'Stop it.' });
    const lines = (result: ChecklistRun, all = false) => plain(renderChecklistRun(result, { all })).split('\n');
    const short = lines(run(step({}), step({ id: 'c' }), bad));
    expect(short.filter((line) => /^(?:ok|FAIL|--|skip) /.test(line))).toEqual(['FAIL  It stops  (b) serial S1']);
    expect(short.at(-1)).toBe('2 steps are ok; --all lists every step.');
    expect(lines(run(step({}), bad), true).join()).not.toContain('--all');
    expect(lines(run(step({}))).filter((line) => line.startsWith('ok '))).toEqual([]);
    // Nothing of a rehearsal was printed before.
    const planned = step({ verdict: 'not-checked', why: 'Would run it.' });
    expect(lines({ ...run(planned), dryRun: true }).join()).toContain('Would run it.');
  });

  test('puts steps that are skipped for the same reason on one line, with what to fix', () => {
    const skip = (id: string, section: string, why: string) =>
      step({ id, section, verdict: 'skipped', why, remedy: "Fix 'net' first.", shown: null });
    const sections = [
      { id: 's', title: 'Network' },
      { id: 't', title: 'Tablet' },
    ];
    const steps = [step({ section: 's' }), skip('b', 's', 'no net'), skip('c', 't', 'no t'), skip('d', 't', 'no t')];
    const lines = plain(renderChecklistRun({ ...run(...steps), sections }, { all: true })).split('\n');
    expect(lines.slice(3)).toEqual([
      'Network',
      'ok    It answers  serial S1',
      'skip  It answers  (b)',
      '        no net',
      "        fix: Fix 'net' first.",
      'skip  Tablet: 2 steps  (c, d) no t',
      "        fix: Fix 'net' first.",
    ]);
  });

  test('shows the four verdicts apart, also without colour', () => {
    const marks = (['ok', 'wrong', 'skipped', 'not-checked'] as const).map((verdict) =>
      plain(renderStepLine(step({ verdict, shown: null, why: '' }))).slice(0, 4),
    );
    expect(marks).toEqual(['ok  ', 'FAIL', 'skip', '--  ']);
  });

  test('passes no control character of a device', () => {
    const text = plain(renderChecklistRun(run(step({ title: 'a\u001b[2Jb', shown: 'c\rd\ne' }))));
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what must not be there
    expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f]/);
    expect(text.split('\n')).toHaveLength(4);
  });
});

describe('the demo on the screen', () => {
  const part = (verdict: Demo['cloud'][number]['verdict']): Demo['cloud'][number] => ({
    ...{ id: 'cloud-stop', title: 'A stop from the cloud stops the robot', verdict, spec: null },
    ...{ detail: 'latched after 40 ms', remedy: 'Read the log.' },
  });
  const demo = (
    kept: boolean,
    state: RecordVerify['state'] = 'verified',
    cloud: Demo['cloud'] = [part('ok')],
  ): Demo => ({
    dir: '/srv/gw-demo',
    ok: true,
    end: 'complete',
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
    standing: kept ? ['gw serve', 'gw sim'] : [],
    lastRecord: null,
    checklist: run(...Array.from({ length: 13 }, () => step({}))),
    cloud,
    record: { path: '/srv/gw-demo/record.json', state, signedBy: 'SIM-0001', findings: [], subject: null },
    logs: ['/srv/gw-demo/sim.log'],
  });

  test.each(['wrong', 'not-checked'] as const)(
    'is not ok in its first line when a part of the cloud is %s',
    (verdict) => {
      const lines = plain(renderDemo(demo(false, 'verified', [part('ok'), part(verdict)]), '/srv')).split('\n');
      expect(lines[0]).toBe(
        'NOT OK  Rehearsal of the cloud: 1 of 2 parts failed, first: A stop from the cloud stops the robot.',
      );
      expect(lines.find((line) => /^(FAIL|-- ) /.test(line))).toContain('Do next: Read the log.');
    },
  );

  test('shows verdict, robot, every step, report and remedies in less than forty lines', () => {
    const lines = plain(renderDemo(demo(false), '/srv')).split('\n');
    expect(lines[0]).toBe('ALL OK  A robot: 13 of 13 steps are ok. Cloud rehearsed: 1 of 1 parts are ok.');
    expect(lines[1]).toContain('SIM-0001');
    expect(lines.join('\n')).toContain('Report  ./gw-demo/demo.md');
    expect(lines.join('\n')).toContain('Record  ./gw-demo/record.json signed by the key of SIM-0001, verified');
    expect(plain(renderDemo(demo(false, 'not-signed'), '/srv'))).toContain('record.json not signed');
    expect(lines.join('\n')).toContain('gw demo --keep');
    expect(lines.length).toBeLessThan(40);
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThan(150);
  });

  test('kept running, it names every address and commands that fit the folder', () => {
    const text = plain(renderDemo(demo(true), '/home/lou'));
    for (const address of Object.values(demo(true).addresses ?? {})) expect(text).toContain(address);
    expect(text).toContain('gw sim fault radians on --dir /srv/gw-demo');
    expect(text.split('\n').length).toBeLessThan(40);
  });

  describe('that did not come to its end', () => {
    const never = step({ verdict: 'not-checked', at: null, shown: null, why: 'interrupted', title: 'It drives' });
    const early = (change: Partial<Demo>): string[] => {
      const cut = { ...run(step({}), step({ verdict: 'wrong', why: 'no answer' }), never), interrupted: true };
      const cloud = [part('not-checked')];
      const whole = { ...demo(false, 'verified', cloud), ok: false, checklist: cut, record: null };
      return plain(renderDemo({ ...whole, end: 'interrupted', ...change }, '/srv')).split('\n');
    };

    test('shows what was done and what was not checked, and no next command', () => {
      const lines = early({});
      expect(lines[0]).toBe('NOT COMPLETE  Interrupted: 1 ok, 1 wrong, 2 not checked of 4 steps and parts.');
      expect(lines.filter((line) => /^(ok|FAIL|--) /.test(line)).map((line) => line.slice(0, 15).trim())).toEqual([
        'ok    It answer',
        'FAIL  It answer',
        '--    It drives',
        '--    A stop fr',
      ]);
      expect(lines.join('\n')).toContain('Record  none: this run did not come to its end');
      expect(lines.join('\n')).not.toContain('Try next');
      expect(early({ end: 'failed' })[0]).toMatch(/^NOT COMPLETE {2}Ended by an error: 1 ok/);
    });

    test('says that the record is of the last run, and of which time', () => {
      const subject = { endedAt: '2026-01-02T03:04:05.678Z' } as RecordVerify['subject'];
      const lastRecord: RecordVerify = { path: '/x', state: 'verified', signedBy: 'SIM-0001', findings: [], subject };
      expect(early({ lastRecord }).join('\n')).toContain(
        'Record  none of this run; ./gw-demo/record.json and its reports are of the last run, 2026-01-02T03:04:05Z, signed by the key of SIM-0001, verified',
      );
    });

    test('before the first step, with nothing that is ready', () => {
      const lines = early({ checklist: null, robot: null, addresses: null, readyMs: { sim: null, serve: null } });
      expect(lines[0]).toBe('NOT COMPLETE  Interrupted before the first step: nothing was checked.');
      expect(lines[1]).toBe('The simulated robot was not ready; all in 17.1 s.');
    });

    test('names the addresses of what stands, and of nothing else', () => {
      const robot = early({ end: 'failed', kept: true, standing: ['gw sim'] }).join('\n');
      expect(robot).toContain('http://127.0.0.1:40000/device/info');
      expect(robot).not.toContain('5173');
      const gateway = early({ end: 'failed', kept: true, standing: ['gw serve'] }).join('\n');
      expect(gateway).toContain('http://127.0.0.1:5173/service');
      expect(gateway).not.toContain('gw sim fault');
    });
  });
});

describe('the output of a run beside its steps', () => {
  const robot = {
    site: 'Lobby',
    serial: 'S1',
    ok: false,
    redLines: [],
    counts: { ok: 1, wrong: 0, skipped: 0, notChecked: 0 },
  };
  const red = { id: 'tablet-open', title: 'The tablet', detail: 'left open\u001b[31m', remedy: 'Lock it.' };
  const first = (result: ChecklistRun) => plain(renderChecklistVerdict(result));

  test('a part of a list is never the whole, and its verdict covers the part only', () => {
    const left = step({ id: 'b', verdict: 'not-checked', leftOut: true, shown: null, why: 'left out' });
    const part = { ...run(step({}), left), leftOut: 1, robots: [robot] };
    expect(first(part)).toBe('PART OK  A robot: 1 of 1 chosen steps are ok, 1 left out.');
    expect(isInOrder(part)).toBe(true);
    const text = plain(renderChecklistRun({ ...part, steps: [...part.steps, { ...left, id: 'S1/c' }] }));
    expect(text.match(/left out: .*/g)).toEqual(['left out: b, c']);
    expect(isInOrder({ ...part, interrupted: true })).toBe(false);
    expect(isInOrder({ ...part, robots: [{ ...robot, redLines: [red] }] })).toBe(false);
    expect(isInOrder({ ...part, steps: [step({ verdict: 'wrong' }), left] })).toBe(false);
    expect(isInOrder(run(step({}), step({ verdict: 'not-checked' })))).toBe(false);
  });

  test('a run without a record is no acceptance, and a dry run no result, whatever their steps are', () => {
    const unkept = { ...run(step({})), noRecord: true as const };
    expect(first(unkept)).toMatch(/^ALL OK, NO RECORD .*it is no acceptance\.$/);
    expect(first({ ...unkept, ok: false, accepted: true, deviations: 1 })).toMatch(/^OK WITH DEVIATIONS, NO RECORD/);
    const dry = { ...run(step({ verdict: 'not-checked' })), dryRun: true as const };
    expect(first(dry)).toBe('DRY RUN  A robot: nothing was run; this is what 1 step would do.');
    expect(isInOrder(dry)).toBe(false);
  });

  test('an accepted deviation stays red in its line, and the whole is not ok', () => {
    const deviation = { reason: 'no lift here', approvedBy: 'A. Boss', at: '2026-01-02T03:04:05.000Z' };
    const bad = step({ verdict: 'wrong', shown: null, why: 'lift: expected a value', remedy: 'Mend.', deviation });
    const result = { ...run(step({}), bad), accepted: true, deviations: 1 };
    expect(first(result)).toBe('ACCEPTED WITH DEVIATIONS  A robot: 1 wrong, 1 ok of 2 steps.');
    const text = plain(renderChecklistRun(result));
    expect(text).toContain('FAIL  It answers  (a) accepted by A. Boss');
    expect(text).toContain('accepted by A. Boss: no lift here');
    expect(first({ ...result, accepted: false })).toBe(
      'NOT OK  A robot: 1 wrong, 1 ok of 2 steps; 1 deviation accepted by name.',
    );
  });

  test('a red line is shown above everything, whatever the steps report', () => {
    const result = { ...run(step({})), ok: false, robots: [{ ...robot, redLines: [red] }] };
    expect(first(result)).toBe('NOT OK  A robot: 1 red line, 1 ok of 1 steps.');
    const text = renderChecklistRun(result);
    expect(plain(text)).toContain('RED LINE  The tablet: left open');
    expect(text).not.toContain('open\u001b[31m');
  });

  test('sections have titles, an interrupted run states how to resume, a record names its signer', () => {
    const sections = [
      { id: 's', title: 'First things' },
      { id: 't', title: 'Last things' },
    ];
    const steps = [step({ section: 's' }), step({ id: 'b', section: 's' }), step({ id: 'c', section: 't' })];
    const record = { file: '/p/x.json', id: 'i', edition: 1, signedBy: null, attachments: 0 };
    const text = plain(renderChecklistRun({ ...run(...steps), sections, interrupted: true, record }, { all: true }));
    expect(text.match(/First things|Last things/g)).toEqual(['First things', 'Last things']);
    expect(text).toContain('Resume with the same command and --resume.');
    expect(text).toContain('Record (not signed):\n  /p/x.json');
    const signed = { ...record, signedBy: 'S1' };
    expect(plain(renderChecklistRun({ ...run(...steps), record: signed }))).toContain('Record (signed by S1):');
  });
});
