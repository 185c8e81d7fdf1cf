import type { Device } from './device.ts';
import type { Files } from './storage.ts';

/** Bytes that a program reads; undefined at their end. */
export interface Input {
  read(): Promise<Buffer | undefined>;
}

/** Takes bytes of a program at the reader's pace. False: nobody reads any more. */
export type Output = (bytes: Uint8Array) => Promise<boolean>;

/** A program that runs in the shell of the tablet. */
export interface Process {
  /** The words after its name. */
  readonly words: readonly string[];
  readonly stdin: Input;
  readonly out: (text: string | Uint8Array) => Promise<boolean>;
  readonly err: (text: string) => Promise<boolean>;
  readonly device: Device;
  /** The folder that it runs in, and the files as they are seen from there. */
  readonly folder: string;
  readonly files: Files;
  /** Aborted when nobody waits for it any more. */
  readonly signal: AbortSignal;
}

/** Answers its exit code. */
export type Program = (process: Process) => Promise<number> | number;

export const noInput: Input = { read: async () => undefined };

/** The input of a program as it comes from the other machine, at most so many bytes on the way. */
export function createPipe(most = 64 * 1024) {
  const waiting: Buffer[] = [];
  let size = 0;
  let isEnded = false;
  let isAbandoned = false;
  let wakeReader: (() => void) | undefined;
  let wakeWriter: (() => void) | undefined;
  const wait = (set: (wake: () => void) => void) => new Promise<void>((resolve) => set(resolve));
  return {
    async write(bytes: Uint8Array): Promise<boolean> {
      while (size >= most && !isAbandoned) {
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

/** How many words follow each option of a program. */
export type OptionTable = Readonly<Record<string, number>>;

export interface WordOptions {
  /** The first word behind each; empty where none follows. */
  readonly options: ReadonlyMap<string, string>;
  readonly rest: readonly string[];
  /** The first option that stands in no table. */
  readonly unknown: string | undefined;
  /** An option whose value is missing. */
  readonly unfinished: string | undefined;
}

/** Options of the programs of Android's own, which are words of their own each. */
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
