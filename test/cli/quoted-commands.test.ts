import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

interface Command {
  readonly flags: Readonly<
    Record<string, { readonly char?: string; readonly type: string; readonly allowNo?: boolean }>
  >;
  readonly args: Readonly<Record<string, { readonly required?: boolean }>>;
  readonly examples?: readonly string[];
  /** false: accepts any number of arguments. */
  readonly strict?: boolean;
}

const root = fileURLToPath(new URL('../..', import.meta.url));
const read = (path: string) => readFileSync(join(root, path), 'utf8');
const commands: Readonly<Record<string, Command>> = JSON.parse(read('oclif.manifest.json')).commands;

/** The words of a command line up to a shell operator; quotes keep words together. */
function wordsOf(line: string): string[] {
  const words = line.match(/'[^']*'|"[^"]*"|\S+/g) ?? [];
  const end = words.findIndex((word) => /^(#|\||>|2>|<|&|&&|;|\\)/.test(word));
  return end === -1 ? words : words.slice(0, end);
}

/** The error of a command line as typed; null for none. `part`: arguments may be missing. */
function faultOf(line: string, part: boolean): string | null {
  const words = wordsOf(line.replaceAll('<%= config.bin %>', 'gw')).slice(1);
  const nouns = words.slice(0, words.findIndex((word) => !/^[a-z][a-z-]*$/.test(word)) >>> 0);
  const length = [3, 2, 1].find((count) => nouns.length >= count && commands[nouns.slice(0, count).join(':')]);
  if (length === undefined) {
    const topic = nouns.join(':');
    const isTopic = Object.keys(commands).some((id) => id.startsWith(`${topic}:`)) || topic === '';
    return isTopic || ['help', 'autocomplete'].includes(nouns[0] ?? '') ? null : 'no such command';
  }
  const command = commands[nouns.slice(0, length).join(':')] as Command;
  let given = 0;
  for (let at = length; at < words.length; at += 1) {
    const word = words[at] ?? '';
    if (!/^--?[a-z]/.test(word)) {
      given += 1;
      continue;
    }
    const [name = '', value] = word.replace(/^--?/, '').split('=');
    if (name === 'help') return null;
    const flag = Object.entries(command.flags).find(
      ([key, { char, allowNo }]) =>
        key === name || (word.length === 2 && char === name) || (allowNo && `no-${key}` === name),
    )?.[1];
    if (flag === undefined) return `no such flag: ${word}`;
    if (flag.type === 'option' && value === undefined) {
      at += 1;
      if (words[at] === undefined && !part) return `${word} without a value`;
    }
  }
  const args = Object.values(command.args);
  if (command.strict !== false && given > args.length) return `${given} arguments where it takes ${args.length}`;
  const needed = args.filter(({ required }) => required).length;
  return part || given >= needed ? null : `${given} arguments where it needs ${needed}`;
}

/** Bytes of the heartbeat's key id that resemble a command. */
const notCommands = ['gw heartbeat key id'];

/** Command lines of a page: complete ones of its fenced blocks, and those named in running text. */
function quotedIn(text: string): { line: string; part: boolean }[] {
  const blocks = [...text.matchAll(/^```[^\n]*\n(.*?)^```/gms)].flatMap(([, block = '']) => block.split('\n'));
  const prose = text.replace(/^```.*?^```/gms, '');
  return [
    ...blocks
      // Text two spaces after a command is its description.
      .flatMap((line) => line.match(/^ *(?:\$ )?(?:[A-Z_]+=\S+ )?(gw .*?)(?: {2,}.*)?$/)?.[1] ?? [])
      .map((line) => ({ line, part: false })),
    ...[...prose.matchAll(/`(gw [^`]*)`/g)].map(([, line = '']) => ({ line: line.replaceAll('\n', ' '), part: true })),
  ].filter(({ line }) => !notCommands.includes(line));
}

const pages = [
  'README.md',
  ...readdirSync(join(root, 'docs'), { encoding: 'utf8' }).map((name) => `docs/${name}`),
].filter((name) => name.endsWith('.md') && name !== 'docs/commands.md');
const sources = readdirSync(join(root, 'src'), { encoding: 'utf8', recursive: true })
  .filter((name) => name.endsWith('.ts'))
  .map((name) => `src/${name}`);

describe('a quoted command', () => {
  it.each(pages)('in %s can be typed as printed', (page) => {
    const wrong = quotedIn(read(page)).map(({ line, part }) => ({ line, fault: faultOf(line, part) }));
    expect(wrong.filter(({ fault }) => fault !== null)).toEqual([]);
  });

  it('in the examples of the help can be typed as printed, completely', () => {
    const examples = Object.values(commands).flatMap(({ examples }) => examples ?? []);
    expect(examples.length).toBeGreaterThan(Object.keys(commands).length);
    const wrong = examples
      .map((example) => example.slice(example.indexOf('<%= config.bin %>')))
      .map((line) => ({ line, fault: faultOf(line, false) }));
    expect(wrong.filter(({ fault }) => fault !== null)).toEqual([]);
  });

  it('in a remedy or a hint can be typed as printed', () => {
    const quoted = sources.flatMap((source) => {
      const text = read(source);
      const strings = (text.match(/'[^'\n]*'|"[^"\n]*"/g) ?? []).join('\n');
      return [...strings.matchAll(/`(gw [^`]*)`/g), ...text.matchAll(/\\`(gw [^`]*)\\`/g)].map(([, line = '']) => ({
        source,
        line,
      }));
    });
    expect(quoted.length).toBeGreaterThan(50);
    const wrong = quoted.map(({ source, line }) => ({ source, line, fault: faultOf(line, true) }));
    expect(wrong.filter(({ fault }) => fault !== null)).toEqual([]);
  });

  it('is rejected by this test when it cannot be typed', () => {
    expect(faultOf('gw site check --sight x', false)).toBe('no such flag: --sight');
    expect(faultOf('gw site czech', true)).toBe('no such command');
    expect(faultOf('gw map show', false)).toBe('0 arguments where it needs 1');
    expect(faultOf('gw map show 1 2', false)).toBe('2 arguments where it takes 1');
  });
});
