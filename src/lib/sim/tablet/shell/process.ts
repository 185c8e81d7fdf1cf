import type { Device } from '../device.ts';
import { type Files, NOT_KEPT } from '../storage.ts';

/** Input of a program; undefined at the end. */
export interface Input {
  read(): Promise<Buffer | undefined>;
}

/** Writes output of a program with backpressure; false when the reader is gone. */
export type Output = (bytes: Uint8Array) => Promise<boolean>;

/** A process in the shell of the tablet. */
export interface Process {
  /** Arguments. */
  readonly words: readonly string[];
  readonly stdin: Input;
  readonly out: (text: string | Uint8Array) => Promise<boolean>;
  readonly err: (text: string) => Promise<boolean>;
  readonly device: Device;
  /** Working directory, and the files relative to it. */
  readonly folder: string;
  readonly files: Files;
  /** Aborted when its stream is closed. */
  readonly signal: AbortSignal;
}

/** Returns the exit code. */
export type Program = (process: Process) => Promise<number> | number;

export const noInput: Input = { read: async () => undefined };

/** A pipe from the host to the input of a program, with a bounded buffer. */
export function createPipe(maxBytes = 64 * 1024) {
  const waiting: Buffer[] = [];
  let size = 0;
  let isEnded = false;
  let isAbandoned = false;
  let wakeReader: (() => void) | undefined;
  let wakeWriter: (() => void) | undefined;
  const wait = (set: (wake: () => void) => void) => new Promise<void>((resolve) => set(resolve));
  return {
    async write(bytes: Uint8Array): Promise<boolean> {
      while (size >= maxBytes && !isAbandoned) {
        await wait((wake) => {
          wakeWriter = wake;
        });
      }
      if (isAbandoned || isEnded) return false;
      if (bytes.length > 0) {
        waiting.push(Buffer.from(bytes));
        size += bytes.length;
        wakeReader?.();
      }
      return true;
    },
    async read(): Promise<Buffer | undefined> {
      while (waiting.length === 0 && !isEnded && !isAbandoned) {
        await wait((wake) => {
          wakeReader = wake;
        });
      }
      const bytes = waiting.shift();
      size -= bytes?.length ?? 0;
      wakeWriter?.();
      return bytes;
    },
    /** The writer is done. */
    end(): void {
      isEnded = true;
      wakeReader?.();
    },
    /** The reader is gone. */
    abandon(): void {
      isAbandoned = true;
      waiting.length = 0;
      size = 0;
      wakeWriter?.();
      wakeReader?.();
    },
  };
}

/** Number of words that follow each option. */
export type OptionTable = Readonly<Record<string, number>>;

export interface WordOptions {
  /** The value of each; empty without one. */
  readonly options: ReadonlyMap<string, string>;
  readonly rest: readonly string[];
  /** The first unknown option. */
  readonly unknown: string | undefined;
  /** The first option without its value. */
  readonly unfinished: string | undefined;
}

/** Options in the style of Android's programs: one word each, not bundled. */
export function readOptions(words: readonly string[], table: OptionTable = {}): WordOptions {
  const options = new Map<string, string>();
  const rest: string[] = [];
  let unknown: string | undefined;
  let unfinished: string | undefined;
  for (let index = 0; index < words.length; index += 1) {
    const word = words[index] ?? '';
    if (!word.startsWith('-') || word === '-') {
      rest.push(word);
      continue;
    }
    const follow = Object.hasOwn(table, word) ? table[word] : undefined;
    if (follow === undefined) unknown ??= word;
    else {
      if (index + follow >= words.length) unfinished ??= word;
      options.set(word, follow === 0 ? '' : (words[index + 1] ?? ''));
      index += follow;
    }
  }
  return { options, rest, unknown, unfinished };
}

/** A program of Android's toybox with its real options; any other option is an error. */
interface ToyboxProgram {
  /** Usage after its name, such as `[-n NUMBER] [FILE…]`. */
  readonly usage: string;
  /** One-letter options without a value. */
  readonly flags?: string;
  /** Minimum and maximum number of operands. */
  readonly min?: number;
  readonly max?: number;
  readonly run: (process: ToyboxProcess) => Promise<number> | number;
}

export interface ToyboxProcess extends Process {
  readonly name: string;
  readonly options: ReadonlySet<string>;
  /** The words that are not options. */
  readonly operands: readonly string[];
  /** Reports a failure with the program's name and returns the exit code. */
  fail(text: string, code?: number): Promise<number>;
}

type Read =
  | { readonly options: ReadonlySet<string>; readonly operands: readonly string[] }
  | { readonly problem: string };

/** Options as in toybox: bundled, before and after operands, up to `--`. */
function readToyboxOptions(words: readonly string[], flags: string): Read {
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

export function toybox(name: string, about: ToyboxProgram): Program {
  return async (process) => {
    const fail = async (text: string, code = 1) => {
      await process.err(`${name}: ${text}\n`);
      return code;
    };
    if (process.words.length === 1 && process.words[0] === '--help') {
      await process.out(`usage: ${name} ${about.usage}\n`);
      return 0;
    }
    const { min = 0, max = Number.POSITIVE_INFINITY } = about;
    const read = readToyboxOptions(process.words, about.flags ?? '');
    const hint = `(see "${name} --help")`;
    if ('problem' in read) return fail(`${read.problem} ${hint}`);
    const given = read.operands.length;
    if (given < min) return fail(`Need${min === 1 ? 's' : ''} ${min} argument${min === 1 ? '' : 's'} ${hint}`);
    if (given > max) return fail(`Max ${max} argument${max === 1 ? '' : 's'} ${hint}`);
    return about.run({ ...process, ...read, name, fail });
  };
}

/** Opens an operand: the input for `-`, otherwise the file. */
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

/** Calls `take` with every operand, or with the input without operands. Reports operands that cannot be read. */
export async function eachOperand(
  process: ToyboxProcess,
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
