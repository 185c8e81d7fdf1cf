import { stripVTControlCharacters } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { renderRecordDiff } from '../../../src/cli/render/record.ts';
import type { CheckRecord, StepResult } from '../../../src/lib/checklist/index.ts';
import { recordDiffSchema } from '../../../src/lib/toolkit/checklist/checklist.result.ts';
import { diffRecords, isSteady, steadyText } from '../../../src/lib/toolkit/checklist/diff.ts';
import { answeredStep, deviantStep, measuredStep, recordOf, robotOf, stepOf, wrongStep } from '../../report/records.ts';
import { anyText, forAll } from '../kit.ts';

const side = (record: CheckRecord, path = 'a.json') => ({ path, state: 'verified', record }) as const;
const between = (from: CheckRecord, to: CheckRecord) => diffRecords(side(from), side(to, 'b.json'));
const ofSteps = (...steps: StepResult[]) => recordOf([robotOf(steps)]);
const shown = (from: CheckRecord, to: CheckRecord) => stripVTControlCharacters(renderRecordDiff(between(from, to)));

const deviation = { reason: '443 is enough here', approvedBy: 'K. Muster', at: '2026-11-21T10:00:00.000Z' };
const value = (name: string, of: string | number | boolean, unit: string | null = null) => ({
  name,
  value: of,
  unit,
  mark: 'HINWEIS' as const,
  source: 'gw',
});

describe('an accepted deviation', () => {
  const changed = (from: Partial<StepResult>, to: Partial<StepResult>) => {
    const diff = between(ofSteps({ ...deviantStep, ...from }), ofSteps({ ...deviantStep, ...to }));
    expect(recordDiffSchema.parse(diff)).toEqual(diff);
    return diff.robots[0]?.deviations.flatMap((one) => one.changed);
  };

  it('that was accepted again, at another time, is no change', () => {
    const later = { deviation: { ...deviation, at: '2027-05-02T08:11:12.000Z' } };
    expect(changed({}, later)).toEqual([]);
    const [from, to] = [ofSteps(deviantStep), ofSteps({ ...deviantStep, ...later })];
    expect(between(from, to)).toMatchObject({ same: true, worse: false });
    expect(shown(from, to).split('\n')[0]).toBe('No difference between the two visits.');
  });

  it('differs with another person or another reason', () => {
    expect(changed({}, { deviation: { ...deviation, approvedBy: 'L. Mayer' } })).toEqual(['approved-by']);
    expect(changed({}, { deviation: { ...deviation, reason: 'see ticket' } })).toEqual(['reason']);
    expect(changed({}, { deviation: null })).toEqual(['withdrawn']);
    expect(changed({ deviation: null }, {})).toEqual(['accepted']);
    const both = { ...deviation, approvedBy: 'L. Mayer', reason: 'see ticket' };
    expect(shown(ofSteps(deviantStep), ofSteps({ ...deviantStep, deviation: both }))).toContain(
      'deviation changed (other reason, other person)  MQTT on 8883: see ticket; by L. Mayer',
    );
  });

  it('differs where the result of the step is another than when it was accepted', () => {
    expect(changed({}, { verdict: 'not-checked' })).toEqual(['verdict']);
    const error = deviantStep.error;
    if (error === null) throw new Error('the sample has an error');
    expect(changed({}, { error: { ...error, code: 'TLS_FAILED' } })).toEqual(['finding']);
    expect(changed({}, { error: { ...error, message: 'mqtt.example.com:443 does not answer' } })).toEqual(['finding']);
    expect(changed({ values: [value('drift', 3, 'mm')] }, { values: [value('drift', 30, 'mm')] })).toEqual(['value']);
    // The duration of the same failure differs in every run.
    const late = { ...error, message: 'no answer within 3.1 s', tried: 'mqtt.example.com:8883, 3.1 s' };
    const soon = { ...error, message: 'no answer within 2.98 s', tried: 'mqtt.example.com:8883, 3.0 s' };
    expect(changed({ error: late }, { error: soon })).toEqual([]);
    expect(changed({ values: [value('waited', 3, 's')] }, { values: [value('waited', 4, 's')] })).toEqual([]);
  });
});

