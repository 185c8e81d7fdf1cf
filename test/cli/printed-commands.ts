import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Command, Errors, Flags, Parser } from '@oclif/core';

const root = fileURLToPath(new URL('../..', import.meta.url));
export const readProjectFile = (path: string) => readFileSync(join(root, path), 'utf8');

interface Listed {
  readonly examples?: readonly string[];
  /** Of the built module: `dist`, `commands`, … */
  readonly relativePath: readonly string[];
}
export const listedCommands: Readonly<Record<string, Listed>> = JSON.parse(
  readProjectFile('oclif.manifest.json'),
).commands;

/** A command line as a person would type it. `part`: named in running text, so arguments may be missing. */
export interface PrintedCommand {
  readonly line: string;
  readonly part: boolean;
}

/** Every page but the generated list of commands, whose lines are the examples of the help. */
export const printedPages = [
  'README.md',
  'SECURITY.md',
  'CONTRIBUTING.md',
  ...readdirSync(join(root, 'docs'), { encoding: 'utf8' }).map((name) => `docs/${name}`),
].filter((name) => name.endsWith('.md') && name !== 'docs/commands.md');

/** Program output, and the heartbeat's key id in bytes, which begin like a command. */
const notCommands = [/^gw \d/, /^gw heartbeat key id$/];

/** What may stand before a command of gw on the same line. */
const LEAD = String.raw`(?:\$ )?(?:sudo -u gw |npx )?(?:export )?(?:[A-Z_]+=(?:\$\()?)?`;
/** Text two spaces after a command is its description, and what follows `|` or `)` another program. */
const COMPLETE = new RegExp(String.raw`^ *${LEAD}(gw .*?)(?: {2,}.*| \|.*|\)$)?$`);

/** Command lines of a page: complete ones of its fenced blocks, and those named in running text. */
export function printedIn(text: string): PrintedCommand[] {
  const blocks = [...text.matchAll(/^```[^\n]*\n(.*?)^```/gms)].flatMap(([, block = '']) => block.split('\n'));
  const prose = text.replace(/^```.*?^```/gms, '');
  return [
    ...blocks.flatMap((line) => line.match(COMPLETE)?.[1] ?? []).map((line) => ({ line, part: false })),
    ...[...prose.matchAll(/`(?:sudo -u gw |npx )?(gw [^`]*)`/g)].map(([, line = '']) => ({
      line: line.replaceAll('\n', ' '),
      part: true,
    })),
  ].filter(({ line }) => !notCommands.some((pattern) => pattern.test(line)));
}

/** The words of a command line up to a shell operator; quotes keep words together. */
export function wordsOf(line: string): string[] {
  const words = line.match(/(?:'[^']*'|"[^"]*"|[^\s'"])+/g) ?? [];
  const end = words.findIndex((word) => /^(#|\||>|2>|<|&|&&|;|\\|…)/.test(word));
  return (end === -1 ? words : words.slice(0, end)).map((word) => word.replace(/'([^']*)'|"([^"]*)"/g, '$1$2'));
}

/** The id of the command that these words begin with, and how many of them name it; null: a topic, or no command. */
function commandOf(words: readonly string[]): { readonly id: string; readonly length: number } | null {
  for (const length of [3, 2, 1]) {
    const id = words.slice(0, length).join(':');
    if (words.length >= length && listedCommands[id] !== undefined) return { id, length };
  }
  return null;
}

/** Stands for a value that the program fills in, and that only it knows to be valid. */
export const FILLED_IN = 'filled-in';

/** Kinds of errors that only a missing argument or flag causes, or a file that is not on this machine. */
const MISSING =
  /^Missing \d+ required arg|^Missing required flag|expects a value$|^Exactly one of the following must be provided/;
/** Of a list of errors; the first of them follows. */
const LEADING = /^The following errors? occurred:$|^Parsing --/;
const NO_FILE = /^No (file|directory) found at /;

/** What the framework rejects in a command line as typed; null: nothing. */
export async function faultOf({ line, part }: PrintedCommand): Promise<string | null> {
  const words = wordsOf(line.replaceAll('<%= config.bin %>', 'gw')).slice(1);
  const found = commandOf(words);
  if (found === null) {
    const nouns = words.filter((word) => !word.startsWith('-'));
    if (nouns.some((noun) => noun.includes(FILLED_IN))) return null;
    const isTopic = Object.keys(listedCommands).some((id) => id.startsWith(`${nouns.join(':')}:`));
    return isTopic || nouns.length === 0 || nouns[0] === 'help' ? null : 'no such command';
  }
  const argv = words.slice(found.length);
  if (argv.includes('--help') || argv.includes('-h')) return null;
  const [, ...path] = listedCommands[found.id]?.relativePath ?? [];
  const source = join(root, 'src', ...path).replace(/\.js$/, '.ts');
  const { default: command } = (await import(source)) as { default: Command.Class };
  try {
    await Parser.parse(argv, {
      flags: { ...command.baseFlags, ...command.flags, json: Flags.boolean() },
      args: command.args,
      strict: command.strict,
    });
    return null;
  } catch (error) {
    if (!(error instanceof Errors.CLIError)) throw error;
    const message =
      error.message
        .split('\n')
        .find((text) => !LEADING.test(text))
        ?.trim() ?? '';
    const isUnknown = NO_FILE.test(message) || /\b(?:filled-in|N)\b/.test(error.message);
    return isUnknown || (part && MISSING.test(message)) ? null : message;
  }
}
