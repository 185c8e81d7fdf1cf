import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { z } from 'zod';
import { type Catalogue, parseChecklist } from '../../../src/lib/checklist/index.ts';
import { GwError } from '../../../src/lib/error/index.ts';
import { forAllOf } from '../../toolkit/kit.ts';

const entry = { summary: 's', moves: false, run: async () => ({}) };
const catalogue: Catalogue = {
  'chassis probe': { ...entry, with: z.strictObject({ seconds: z.number().min(1).max(60).optional() }) },
  'tour run': { ...entry, moves: true, with: z.strictObject({ tour: z.string() }) },
};

/** The same checks, with a run that has every option that they can use. */
const given: Catalogue = {
  ...catalogue,
  'chassis probe': { ...(catalogue['chassis probe'] as (typeof catalogue)[string]), given: ['password'] },
};

const good = {
  id: 'probe',
  title: 'The chassis answers',
  proves: 'Device',
  run: 'chassis probe',
  expect: { 'identity.serial': 'not-empty' },
  remedy: 'Switch it on.',
};
const file = (...steps: object[]) => ({
  schema: 'gw/checklist/1',
  name: 'own',
  title: 'Own',
  purpose: 'To see.',
  steps,
});

const written = (value: unknown) => stringify(value, { aliasDuplicateObjects: false });

function messageOf(value: unknown): string {
  try {
    parseChecklist(typeof value === 'string' ? value : written(value), 'own.yaml', catalogue);
  } catch (error) {
    expect(error).toBeInstanceOf(GwError);
    expect(error).toMatchObject({ code: 'CHECKLIST_INVALID', exitCode: 2 });
    return (error as GwError).message;
  }
  return '';
}