describe('a step that is not ok in both records', () => {
  const wrongFor = (found: string, expected = 'degrees', path = 'poseUnit.verdict') => ({
    ...wrongStep,
    why: `${path}: expected ${expected}, found ${found}`,
    expectations: [{ path, expected, found, verdict: 'wrong' as const }],
  });
  const reasons = (from: StepResult, to: StepResult) => between(ofSteps(from), ofSteps(to)).robots[0]?.reasons ?? [];

  it('is listed where it fails for another reason, and counts as a change', () => {
    expect(reasons(wrongFor("'not decided'"), wrongFor("'radians'"))).toMatchObject([
      { id: 'pose-unit', verdict: 'wrong', to: "poseUnit.verdict: expected degrees, found 'radians'" },
    ]);
    expect(reasons(wrongFor("'x'"), wrongFor("'x'", 'radians'))).toHaveLength(1);
    expect(reasons(wrongFor("'x'"), wrongFor("'x'", 'degrees', 'other'))).toHaveLength(1);
    expect(between(ofSteps(wrongFor("'a'")), ofSteps(wrongFor("'b'")))).toMatchObject({ same: false, worse: false });
    expect(shown(ofSteps(wrongFor("'a'")), ofSteps(wrongFor("'b'")))).toContain('1 not ok for another reason.');
    const skipped = stepOf({ verdict: 'skipped', why: 'It needs network, which is not ok.' });
    expect(reasons(skipped, { ...skipped, why: 'It needs identity, which is not ok.' })).toHaveLength(1);
  });

  it('is the same where only figures, times and folders in the reason differ', () => {
    expect(reasons(wrongFor('0.42'), wrongFor('0.57'))).toEqual([]);
    expect(reasons(wrongFor("'2026-11-21T10:00:00Z'"), wrongFor("'2027-05-02T08:11:12.5Z'"))).toEqual([]);
    const why = (text: string) => stepOf({ verdict: 'not-checked', why: text });
    expect(reasons(why('No message received for 3.1 s.'), why('No message received for 12 s.'))).toEqual([]);
    expect(reasons(why("no file '/tmp/gw-a1/maps.tar.gz'"), why("no file '/tmp/gw-b2/maps.tar.gz'"))).toEqual([]);
    expect(reasons(why("no file '/tmp/gw-a1/maps.tar.gz'"), why("no file '/tmp/gw-a1/site.yaml'"))).toHaveLength(1);
    expect(reasons(stepOf({ why: 'ok at 10:00' }), stepOf({ why: 'ok at 11:00' }))).toEqual([]);
  });
});

