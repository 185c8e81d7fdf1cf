import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ChecklistResult, StepResult } from '../../src/lib/checklist/index.ts';
import { foreign, toMarkdown } from '../../src/lib/report/document-markdown.ts';
import { toJson, toJUnit } from '../../src/lib/report/index.ts';
import { runs } from '../properties.ts';
import { anyCharacter } from '../text/units.ts';
import { stepOf } from './records.ts';
import { parseXml } from './xml.ts';

const step = (change: Partial<StepResult>): StepResult =>
  stepOf({
    ...{ id: 'a', title: 'A title', proves: 'Device', run: 'chassis probe', why: 'identity.serial: x' },
    ...{ shown: 'serial x', at: '2026-01-02T03:04:05.000Z', tookMs: 1250, ...change },
  });

function result(...steps: StepResult[]): ChecklistResult {
  const count = (verdict: string) => steps.filter((one) => one.verdict === verdict).length;
  return {
    ...{ name: 'demo', title: 'Demo', purpose: 'To see.', phase: null, file: 'demo.yaml' },
    ...{ subject: { site: 'Lobby', serial: 'S1' }, startedAt: '2026-01-02T03:04:05.000Z', tookMs: 2000 },
    ...{ motionAllowed: false, interrupted: false },
    ok: steps.every((one) => one.verdict === 'ok'),
    counts: { ok: count('ok'), wrong: count('wrong'), skipped: count('skipped'), notChecked: count('not-checked') },
    sections: [],
    steps,
  };
}

const mixed = result(
  step({ id: 'good' }),
  step({ id: 'bad', verdict: 'wrong', why: 'unit: expected degrees, found radians', remedy: 'Stop.', shown: null }),
  step({
    ...{ id: 'away', verdict: 'wrong', why: 'not connected', remedy: 'Switch it on.', shown: null },
    error: { ...{ code: 'CHASSIS_NOT_CONNECTED', message: 'not connected' }, tried: '127.0.0.1:8090', remedy: 'x' },
  }),
  step({ id: 'later', verdict: 'skipped', why: "It needs 'away'.", shown: null, remedy: "Mend 'away' first." }),
  step({
    ...{ id: 'open', kind: 'confirm', run: null, verdict: 'not-checked' },
    ...{ why: 'Not answered', shown: null, remedy: 'Answer it.' },
    answer: { answer: 'skip', by: 'Kim', initials: null, remark: 'a|b', value: null, attachments: [], at: null },
  }),
);

describe('JUnit', () => {
  test('distinguishes failures, errors and skipped cases and counts each once', () => {
    const suite = parseXml(toJUnit(mixed)).children[0];
    const counts = { tests: '5', failures: '1', errors: '2', skipped: '1' };
    expect(suite?.attributes).toMatchObject({ name: 'demo', ...counts, time: '2.00' });
    const cases = suite?.children.filter(({ name }) => name === 'testcase') ?? [];
    const outcome = cases.map(
      ({ children }) => children.find(({ name }) => !['properties', 'system-out'].includes(name))?.name,
    );
    expect(outcome).toEqual([undefined, 'failure', 'error', 'skipped', 'error']);
    const of = (at: number, kind: string) => cases[at]?.children.find(({ name }) => name === kind)?.attributes;
    expect(of(2, 'error')?.type).toBe('CHASSIS_NOT_CONNECTED');
    expect(of(3, 'skipped')?.message).toBe("skipped: It needs 'away'.");
    expect(of(4, 'error')).toMatchObject({ message: 'Not answered', type: 'NOT_CHECKED' });
  });

  test('skips a step that was left out on request, which is not the same as not checked', () => {
    const left = step({ id: 'left', verdict: 'not-checked', why: 'Left out', shown: null, leftOut: true });
    const suite = parseXml(toJUnit(result(step({ id: 'good' }), left))).children[0];
    expect(suite?.attributes).toMatchObject({ tests: '2', failures: '0', errors: '0', skipped: '1' });
  });

  test('has exactly this form for one step', () => {
    expect(toJUnit(result(step({ shown: 'a < b & "c"' })))).toBe(`<?xml version="1.0" encoding="UTF-8"?>
<testsuites>
  <testsuite name="demo" tests="1" failures="0" errors="0" skipped="0" time="2.00" timestamp="2026-01-02T03:04:05.000Z">
    <properties>
      <property name="gw.ok" value="true"/>
      <property name="gw.title" value="Demo"/>
      <property name="gw.site" value="Lobby"/>
      <property name="gw.serial" value="S1"/>
      <property name="gw.motion-allowed" value="false"/>
      <property name="gw.interrupted" value="false"/>
    </properties>
    <testcase classname="demo" name="a: A title" time="1.25">
      <properties>
        <property name="proves" value="Device"/>
        <property name="verdict" value="ok"/>
      </properties>
      <system-out>a &lt; b &amp; &quot;c&quot;</system-out>
    </testcase>
  </testsuite>
</testsuites>
`);
  });

  test('is one well-formed document with the same cases, whatever texts the steps contain', {
    tags: 'property',
  }, () => {
    const text = fc.string({ unit: anyCharacter, maxLength: 40 });
    const nasty = fc.oneof(
      text,
      fc.constantFrom(']]>', '<!--', '&lt;', '"/><failure>', '\u0000\u001b[31m', '\ud800', '\ufffe'),
    );
    const verdict = fc.constantFrom('ok', 'wrong', 'skipped', 'not-checked');
    fc.assert(
      fc.property(fc.array(fc.tuple(nasty, nasty, nasty, verdict), { maxLength: 5 }), (rows) => {
        const steps = rows.map(([title, why, shown, verdict]) =>
          step({ title, why, shown, verdict: verdict as StepResult['verdict'], remedy: why }),
        );
        const xml = toJUnit(result(...steps));
        // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what must not be there
        expect(xml).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\ufffe\uffff]/);
        const suite = parseXml(xml).children[0];
        expect(suite?.children.filter(({ name }) => name === 'testcase')).toHaveLength(rows.length);
      }),
      { numRuns: runs(300) },
    );
  });
});

describe('Markdown', () => {
  test('starts with the verdict and its counts, and shows failed steps with their remedy', () => {
    const text = toMarkdown(mixed);
    expect(text).toContain('**Not accepted:** 2 wrong, 1 skipped, 1 not checked, 1 ok.');
    expect(text).toContain('### A title (wrong)\n\n- Why: unit: expected degrees, found radians\n- Fix: Stop.');
    expect(text).toContain('- Tried: `127.0.0.1:8090`');
    expect(text).toContain('| A title | skip | Kim | a\\|b |');
    expect(toMarkdown(result(step({})))).toContain('**All 1 steps are ok.**');
  });

  test('foreign text becomes no markup, no cell and no second line', { tags: 'property' }, () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter }), (text) => {
        const escaped = foreign(text);
        expect(escaped).not.toMatch(/\n/);
        expect(escaped.replace(/\\[\\`*_{}[\]<>#|~!&]/g, '')).not.toMatch(/[\\`*_{}[\]<>#|~!&]/);
      }),
    );
  });
});

test('JSON is the result with the name of its shape', () => {
  expect(JSON.parse(toJson(mixed))).toEqual({ schema: 'gw/checklist-run/1', ...mixed });
});
