import leven from 'leven';
import { GwError } from '../lib/error/index.ts';
import { simulatorTopics } from './left-out.ts';
import { printable } from './output.ts';

/** A command or a topic, as far as it matters for what was typed. */
export interface KnownCommand {
  /** Words with a space between: `heartbeat key new`. */
  readonly id: string;
  readonly isTopic: boolean;
  readonly takesArguments: boolean;
}

/** What the framework knows of commands and topics; its ids have colons, or spaces once help was rendered. */
export interface CommandSource {
  readonly commands: readonly {
    readonly id: string;
    readonly hidden?: boolean | undefined;
    readonly strict?: boolean | undefined;
    readonly args?: Readonly<Record<string, unknown>> | undefined;
  }[];
  readonly topics: readonly { readonly name: string; readonly hidden?: boolean | undefined }[];
}

const MAX_SUGGESTIONS = 3;
/** Costs as much as one wrong letter: words in another order, a word left out, the beginning of a word. */
const DETOUR = 1;
const MIN_PREFIX_LENGTH = 3;

export function knownCommands({ commands, topics }: CommandSource): KnownCommand[] {
  const known = new Map<string, KnownCommand>();
  const ids = commands.map(({ id }) => id.replaceAll(':', ' '));
  for (const { name, hidden } of topics) {
    const id = name.replaceAll(':', ' ');
    // The framework calls every command a topic as well.
    const isTopic = ids.some((command) => command.startsWith(`${id} `));
    if (!hidden && isTopic) known.set(id, { id, isTopic, takesArguments: false });
  }
  for (const { id: framed, hidden, strict, args } of commands) {
    const id = framed.replaceAll(':', ' ');
    const takesArguments = strict === false || Object.keys(args ?? {}).length > 0;
    if (!hidden) known.set(id, { id, isTopic: known.get(id)?.isTopic ?? false, takesArguments });
  }
  return [...known.values()];
}

/** The error for words that name no command; undefined where they do. `args` are those of the command line. */
export function unknownCommandError(args: readonly string[], known: readonly KnownCommand[]): GwError | undefined {
  const options = args.findIndex((arg) => arg.startsWith('-'));
  const words = (options < 0 ? args : args.slice(0, options)).flatMap((word) => word.split(':'));
  if (words.length === 0) {
    if (options < 0) return undefined;
    const meant = withFlagsBehind(args, known);
    return new GwError('USAGE', `No command before ${printable(args[options] ?? '')}.`, {
      remedy:
        meant === undefined
          ? 'Name the command first, then its flags; `gw help` lists all commands.'
          : `The command stands first, then its flags: ${printable(meant)}`,
    });
  }
  const matched = [...known]
    .filter(({ id }) => id.split(' ').every((word, at) => word === words[at]))
    .sort((a, b) => b.id.length - a.id.length)[0];
  const rest = matched === undefined ? words : words.slice(matched.id.split(' ').length);
  if (matched !== undefined && (rest.length === 0 || matched.takesArguments)) return undefined;

  if (matched === undefined && simulatorTopics.has(words[0] ?? '')) {
    return new GwError('USAGE', `The package of a gateway has no simulator: gw ${printable(words.join(' '))}`, {
      remedy: 'Run it on a laptop, with gw from the npm tarball (docs/install.md, From the tarball).',
    });
  }
  const similar = similarCommands(words, known);
  const isExtra = matched !== undefined && !matched.isTopic;
  const list =
    matched === undefined
      ? '`gw help` lists all commands.'
      : `\`gw help ${matched.id}\` ${isExtra ? 'shows how it is called' : 'lists its commands'}.`;
  const message = isExtra
    ? `Unexpected argument of gw ${matched.id}: ${printable(rest.join(' '))}`
    : `Unknown command: gw ${printable(words.join(' '))}`;
  return new GwError('USAGE', message, {
    remedy: [...question(similar.map((id) => `\`gw ${id}\``)), list].join(' '),
    ...(similar.length > 0 && { details: { didYouMean: similar.map((id) => `gw ${id}`) } }),
  });
}

/** The line with the flags behind the command that it names further on; undefined where it names none. */
function withFlagsBehind(args: readonly string[], known: readonly KnownCommand[]): string | undefined {
  const idAt = (at: number) =>
    known
      .filter(
        ({ id, isTopic, takesArguments }) => (!isTopic || takesArguments) && args.slice(at).join(' ').startsWith(id),
      )
      .filter(({ id }) => id.split(' ').every((word, index) => word === args[at + index]))
      .sort((a, b) => b.id.length - a.id.length)[0]?.id;
  const at = args.findIndex((_, index) => index > 0 && idAt(index) !== undefined);
  if (at < 0) return undefined;
  const end = at + (idAt(at) ?? '').split(' ').length;
  const words = [...args.slice(at, end), ...args.slice(0, at), ...args.slice(end)];
  return `gw ${words.map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)).join(' ')}`;
}

