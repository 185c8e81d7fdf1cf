/** A flag or an argument as the manifest describes it. */
interface Described {
  readonly name: string;
  readonly summary?: string;
  readonly description?: string;
  readonly options?: readonly string[];
  readonly hidden?: boolean;
}

interface DescribedFlag extends Described {
  readonly type: 'boolean' | 'option';
  readonly char?: string;
  readonly helpValue?: string;
  readonly multiple?: boolean;
}

interface DescribedCommand {
  readonly summary?: string;
  readonly hidden?: boolean;
  readonly flags?: Readonly<Record<string, DescribedFlag>>;
  readonly args?: Readonly<Record<string, Described>>;
}

/** What is completed: the commands by their ids with colons, and the topics. */
export interface Completable {
  readonly commands: Readonly<Record<string, DescribedCommand>>;
  readonly topics: Readonly<Record<string, { readonly description?: string }>>;
}

export interface Candidate {
  readonly value: string;
  readonly about: string;
}

/** What may stand at the cursor; `paths`: what the shell adds of its own. */
export interface Completion {
  readonly candidates: readonly Candidate[];
  readonly paths: 'files' | 'folders' | 'none';
}

/** Values that no manifest has: names of facts, faults, checklists, stations. */
export type ValuesOf = (what: {
  readonly command: string;
  /** Without the dashes. */
  readonly flag?: string;
  readonly argument?: string;
  /** The arguments before the cursor. */
  readonly given: readonly string[];
}) => Promise<readonly Candidate[]>;

const nothing: Completion = { candidates: [], paths: 'none' };

/** Completes the last of these words; the first one stands behind `gw`. */
export async function complete(
  typed: readonly string[],
  { commands, topics }: Completable,
  valuesOf: ValuesOf,
): Promise<Completion> {
  // A shell that breaks words at = hands `--format=pdf` over as three.
  const words = typed.join('\u0000').replaceAll('\u0000=\u0000', '=').split('\u0000');
  const partial = words.at(-1) ?? '';
  const before = words.slice(0, -1);
  if (before.includes('--')) return nothing;
  const ids = Object.keys(commands).filter((id) => commands[id]?.hidden !== true);

  const names = before.filter((word) => !word.startsWith('-'));
  const id = longestId(names, ids);
  const nouns = id === undefined ? names : id.split(':');
  const command = id === undefined ? undefined : commands[id];
  // A flag ends the words of the command.
  const isOpen = names.length === before.length && !partial.startsWith('-');
  const next = isOpen ? nextWords(names, ids, commands, topics) : [];
  if (id === undefined || command === undefined) return { candidates: startingWith(next, partial), paths: 'none' };

  const flags = Object.values(command.flags ?? {}).filter(({ hidden }) => hidden !== true);
  const given = argumentsOf(before.slice(before.indexOf(nouns.at(-1) ?? '') + 1), flags);
  const named = id.replaceAll(':', ' ');
  const completeValue = async (flag: DescribedFlag, text: string, lead = ''): Promise<Completion> => {
    const own = await valuesOf({ command: named, flag: flag.name, given });
    const options = flag.options?.map((value) => ({ value, about: '' })) ?? [];
    const all = [...options, ...own].map(({ value, about }) => ({ value: lead + value, about }));
    return {
      candidates: startingWith(all, lead + text),
      paths: all.length > 0 ? 'none' : pathsOf(flag.helpValue ?? ''),
    };
  };

  const last = before.at(-1) ?? '';
  const waiting = flags.find((flag) => flag.type === 'option' && isNameOf(last, flag));
  if (waiting !== undefined) return await completeValue(waiting, partial);
  const [, name = '', text = ''] = /^--([\w-]+)=(.*)$/s.exec(partial) ?? [];
  const assigned = flags.find((flag) => flag.type === 'option' && flag.name === name);
  if (assigned !== undefined) return await completeValue(assigned, text, `--${name}=`);
  if (partial.startsWith('-')) {
    const open = flags.filter((flag) => flag.multiple === true || !before.some((word) => isNameOf(word, flag)));
    const all = open.map((flag) => ({ value: `--${flag.name}`, about: flag.summary ?? flag.description ?? '' }));
    return { candidates: startingWith([...all, { value: '--help', about: 'Show help' }], partial), paths: 'none' };
  }
  const args = Object.values(command.args ?? {});
  const argument = args[Math.min(given.length, args.length - 1)];
  if (argument === undefined || given.length >= args.length)
    return { candidates: startingWith(next, partial), paths: 'none' };
  const options = argument.options?.map((value) => ({ value, about: '' })) ?? [];
  const own = await valuesOf({ command: named, argument: argument.name, given });
  const all = [...next, ...options, ...own];
  return { candidates: startingWith(all, partial), paths: isPath(argument) ? 'files' : 'none' };
}

function isNameOf(word: string, { name, char }: DescribedFlag): boolean {
  return word === `--${name}` || (char !== undefined && word === `-${char}`);
}

function isPath({ name, description = '' }: Described): boolean {
  return /file|^(old|new)$/i.test(name) || /\ba file\b/i.test(description);
}

function pathsOf(helpValue: string): Completion['paths'] {
  if (helpValue === 'DIR') return 'folders';
  return helpValue === 'FILE' || helpValue === 'PATH' || helpValue === 'PNG' ? 'files' : 'none';
}

function longestId(names: readonly string[], ids: readonly string[]): string | undefined {
  return ids
    .filter((id) => id.split(':').every((word, at) => word === names[at]))
    .sort((a, b) => b.split(':').length - a.split(':').length)[0];
}

/** Words that go on from here to a command. */
function nextWords(
  nouns: readonly string[],
  ids: readonly string[],
  commands: Completable['commands'],
  topics: Completable['topics'],
): Candidate[] {
  const begin = nouns.length === 0 ? '' : `${nouns.join(':')}:`;
  const words = new Set(
    ids.filter((id) => id.startsWith(begin)).map((id) => id.slice(begin.length).split(':')[0] ?? ''),
  );
  return [...words].sort().map((value) => {
    const id = begin + value;
    return { value, about: commands[id]?.summary ?? topics[id]?.description ?? '' };
  });
}

/** The words behind a command that are neither flags nor their values. */
function argumentsOf(words: readonly string[], flags: readonly DescribedFlag[]): string[] {
  return words.filter((word, at) => {
    const previous = words[at - 1] ?? '';
    return !word.startsWith('-') && !flags.some((flag) => flag.type === 'option' && isNameOf(previous, flag));
  });
}

function startingWith(candidates: readonly Candidate[], partial: string): Candidate[] {
  return candidates.filter(({ value }) => value.startsWith(partial));
}
