import type { Device } from '../device.ts';
import { Refused } from '../storage.ts';

/** Input of a program, and its output with backpressure; false when the reader is gone. */
export type Input = AsyncIterable<Buffer>;
export type Output = (bytes: string | Uint8Array) => Promise<boolean>;

export interface ShellIo {
  readonly stdin: Input;
  readonly out: Output;
  readonly err: Output;
}

/** What a program gets: its words without options, and the device. */
export interface Call extends ShellIo {
  readonly words: readonly string[];
  /** Given options; the value is empty for those without one. */
  readonly options: ReadonlyMap<string, string>;
  readonly device: Device;
  /** The absolute path of a word. */
  readonly at: (path: string) => string;
  /** Changes the working directory. */
  readonly enter: (folder: string) => void;
}

/** A program, or a command of one: its options and words, and what it prints. It throws Refused. */
export interface Program {
  /** Such as `-r -S= --user=`, with `=` for a value; undefined: every word is literal. */
  readonly options?: string;
  /** Minimum and maximum number of words. */
  readonly words: readonly [number, number];
  readonly run: (call: Call) => Promise<string> | string;
}

export const noInput: Input = (async function* () {})();

/** Limit for all words of one command together. */
const MAX_WORDS_CHARS = 128 * 1024;

/** Separates options from words. An unknown option is an error, never ignored. */
export function readWords(given: readonly string[], { options: known, words: [min, max] }: Program) {
  if (given.join(' ').length > MAX_WORDS_CHARS) throw new Refused('Argument list too long', 126);
  const options = new Map<string, string>();
  const words: string[] = [];
  const table = known?.split(' ') ?? [];
  const rest = [...given];
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    const letters = [...word.slice(1)].map((letter) => `-${letter}`);
    if (known === undefined || !/^-./.test(word)) words.push(word);
    else if (table.includes(`${word}=`) && rest[0] !== undefined) options.set(word, rest.shift() ?? '');
    else if (table.includes(word)) options.set(word, '');
    else if (letters.every((letter) => table.includes(letter))) for (const letter of letters) options.set(letter, '');
    else throw new Refused(`Unknown option '${word}'`);
  }
  // The tablet has one user.
  if (!['0', 'current', 'all'].includes(options.get('--user') ?? '0')) throw new Refused('Invalid user');
  if (words.length < min) throw new Refused(`needs ${min} argument${min === 1 ? '' : 's'}`);
  if (words.length > max) throw new Refused(`max ${max} argument${max === 1 ? '' : 's'}`);
  return { options, words };
}
