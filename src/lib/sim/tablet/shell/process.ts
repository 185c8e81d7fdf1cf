import type { Device } from '../device.ts';
import type { Files } from '../storage.ts';

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