/** The commands and topics nearest to what was typed, at most three, and all of them equally near. */
function similarCommands(words: readonly string[], known: readonly KnownCommand[]): string[] {
  const typed = words.map((word) => word.toLowerCase());
  return nearest(known.map((command) => ({ name: command.id, cost: costOf(typed, command) })));
}

function costOf(typed: readonly string[], { id, takesArguments, isTopic }: KnownCommand): number | undefined {
  const words = id.split(' ');
  if (typed.length > words.length && !takesArguments) return undefined;
  const head = typed.slice(0, words.length);
  const inPlace = head.length === words.length ? sumOf(head, words) : undefined;
  const swapped = head.length === words.length ? sumOf([...head].sort(), [...words].sort()) : undefined;
  // `gw probe`: the topic was left out.
  const short = typed.length === 1 && !isTopic && words.length > 1 ? sumOf(typed, words.slice(-1)) : undefined;
  const costs = [inPlace, swapped && swapped + DETOUR, swapped === 0 ? DETOUR : undefined].filter(
    (cost) => cost !== undefined && cost > 0,
  ) as number[];
  if (short !== undefined) costs.push(short + DETOUR);
  return costs.length > 0 ? Math.min(...costs) : undefined;
}

function sumOf(typed: readonly string[], words: readonly string[]): number | undefined {
  let sum = 0;
  for (const [at, word] of words.entries()) {
    const cost = wordCost(typed[at] ?? '', word);
    if (cost === undefined) return undefined;
    sum += cost;
  }
  return sum;
}

/** undefined: another word. A short word differs by less before it is another one. */
function wordCost(typed: string, word: string): number | undefined {
  const limit = word.length <= 4 ? 1 : word.length <= 7 ? 2 : 3;
  const distance = isTransposed(typed, word) ? 1 : leven(typed, word, { maxDistance: limit + 1 });
  if (distance <= limit) return distance;
  return typed.length >= MIN_PREFIX_LENGTH && word.startsWith(typed) ? DETOUR : undefined;
}

/** Two neighbouring letters in each other's place: the commonest slip, and two edits to Levenshtein. */
function isTransposed(typed: string, word: string): boolean {
  if (typed.length !== word.length) return false;
  const at = [...word].findIndex((letter, index) => letter !== typed[index]);
  return at >= 0 && `${word.slice(0, at)}${word[at + 1]}${word[at]}${word.slice(at + 2)}` === typed;
}

function nearest(found: readonly { readonly name: string; readonly cost: number | undefined }[]): string[] {
  const near = found.filter((one): one is { name: string; cost: number } => one.cost !== undefined);
  const best = Math.min(...near.map(({ cost }) => cost));
  return near
    .filter(({ cost }) => cost === best)
    .map(({ name }) => name)
    .sort()
    .slice(0, MAX_SUGGESTIONS);
}

/** What the framework's parser throws for flags that a command does not have; it exports no class for it. */
interface NonExistentFlags {
  readonly flags: readonly string[];
  readonly parse: { readonly input: { readonly flags: Readonly<Record<string, { readonly allowNo?: boolean }>> } };
}

/** The error for flags that the command does not have; undefined for every other error. */
export function unknownFlagError(error: unknown, id: string): GwError | undefined {
  if (!isNonExistentFlags(error)) return undefined;
  const names = Object.entries(error.parse.input.flags).flatMap(([name, { allowNo }]) =>
    allowNo ? [name, `no-${name}`] : [name],
  );
  const known = [...new Set([...names, 'help', 'json', 'no-color'])];
  const wrong = error.flags.map((flag) => flag.replace(/=.*$/s, ''));
  const similar = [...new Set(wrong.flatMap((flag) => similarFlags(flag, known)))];
  return new GwError('USAGE', `Unknown ${wrong.length === 1 ? 'flag' : 'flags'}: ${printable(wrong.join(', '))}`, {
    remedy: [
      ...question(similar.map((flag) => `\`${flag}\``)),
      `\`gw ${id.replaceAll(':', ' ')} --help\` lists its flags.`,
    ].join(' '),
    ...(similar.length > 0 && { details: { didYouMean: similar } }),
    cause: error,
  });
}

function similarFlags(flag: string, known: readonly string[]): string[] {
  const typed = flag.replace(/^-+/, '').toLowerCase();
  if (typed.length < 2) return [];
  return nearest(known.map((name) => ({ name: `--${name}`, cost: wordCost(typed, name) })));
}

function isNonExistentFlags(error: unknown): error is Error & NonExistentFlags {
  if (!(error instanceof Error)) return false;
  const { flags, parse } = error as Partial<NonExistentFlags>;
  return Array.isArray(flags) && typeof parse?.input?.flags === 'object';
}

function question(names: readonly string[]): string[] {
  const last = names.at(-1);
  if (last === undefined) return [];
  return [`Did you mean ${names.length === 1 ? last : `${names.slice(0, -1).join(', ')} or ${last}`}?`];
}
