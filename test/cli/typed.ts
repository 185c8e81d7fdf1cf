import { PassThrough } from 'node:stream';
import { stripVTControlCharacters } from 'node:util';

/** Output has stopped: a prompt stands. */
const QUIET_MS = 15;

/** A terminal at which each text is typed once the prompt for it stands; a text is a line unless it ends otherwise. */
export function typedTerminal(texts: readonly string[] = []) {
  const left = [...texts];
  const input = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => input });
  // As stdout and stderr: a prompt does not end it.
  const output = Object.assign(new PassThrough(), { _isStdio: true });
  let shown = '';
  let quiet: NodeJS.Timeout | undefined;
  const type = () => {
    const text = left.shift();
    if (text !== undefined) input.write(['\r', '\u0003', '\u0004'].includes(text.at(-1) ?? '') ? text : `${text}\r`);
  };
  const later = () => {
    clearTimeout(quiet);
    quiet = setTimeout(type, QUIET_MS);
  };
  output.on('data', (chunk: Buffer) => {
    shown += String(chunk);
    if (shown.includes('? ')) later();
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
