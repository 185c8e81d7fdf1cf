import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type KnownCommand, knownCommands, unknownCommandError, unknownFlagError } from '../../src/cli/did-you-mean.ts';
import { character } from './characters.ts';

/** As the framework lists them: every command is a topic, too. */
const known = knownCommands({
  commands: [
    { id: 'kettle:boil', args: {} },
    { id: 'kettle:descale', args: {} },
    { id: 'kettle:filter:change', args: {} },
    { id: 'oven:heat', args: { degrees: {} } },
    { id: 'oven:cool', args: {} },
    { id: 'secret', hidden: true, args: {} },
    { id: 'clean', args: {} },
    { id: 'clean:all', args: {} },
    { id: 'explain', strict: false, args: {} },
  ],
  topics: ['kettle', 'kettle:boil', 'kettle:filter', 'oven', 'oven:heat', 'clean', 'secret'].map((name) => ({ name })),
});

const suggested = (line: string) => unknownCommandError(line.split(' '), known)?.details?.didYouMean;

describe('an unknown command', () => {
  it.each([
    ['ketle boil', ['gw kettle boil']],
    ['kettle bol', ['gw kettle boil']],
    ['KETTLE Boil', ['gw kettle boil']],
    ['Kettle bol', ['gw kettle boil']],
    ['kettel', ['gw kettle']],
    ['ovne heat 200', ['gw oven heat']],
    ['oven haet 200', ['gw oven heat']],
    ['boil kettle', ['gw kettle boil']],
    ['boil', ['gw kettle boil']],
    ['change', ['gw kettle filter change']],
    ['desc', ['gw kettle descale']],
    ['kettle:bol', ['gw kettle boil']],
    ['kettle filter chnage', ['gw kettle filter change']],
    ['claen al', ['gw clean all']],
  ])('gw %s suggests %j', (line, expected) => expect(suggested(line)).toEqual(expected));

  it.each(['fridge', 'kettle dance', 'secrte', 'x', 'oven cool now', 'kettle boil boil'])(
    'gw %s has no similar command, and none is suggested',
    (line) => {
      expect(suggested(line)).toBeUndefined();
      expect(unknownCommandError(line.split(' '), known)?.remedy).toMatch(/^`gw help/);
    },
  );

  it('names at most three, all of them equally near', () => {
    const about = { isTopic: false, takesArguments: false };
    const many: KnownCommand[] = ['cat', 'bat', 'hat', 'rat', 'coat'].map((id) => ({ id, ...about }));
    expect(unknownCommandError(['xat'], many)?.remedy).toMatch(/^Did you mean `gw bat`, `gw cat` or `gw hat`\?/);
  });

  it.each(['kettle', 'kettle boil', 'clean', 'oven heat 200', 'explain anything at all', 'kettle boil --help'])(
    'does not apply to gw %s',
    (line) => expect(unknownCommandError(line.split(' '), known)).toBeUndefined(),
  );

  it('reports an unexpected argument for a known command', () => {
    const { message } = unknownCommandError(['oven', 'cool', 'now'], known) ?? {};
    expect(message).toBe('Unexpected argument of gw oven cool: now');
  });

  it.each(['sim', 'demo', 'sim cloud stop', 'demo --keep'])('gw %s names the package that has it', (line) => {
    const error = unknownCommandError(line.split(' '), known);
    expect(error?.message).toMatch(/^The package of a gateway has no simulator: gw /);
    expect(error?.remedy).toContain('npm tarball (docs/install.md');
  });

  it('has its usual error where the simulator is there', () => {
    const error = unknownCommandError(['sim', 'x'], [...known, { id: 'sim', isTopic: true, takesArguments: false }]);
    expect(error?.message).toBe('Unknown command: gw sim x');
  });

  it('states that the command must come first', () => {
    expect(unknownCommandError(['--dir', 'x', 'kettle'], known)?.message).toBe('No command before --dir.');
  });

  it('cannot control the terminal, and is a usage error whatever was typed', { tags: 'property' }, () => {
    const word = fc.string({ unit: character, minLength: 1, maxLength: 20 });
    fc.assert(
      fc.property(fc.array(word, { minLength: 1, maxLength: 4 }), (words) => {
        const error = unknownCommandError(words, known);
        fc.pre(error !== undefined);
        expect(error?.code).toBe('USAGE');
        // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
        expect(error?.message).not.toMatch(/[\u0000-\u001f\u007f-\u009f]/);
      }),
    );
  });
});

describe('an unknown flag', () => {
  const flags = { json: {}, 'log-level': {}, site: {}, wait: { allowNo: true } };
  const errorOf = (...wrong: string[]) =>
    unknownFlagError(Object.assign(new Error('x'), { flags: wrong, parse: { input: { flags } } }), 'oven:heat');

  it.each([
    ['--jsn', '--json'],
    ['--josn', '--json'],
    ['--loglevel', '--log-level'],
    ['--sight', undefined],
    ['--nowait', '--no-wait'],
    ['--sit=x.yaml', '--site'],
    ['--colour', undefined],
    ['--no-colour', '--no-color'],
    ['-x', undefined],
  ])('%s suggests %s', (wrong, expected) => {
    expect(errorOf(wrong)?.details?.didYouMean).toEqual(expected === undefined ? undefined : [expected]);
    expect(errorOf(wrong)?.remedy).toContain('`gw oven heat --help`');
  });

  it('is reported with the other unknown flags', () => {
    expect(errorOf('--jsn', '--zzzz')?.message).toBe('Unknown flags: --jsn, --zzzz');
  });

  it('does not apply to other errors', () => {
    expect(unknownFlagError(new Error('flags'), 'oven')).toBeUndefined();
    expect(unknownFlagError({ flags: ['--jsn'] }, 'oven')).toBeUndefined();
  });
});