describe('a value that differs in every run', () => {
  const changes = {
    id: '7a5fbb0e-9f4e-4a5e-8d2e-0c2f7a5f1e22',
    edition: 3,
    technician: { name: 'Bo Techniker', initials: 'BT' },
    startedAt: '2027-05-02T07:00:00.000Z',
    endedAt: '2027-05-02T09:00:00.000Z',
    resumedAt: ['2027-05-02T08:00:00.000Z'],
    tookMs: 12,
    attachments: [],
    signature: null,
  };

  it('is not a change: times, durations, ids and editions of the run, photos, signer', () => {
    const from = recordOf([robotOf([stepOf(), measuredStep, answeredStep])]);
    const steps = [stepOf(), measuredStep, answeredStep].map((step) => ({
      ...step,
      at: '2027-05-02T08:30:00.000Z',
      tookMs: 99_999,
      shown: 'answered in 42 ms',
      measured: { anything: 'else' },
      earlier: [],
      answer: step.answer && { ...step.answer, at: null, attachments: ['009-x.jpg'], by: 'Bo Techniker' },
    }));
    const to = recordOf([robotOf(steps)], changes);
    const diff = between(from, to);
    expect(diff).toMatchObject({ same: true, worse: false });
    expect(recordDiffSchema.parse(diff)).toEqual(diff);
  });

  it.each([
    ['latency-median', 11.4, 13.9, 'ms'],
    ['certificate-days-left', 300, 120, 'd'],
    ['backup-age', 3, 900, 'h'],
    ['pose-rate', 10.02, 9.4, 'Hz'],
    ['taken-at', '2026-11-21T10:00:00.000Z', '2027-05-02T08:11:12.000Z', null],
    [
      'backup',
      '/srv/backups/maps-SN0007-20261121T100000Z.tar.gz',
      '/media/stick/maps-SN0007-20270502T081112Z.tar.gz',
      null,
    ],
    ['backup', 'C:\\backups\\maps.tar.gz', 'D:\\maps.tar.gz', null],
    ['run-id', '7a5fbb0e-9f4e-4a5e-8d2e-0c2f7a5f1e22', '8a5fbb0e-9f4e-4a5e-8d2e-0c2f7a5f1e22', null],
    ['bootId', 'a1', 'b2', null],
    ['move.action-id', 17, 912, null],
    ['note', 'stood still for 3.2 s', 'stood still for 12 s', null],
  ] as const)('is not a change: %s %s and %s', (name, from, to, unit) => {
    const [a, b] = [value(name, from, unit), value(name, to, unit)];
    const diff = between(ofSteps(stepOf({ values: [a] })), ofSteps(stepOf({ values: [b] })));
    expect(diff).toMatchObject({ same: true, robots: [{ values: [{ counts: false }] }] });
    const text = shown(ofSteps(stepOf({ values: [a] })), ofSteps(stepOf({ values: [b] })));
    expect(text.split('\n')[0]).toBe('No difference between the two visits.');
    expect(text).toContain('Not counted: 1 value that differs at every run');
  });

  it.each([
    ['height', 12, 13, 'mm'],
    ['stop-distance', 0.31, 0.52, 'm'],
    ['pose-rate', 10, 1, 'Hz'],
    ['topics', 12, 11, null],
    ['software', '2.12.3', '2.12.4', null],
    ['serial', 'SN0007', 'SN0008', null],
    ['map-uid', '7a5fbb0e-9f4e-4a5e-8d2e-0c2f7a5f1e22', '8a5fbb0e-9f4e-4a5e-8d2e-0c2f7a5f1e22', null],
    ['certificate-valid-until', '2027-01-01T00:00:00Z', '2029-01-01T00:00:00Z', null],
    ['mac', '02:00:00:00:00:0a', '02:00:00:00:00:0b', null],
    ['mac', '02:00:00:10:20:30', '02:00:00:10:20:31', null],
    ['address', '10.0.0.2:8090', '10.0.0.3:8090', null],
    ['locked', true, false, null],
    ['backup', '/srv/backups/maps-SN0007.tar.gz', '/srv/backups/maps-SN0008.tar.gz', null],
    ['valid', 'ok', 'wrong', null],
    ['kind', 1, '1', null],
  ] as const)('does not hide a real change: %s %s and %s', (name, from, to, unit) => {
    const [a, b] = [value(name, from, unit), value(name, to, unit)];
    const diff = between(ofSteps(stepOf({ values: [a] })), ofSteps(stepOf({ values: [b] })));
    expect(diff).toMatchObject({ same: false, robots: [{ values: [{ name, from, to, counts: true }] }] });
  });

  it('is a change where unit or mark differ, or the value is new or gone', () => {
    const [ms, s] = [value('latency', 12, 'ms'), value('latency', 12, 's')];
    for (const [from, to] of [
      [[ms], [s]],
      [[ms], [{ ...ms, value: 13, mark: 'BELEGT' as const }]],
      [[ms], []],
      [[], [ms]],
    ]) {
      expect(between(ofSteps(stepOf({ values: from ?? [] })), ofSteps(stepOf({ values: to ?? [] })))).toMatchObject({
        same: false,
        robots: [{ values: [{ counts: true }] }],
      });
    }
  });

  it('shows the current text of a persistent red line, not its time', () => {
    const line = (detail: string) =>
      recordOf([robotOf([stepOf()], { redLines: [{ id: 'tablet-open', title: 'Open', detail, remedy: 'lock' }] })]);
    const [early, late] = ['Port 5555 answered at 2026-11-21 10:00.', 'Port 5555 answered at 2027-05-02 08:00.'];
    expect(between(line(early), line(late))).toMatchObject({ same: true });
    expect(between(line(early), line('192.0.2.9 answers.'))).toMatchObject({
      same: false,
      robots: [{ redLines: { added: [], gone: [], changed: [{ id: 'tablet-open', to: '192.0.2.9 answers.' }] } }],
    });
  });

  it('is compared symmetrically, and equal values are never a change', { tags: 'property' }, () => {
    const any = fc.oneof(
      fc.string(),
      fc.double({ noNaN: true }),
      fc.boolean(),
      fc.date({ noInvalidDate: true }).map(String),
    );
    const unit = fc.constantFrom('ms', 'Hz', 'mm', null);
    forAll(fc.string(), any, any, unit, (name, a, b, of) => {
      const [one, other] = [value(name, a, of), value(name, b, of)];
      expect(isSteady(name, one, one)).toBe(true);
      expect(isSteady(name, one, other)).toBe(isSteady(name, other, one));
    });
    forAll(anyText(5000), (text) => typeof steadyText(text) === 'string');
  });

  it('ends for long texts of any piece', { tags: 'large' }, () => {
    for (const piece of ['/a', '1', '00:', '2026-', '\\', '~/', '9 '] as const) steadyText(piece.repeat(50_000));
  });
});
