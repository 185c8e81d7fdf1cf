import { type Input, noInput, type Process, type Program } from './process.ts';
import { NOT_KEPT } from './storage.ts';

/** A small program, with the options that it truly has; every other one is an error. */
export interface Toy {
  /** Behind its name in its help, such as `[-n NUMBER] [FILE…]`. */
  readonly usage: string;
  /** Letters that stand alone. */
  readonly flags?: string;
  /** Letters that are followed by a value. */
  readonly valued?: string;
  /** Long names, and the letter that each stands for. */
  readonly long?: Readonly<Record<string, string>>;
  /** Operands that it needs, and that it takes at most. */
  readonly least?: number;
  readonly most?: number;
  /** Rewrites words of an older spelling. */
  readonly modern?: (words: readonly string[]) => readonly string[];
  readonly run: (process: ToyProcess) => Promise<number> | number;
}

export interface ToyOptions {
  has(letter: string): boolean;
  get(letter: string): string | undefined;
}

export interface ToyProcess extends Process {
  readonly name: string;
  readonly options: ToyOptions;
  /** The words that are no options. */
  readonly operands: readonly string[];
  /** Says what is wrong, in the program's name, and answers the exit code. */
  fail(text: string, code?: number): Promise<number>;
}

type Read = { readonly options: ToyOptions; readonly operands: readonly string[] } | { readonly problem: string };

/** Options as Android's small programs read them: bundled, before and behind operands, up to `--`. */
function readToyOptions(words: readonly string[], { flags = '', valued = '', long = {} }: Toy): Read {
  const found = new Map<string, string>();
  const operands: string[] = [];
  for (let index = 0; index < words.length; index += 1) {
    const word = words[index] ?? '';
    if (word === '--') {
      operands.push(...words.slice(index + 1));
      break;
    }
    if (!word.startsWith('-') || word === '-') {
      operands.push(word);
      continue;
    }
    const isLong = word.startsWith('--');
    const equals = isLong ? word.indexOf('=') : -1;
    const longName = word.slice(2, equals === -1 ? undefined : equals);
    const letters = isLong ? (Object.hasOwn(long, longName) ? (long[longName] ?? '') : '') : word.slice(1);
    if (letters === '') return { problem: `Unknown option '${longName}'` };
    for (let at = 0; at < letters.length; at += 1) {
      const letter = letters[at] ?? '';
      if (flags.includes(letter)) {
        if (equals !== -1) return { problem: `Unknown option '${longName}'` };
        found.set(letter, '');
        continue;
      }
      if (!valued.includes(letter)) return { problem: `Unknown option '${letter}'` };
      const attached = isLong ? (equals === -1 ? '' : word.slice(equals + 1)) : letters.slice(at + 1);
      if (attached === '' && index + 1 >= words.length) return { problem: `Missing argument to -${letter}` };
      if (attached === '') index += 1;
      found.set(letter, attached === '' ? (words[index] ?? '') : attached);
      break;
    }
  }
  return { options: { has: (letter) => found.has(letter), get: (letter) => found.get(letter) }, operands };
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
    const read = readToyOptions(about.modern?.(process.words) ?? process.words, about);
    const hint = `(see "${name} --help")`;
    if ('problem' in read) return fail(`${read.problem} ${hint}`);
    const given = read.operands.length;
    if (given < least) return fail(`Need${least === 1 ? 's' : ''} ${least} argument${least === 1 ? '' : 's'} ${hint}`);
    if (given > most) return fail(`Max ${most} argument${most === 1 ? '' : 's'} ${hint}`);
    return about.run({ ...process, ...read, name, fail });
  };
}

/** A count with an optional suffix, as in `10` and `4k`. */
export function readCount(text: string): number | undefined {
  const found = /^(\d{1,15})([kmg]?)$/i.exec(text);
  if (!found) return undefined;
  return Number(found[1]) * 1024 ** ' kmg'.indexOf((found[2] || ' ').toLowerCase());
}

/** An operand that is read: the input for `-`, otherwise the file. */
export function openOperand(process: Process, path: string): Input | { readonly problem: string } {
  if (path === '-') return process.stdin;
  if (path === '/dev/null') return noInput;
  const entry = process.files.find(path);
  if (typeof entry === 'string') return { problem: entry };
  if (entry.kind !== 'file') return { problem: 'Is a directory' };
  return entry.content.isWhole ? inputOf(entry.content.head) : { problem: NOT_KEPT };
}

export function inputOf(bytes: Buffer): Input {
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
  take: (input: Input, path: string, index: number) => Promise<void>,
): Promise<number> {
  let code = 0;
  const paths = process.operands.length === 0 ? ['-'] : process.operands;
  let index = 0;
  for (const path of paths) {
    const input = openOperand(process, path);
    if ('problem' in input) code = await process.fail(`${path}: ${input.problem}`);
    else {
      await take(input, path, index);
      index += 1;
    }
  }
  return code;
}
