import { stripVTControlCharacters } from 'node:util';
import chalk, { chalkStderr } from 'chalk';

/** Whether colour codes are written to each of the two streams. */
export interface Colours {
  readonly stdout: boolean;
  readonly stderr: boolean;
}

const NO_COLOUR_FLAG = '--no-color';

/**
 * Decides by, in this order: `--no-color`, NO_COLOR (not empty), FORCE_COLOR (0 and false: none), and for each stream
 * by itself whether it is a terminal that is not `dumb`.
 */
export function decideColours(
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
  isTerminal: Colours,
): Colours {
  const all = (is: boolean) => ({ stdout: is, stderr: is });
  if (splitColourFlag(args).isPlain || env.NO_COLOR) return all(false);
  if (env.FORCE_COLOR) return all(env.FORCE_COLOR !== '0' && env.FORCE_COLOR !== 'false');
  return env.TERM === 'dumb' ? all(false) : isTerminal;
}

/** Takes `--no-color` out, wherever it stands before `--`: it belongs to no command. */
export function splitColourFlag(args: readonly string[]): { readonly isPlain: boolean; readonly rest: string[] } {
  const end = args.indexOf('--');
  const options = end < 0 ? args : args.slice(0, end);
  const kept = options.filter((arg) => arg !== NO_COLOUR_FLAG);
  return { isPlain: kept.length < options.length, rest: [...kept, ...args.slice(options.length)] };
}

let colours: Colours = { stdout: true, stderr: true };

/**
 * Applies the decision. Texts that may go to either stream are rendered with `chalk`, so it colours when one of the
 * two does, and `forStdout` and `forStderr` take the codes out again for the other one.
 */
export function applyColours(decided: Colours): void {
  colours = decided;
  chalk.level = decided.stdout || decided.stderr ? 1 : 0;
  chalkStderr.level = decided.stderr ? 1 : 0;
}

export function isStderrColoured(): boolean {
  return colours.stderr;
}

export function forStdout(text: string): string {
  return colours.stdout ? text : withoutCodes(text);
}

export function forStderr(text: string): string {
  return colours.stderr ? text : withoutCodes(text);
}

function withoutCodes(text: string): string {
  return text.includes('\u001b') ? stripVTControlCharacters(text) : text;
}
