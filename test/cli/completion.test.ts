import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Completable, complete, type ValuesOf } from '../../src/cli/completion/complete.ts';
import { printCompletion } from '../../src/cli/completion/print.ts';
import { runGw } from '../e2e/gw.ts';
import { printedBy, root } from './in-process.ts';

const source: Completable = {
  topics: { robot: { description: 'The robot' } },
  commands: {
    'robot:go': {
      summary: 'Drive.',
      flags: {
        site: { name: 'site', type: 'option', char: 's', helpValue: 'FILE', summary: 'Site file.' },
        lang: { name: 'lang', type: 'option', options: ['de', 'en'] },
        only: { name: 'only', type: 'option', helpValue: 'ID', multiple: true },
        dir: { name: 'dir', type: 'option', helpValue: 'DIR' },
        force: { name: 'force', type: 'boolean' },
        secret: { name: 'secret', type: 'boolean', hidden: true },
      },
      args: { station: { name: 'station', description: 'A station.' } },
    },
    'robot:key:new': { summary: 'Make a key.', args: { file: { name: 'file' } } },
    robot: { summary: 'Run it.' },
    version: { summary: 'Version.' },
    hidden: { hidden: true },
  },
};
const own: ValuesOf = async ({ flag, argument, given }) => {
  if (argument === 'station') return ['A', 'B1'].map((value) => ({ value, about: 'station' }));
  return flag === 'only' ? [{ value: `step-of-${given[0]}`, about: '' }] : [];
};
const at = async (...words: string[]) => {
  const { candidates, paths } = await complete(words, source, own);
  return [...candidates.map(({ value }) => value), paths].join(' ');
};

describe('completion', () => {
  it('continues commands and topics, and hides what the help hides', async () => {
    expect(await at('')).toBe('robot version none');
    expect(await at('ver')).toBe('version none');
    expect(await at('robot', '')).toBe('go key none');
    expect(await at('robot', 'key', '')).toBe('new none');
    expect(await at('hid')).toBe('none');
    expect(await at('nothing', '')).toBe('none');
  });

  it('completes flags, each once unless it is repeatable', async () => {
    expect(await at('robot', 'go', '--')).toBe('--site --lang --only --dir --force --help none');
    expect(await at('robot', 'go', '-s', 'x', '--force', '--only', 'a', '--')).toBe('--lang --only --dir --help none');
    expect(await at('robot', 'go', '--la')).toBe('--lang none');
  });

  it('completes values: options, names of gw, files and folders', async () => {
    expect(await at('robot', 'go', '--lang', '')).toBe('de en none');
    expect(await at('robot', 'go', '--lang', 'd')).toBe('de none');
    expect(await at('robot', 'go', '--lang=d')).toBe('--lang=de none');
    expect(await at('robot', 'go', '--lang', '=', 'd')).toBe('--lang=de none');
    expect(await at('robot', 'go', '--site', '')).toBe('files');
    expect(await at('robot', 'go', '-s', 'x')).toBe('files');
    expect(await at('robot', 'go', '--dir', '')).toBe('folders');
    expect(await at('robot', 'go', 'A', '--only', '')).toBe('step-of-A none');
    expect(await at('robot', 'key', 'new', '')).toBe('files');
  });

  it('completes arguments, also behind flags with values, and none beyond the last', async () => {
    expect(await at('robot', 'go', '')).toBe('A B1 none');
    expect(await at('robot', 'go', '--lang', 'de', 'B')).toBe('B1 none');
    expect(await at('robot', 'go', 'A', '')).toBe('none');
    expect(await at('robot', 'go', '--', '')).toBe('none');
  });

  it('answers whatever was typed', { tags: 'property' }, async () => {
    const words = fc.array(fc.oneof(fc.string(), fc.constantFrom('robot', 'go', '--lang', '--lang=', '=', '--', '-s')));
    await fc.assert(
      fc.asyncProperty(words, async (typed) => {
        const { candidates } = await complete(typed, source, own);
        const partial = typed.join('\u0000').replaceAll('\u0000=\u0000', '=').split('\u0000').at(-1) ?? '';
        for (const { value } of candidates) expect(value.startsWith(partial)).toBe(true);
      }),
    );
  });
});

describe('gw __complete', () => {
  const lines = async (...words: string[]) =>
    (await printedBy(() => printCompletion(words, root))).stdout.trimEnd().split('\n');

  it('knows checklists and their steps, facts, faults and shells', async () => {
    const names = (await lines('checklist', 'run', 's')).map((line) => line.split('\t')[0]);
    expect(names).toEqual(['service', 'site', ':files']);
    expect(await lines('checklist', 'run', 'site', '--only', 'pose-u')).toEqual([
      'pose-unit\tThe pose is reported in degrees',
      ':none',
    ]);
    expect((await lines('evidence', 'show', 'angles.tracked')).join()).toContain('angles.tracked-pose-ori\t');
    expect((await lines('sim', 'fault', 'rad')).join()).toContain('radians\t');
    expect((await lines('completion', '')).map((line) => line.trim())).toEqual(['bash', 'zsh', 'fish', ':none']);
  });

  it('answers nothing, and does not fail, where something cannot be read', async () => {
    expect(await lines('checklist', 'run', './none.yaml', '--only', '')).toEqual([':none']);
    expect(await lines('motion', 'go', '')).toEqual([':none']);
    expect(await runGw(['__complete'])).toMatchObject({ code: 0, stderr: '' });
  });
});