describe('a checklist file', () => {
  test('is compiled when it is valid', () => {
    const list = parseChecklist(written(file(good, { ...good, id: 'again', needs: ['probe'] })), 'own.yaml', catalogue);
    expect(list.steps.map(({ id, kind, needs }) => ({ id, kind, needs }))).toEqual([
      { id: 'probe', kind: 'run', needs: [] },
      { id: 'again', kind: 'run', needs: ['probe'] },
    ]);
  });

  test('reports every mistake at once, with its line', () => {
    const text = written(
      file(
        { ...good, run: 'chasis probe', titel: 'x' },
        { ...good, with: { secnds: 3 }, needs: ['prob'] },
        { ...good, id: 'three', expect: { 'a..b': 1, rate: { 'at-leats': 3 } } },
      ),
    );
    const message = messageOf(text);
    expect(message).toContain(
      "found 'chasis probe', expected one of 'chassis probe', 'tour run'; did you mean 'chassis probe'?",
    );
    expect(message).toContain("steps[0].titel: found the unknown key 'titel'");
    expect(message).toContain("steps[1].id: found 'probe', expected a unique id");
    expect(message).toContain(
      "steps[1].with.secnds: found the unknown key 'secnds', expected one of seconds; did you mean 'seconds'?",
    );
    expect(message).toContain("steps[1].needs[0]: found 'prob', expected the id of another step");
    expect(message).toContain('steps[2].expect');
    expect(message).toContain("did you mean 'at-least'?");
    expect(
      message
        .split('\n')
        .slice(1)
        .every((line) => /^ {2}own\.yaml:\d+:\d+: /.test(line)),
    ).toBe(true);
  });

  const needing = (id: string, ...needs: string[]) => ({ ...good, id, needs });
  test.each([
    ['needs itself', [needing('probe', 'probe')], 'a cycle: probe needs probe'],
    [
      'is needed by what it needs',
      [needing('a', 'c'), needing('b', 'a'), needing('c', 'b')],
      'a cycle: a needs c needs b needs a',
    ],
    ['needs a later one', [needing('a', 'b'), needing('b')], 'b, which comes later'],
  ])('is rejected when the needs of its steps are wrong: a step %s', (_name, steps, text) => {
    expect(messageOf(file(...steps))).toContain(text);
  });

  const lost = { run: undefined };
  const lacking = { unavailable: 'it has no tunnel.' };
  test.each<[string, object, string]>([
    ['has neither run nor confirm', { ...lost, expect: undefined }, 'a step without run, reads, confirm'],
    ['has both run and confirm', { confirm: 'Is it?' }, 'confirm beside run'],
    ['expects nothing', { expect: {} }, 'a step without expectations proves nothing'],
    ['moves, and does not say so', { run: 'tour run', with: { tour: 'a' } }, "true: 'tour run' moves the robot"],
    ['lacks an option', { run: 'tour run', moves: true }, 'steps[0].with.tour: found nothing, expected text'],
    ['has too large an option', { with: { seconds: 900 } }, 'with.seconds: found 900, expected at most 60'],
    ['shows a broken path', { shows: 'serial {identity..serial}' }, 'expected text with paths in braces'],
    ['reads a missing step', { ...lost, reads: 'prob' }, 'the id of an earlier step with run:'],
    ['reads itself', { ...lost, reads: 'probe' }, 'the id of an earlier step with run:'],
    ['reads a result and has options', { ...lost, reads: 'x', with: {} }, 'with beside reads'],
    ['needs an option, and has no question', { given: 'password' }, 'the question to ask when the check cannot run'],
    ['depends on an unknown option', { given: 'money', confirm: 'Is it?' }, 'steps[0].given'],
    [
      'measures, and needs an option',
      { ...lost, measure: 'How?', unit: 'm', given: 'password' },
      'given beside measure',
    ],
    ['is unsupported, and has expectations', { ...lost, ...lacking }, 'expect beside unavailable'],
    ['is unsupported, and has a check', lacking, 'unavailable beside run'],
    ['asks, and has expectations', { ...lost, confirm: 'Is it?' }, 'expect beside confirm'],
  ])('is rejected when a step %s', (_name, change, text) => {
    const step = Object.fromEntries(Object.entries({ ...good, ...change }).filter(([, value]) => value !== undefined));
    expect(messageOf(file(step))).toContain(text);
  });

  test('a step with a fallback question is asked, or checked where the run has what it needs', () => {
    const text = written(file({ ...good, given: 'password', confirm: 'Did you see it?' }));
    const asking = parseChecklist(text, 'own.yaml', catalogue).steps[0];
    expect(asking).toMatchObject({ kind: 'confirm', question: 'Did you see it?', instead: 'password' });
    const checked = parseChecklist(text, 'own.yaml', given).steps[0];
    expect(checked).toMatchObject({ kind: 'run', run: 'chassis probe' });
    const { sha256 } = parseChecklist(text, 'own.yaml', given);
    expect(sha256).toBe(parseChecklist(text, 'own.yaml', catalogue).sha256);
  });

  test('no step may depend on an unsupported step, nor on a section with one', () => {
    const { run: _, expect: __, ...rest } = good;
    const lacking = { ...rest, id: 'tunnel', unavailable: 'it has no tunnel yet.' };
    expect(messageOf(file(lacking, { ...good, needs: ['tunnel'] }))).toContain('expected a step that can be ok');
    const sections = [
      { id: 'cloud', title: 'Cloud', steps: [lacking] },
      { id: 'rest', title: 'Rest', needs: ['cloud'], steps: [good] },
    ];
    expect(messageOf({ ...file(), steps: undefined, sections })).toContain('expected a step that can be ok');
    expect(messageOf(file(lacking, good))).toBe('');
  });

  test('is rejected when it is empty, not a mapping, of another shape, with aliases, or too large', () => {
    expect(messageOf('')).toContain('an empty file');
    expect(messageOf('- a\n')).toContain('expected keys and values');
    expect(messageOf({ ...file(good), schema: 'gw/checklist/2' })).toContain("expected 'gw/checklist/1'");
    expect(messageOf('a: &x 1\nb: *x\n')).toContain('alias');
    expect(messageOf(`# ${'x'.repeat(300_000)}\n`)).toContain('at most 256 KiB');
  });

  test('any change to any value yields a valid checklist or CHECKLIST_INVALID, never another error', {
    tags: 'property',
  }, () => {
    const more = ['needs', 'with', 'confirm', 'moves', 'shows', 'withinS', '__proto__', 'constructor'];
    const keys = [...Object.keys(good), ...more];
    const change = fc.dictionary(fc.constantFrom(...keys), fc.jsonValue(), { maxKeys: 3 });
    forAllOf(300)(change, change, (a, b) => {
      messageOf(JSON.stringify(file({ ...good, ...a }, { ...good, id: 'two', ...b })));
    });
  });
});
