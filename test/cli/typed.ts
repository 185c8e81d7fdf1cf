import { PassThrough } from 'node:stream';
import { stripVTControlCharacters } from 'node:util';

/** Rounds of the event loop without output: a prompt stands. */
const QUIET_ROUNDS = 8;

/** A terminal at which each text is typed once the prompt for it stands; a text is a line unless it ends otherwise. */
export function typedTerminal(texts: readonly string[] = []) {
  const left = [...texts];
  const input = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => input });
  // As stdout and stderr: a prompt does not end it.
  const output = Object.assign(new PassThrough(), { _isStdio: true });
  let shown = '';
  let quietRounds: number | null = null;
  const nextRound = () => {
    quietRounds = (quietRounds ?? 0) + 1;
    if (quietRounds < QUIET_ROUNDS) return void setImmediate(nextRound);
    quietRounds = null;
    // Before a prompt begins, and shows itself, only gw and the line editor listen: what is typed then is discarded.
    if (input.listenerCount('keypress') < 3) return;
    const text = left.shift();
    if (text !== undefined) input.write(['\r', '\u0003', '\u0004'].includes(text.at(-1) ?? '') ? text : `${text}\r`);
  };
  output.on('data', (chunk: Buffer) => {
    shown += String(chunk);
    // Without its colours, which another test of the process may have switched on.
    if (!stripVTControlCharacters(shown).includes('? ')) return;
    if (quietRounds === null) setImmediate(nextRound);
    quietRounds = 0;
  });
  return {
    streams: { input: input as unknown as NodeJS.ReadStream, output },
    /** Types further lines. */
    more(...lines: string[]) {
      left.push(...lines);
    },
    /** What was shown since the last call, in full. */
    shown() {
      const text = stripVTControlCharacters(shown);
      shown = '';
      return text;
    },
  };
}
