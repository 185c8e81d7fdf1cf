import { strict as assert } from 'node:assert';
import { crc32 } from 'node:zlib';
import { GwError } from '../../src/lib/error/index.ts';
import type { Corpus } from './mutate.ts';

/** A parser of foreign bytes. */
export interface Parser extends Corpus, Partial<AsyncDisposable> {
  /** Of the processor, for one input; default 250 ms. */
  readonly maxMs?: number;
  /** Whether the input is accepted. Throws where anything happens that no input may cause. */
  readonly accepts: (input: Buffer) => boolean | Promise<boolean>;
}

/** Lines for a terminal: nothing in them moves the cursor or changes the direction of the text. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
const UNPRINTABLE = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028\u2029\p{Bidi_Control}]/u;

export function isPrintable(text: string, maxCharacters: number): void {
  assert.ok(text.length <= maxCharacters, `a text of ${text.length} characters`);
  assert.ok(!UNPRINTABLE.test(text), `a text with control characters: ${JSON.stringify(text.slice(0, 300))}`);
}

const MAX_MESSAGE_CHARACTERS = 20_000;

/** Refused is what throws one of these errors, with a message of bounded length; what prints it makes it printable. */
export function refusing(codes: readonly string[], parse: (input: Buffer) => unknown) {
  const judge = (error: unknown) => {
    if (!(error instanceof GwError) || !codes.includes(error.code)) throw error;
    assert.ok(error.message.length <= MAX_MESSAGE_CHARACTERS, `a message of ${error.message.length} characters`);
    return false;
  };
  return (input: Buffer): boolean | Promise<boolean> => {
    try {
      const result = parse(input);
      return result instanceof Promise ? result.then(() => true, judge) : true;
    } catch (error) {
      return judge(error);
    }
  };
}

/** The input in two parts, cut at a place that depends on its bytes only. */
export function inTwo(input: Buffer): readonly [Buffer, Buffer] {
  const at = crc32(input) % (input.length + 1);
  return [input.subarray(0, at), input.subarray(at)];
}
