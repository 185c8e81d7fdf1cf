import type { Device } from './device.ts';

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
  /** Aborted when nobody waits for it any more. */
  readonly signal: AbortSignal;
}

/** Answers its exit code. */
export type Program = (process: Process) => Promise<number> | number;

export const noInput: Input = { read: async () => undefined };

/** The whole of an input, up to a bound; the rest is read and dropped. */
export async function readText(input: Input, most = 1024 * 1024): Promise<string> {
  const pieces: Buffer[] = [];
  let size = 0;
  for (let bytes = await input.read(); bytes !== undefined; bytes = await input.read()) {
    size += bytes.length;
    if (size <= most) pieces.push(bytes);
  }
  return Buffer.concat(pieces).toString('utf8');
}

/** Bytes from one program to the next, at most so many on the way. */
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

/** Options of a program: `takes` names those that are followed by a value. */
export function readOptions(words: readonly string[], takes: readonly string[] = []) {
  const options = new Map<string, string>();
  const rest: string[] = [];
  for (let index = 0; index < words.length; index += 1) {
    const word = words[index] ?? '';
    if (!word.startsWith('-') || word === '-') rest.push(word);
    else if (takes.includes(word)) {
      options.set(word, words[index + 1] ?? '');
      index += 1;
    } else options.set(word, '');
  }
  return { options, rest };
}
