import { type Input, noInput, type Process, type Program } from './process.ts';
import { NOT_KEPT } from './storage.ts';

/** A small program, with the options that it truly has; every other one is an error. */
export interface Toy {
  /** Behind its name in its help, such as `[-n NUMBER] [FILE…]`. */
  readonly usage: string;
  /** Letters that stand alone. */
  readonly flags?: string;
  /** Operands that it needs, and that it takes at most. */
  readonly least?: number;
  readonly most?: number;
  readonly run: (process: ToyProcess) => Promise<number> | number;
}

export interface ToyProcess extends Process {
  readonly name: string;
  readonly options: ReadonlySet<string>;
  /** The words that are no options. */
  readonly operands: readonly string[];
  /** Says what is wrong, in the program's name, and answers the exit code. */
  fail(text: string, code?: number): Promise<number>;
}

type Read =
  | { readonly options: ReadonlySet<string>; readonly operands: readonly string[] }
  | { readonly problem: string };

/** Options as Android's small programs read them: bundled, before and behind operands, up to `--`. */
function readToyOptions(words: readonly string[], flags: string): Read {
  const end = words.indexOf('--');
  const isOption = (word: string) => word.startsWith('-') && word !== '-';
  const before = end === -1 ? words : words.slice(0, end);
  const behind = end === -1 ? [] : words.slice(end + 1);
  const options = new Set<string>();
  for (const word of before.filter(isOption)) {
    if (word.startsWith('--')) return { problem: `Unknown option '${word.slice(2).split('=')[0]}'` };
    for (const letter of word.slice(1)) {
      if (!flags.includes(letter)) return { problem: `Unknown option '${letter}'` };
      options.add(letter);
    }
  }
  return { options, operands: [...before.filter((word) => !isOption(word)), ...behind] };
}

export function toy(name: string, about: Toy): Program {
  return async (process) => {
    const fail = async (text: string, code = 1) => {
      await process.err(`${name}: ${text}\n`);
      return code;
    };
    if (process.words.length === 1 && process.words[0] === '--help') {
      await process.out(`usage: ${name} ${about.usage}\n`);
      return 0;
    }
    const { least = 0, most = Number.POSITIVE_INFINITY } = about;
    const read = readToyOptions(process.words, about.flags ?? '');
    const hint = `(see "${name} --help")`;
    if ('problem' in read) return fail(`${read.problem} ${hint}`);
    const given = read.operands.length;
    if (given < least) return fail(`Need${least === 1 ? 's' : ''} ${least} argument${least === 1 ? '' : 's'} ${hint}`);
    if (given > most) return fail(`Max ${most} argument${most === 1 ? '' : 's'} ${hint}`);
    return about.run({ ...process, ...read, name, fail });
  };
}

/** An operand that is read: the input for `-`, otherwise the file. */
function openOperand(process: Process, path: string): Input | { readonly problem: string } {
  if (path === '-') return process.stdin;
  if (path === '/dev/null') return noInput;
  const entry = process.files.find(path);
  if (typeof entry === 'string') return { problem: entry };
  if (entry.kind !== 'file') return { problem: 'Is a directory' };
  return entry.content.isWhole ? inputOf(entry.content.head) : { problem: NOT_KEPT };
}

function inputOf(bytes: Buffer): Input {
  let rest: Buffer | undefined = bytes;
  return {
    read: async () => {
      const now = rest;
      rest = undefined;
      return now;
    },
  };
}

/** Hands every operand to `take`, or the input where there is none. What cannot be read is told, and the next one tried. */
export async function eachOperand(
  process: ToyProcess,
  take: (input: Input, path: string) => Promise<void>,
): Promise<number> {
  let code = 0;
  for (const path of process.operands.length === 0 ? ['-'] : process.operands) {
    const input = openOperand(process, path);
    if ('problem' in input) code = await process.fail(`${path}: ${input.problem}`);
    else await take(input, path);
  }
  return code;
}
