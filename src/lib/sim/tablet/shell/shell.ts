import { posix } from 'node:path';
import type { Device } from '../device.ts';
import { filesSeenFrom } from '../storage.ts';
import { type Input, noInput, type Output, type Process } from './process.ts';
import { findProgram } from './programs.ts';
import { parseScript, type Word } from './shell-syntax.ts';

export interface ShellIo {
  readonly stdin: Input;
  readonly out: Output;
  readonly err: Output;
  readonly signal: AbortSignal;
}

export interface ShellState {
  lastCode: number;
  /** Working directory. */
  folder: string;
  /** Previous working directory, for `cd -`. */
  before: string;
  /** Set by `exit`. */
  isOver: boolean;
}

const NAME = '/system/bin/sh';
/** Limit for all words of one command together. */
const MAX_WORDS_CHARS = 128 * 1024;

export const newShellState = (): ShellState => ({ lastCode: 0, folder: '/', before: '/', isOver: false });

const bytesOf = (text: string | Uint8Array) => (typeof text === 'string' ? Buffer.from(text) : text);

/** Runs a script and returns the exit code of its last command. */
export async function runScript(script: string, device: Device, io: ShellIo, state = newShellState()): Promise<number> {
  const report = (output: Output) => (text: string | Uint8Array) => output(bytesOf(text));
  const out = report(io.out);
  const err = report(io.err);
  const parsed = parseScript(script);
  if ('problem' in parsed) {
    await err(`${NAME}: ${parsed.problem}\n`);
    state.lastCode = 1;
    return 1;
  }
  for (const { when, words, isWithoutInput } of parsed.steps) {
    if (io.signal.aborted || state.isOver) break;
    if (when === 'and' && state.lastCode !== 0) continue;
    if (when === 'or' && state.lastCode === 0) continue;
    state.lastCode = await runWords(words.map(expand), isWithoutInput ? noInput : io.stdin);
  }
  return state.lastCode;

  function expand(word: Word): string {
    return word.map((piece) => (piece.kind === 'text' ? piece.text : String(state.lastCode))).join('');
  }

  async function runWords([name = '', ...rest]: readonly string[], stdin: Input): Promise<number> {
    if (rest.reduce((sum, word) => sum + word.length, name.length) > MAX_WORDS_CHARS) {
      await err(`${NAME}: Argument list too long\n`);
      return 126;
    }
    if (name === 'exit') {
      state.isOver = true;
      return Number(rest[0] ?? state.lastCode) & 255;
    }
    if (name === 'cd') return changeFolder(rest);
    const program = findProgram(name);
    if (!program) {
      const text = name.includes('/') ? 'not found' : 'inaccessible or not found';
      await err(`${NAME}: ${name}: ${text}: not simulated\n`);
      return 127;
    }
    const process: Process = {
      words: rest,
      stdin,
      out,
      err,
      device,
      folder: state.folder,
      files: filesSeenFrom(device.storage, state.folder),
      signal: io.signal,
    };
    return program(process);
  }

  async function changeFolder([to = '/']: readonly string[]): Promise<number> {
    const path = to === '-' ? state.before : to;
    const whole = posix.normalize(path.startsWith('/') ? path : `${state.folder}/${path}`).replace(/(.)\/$/, '$1');
    const found = path === '' ? 'No such file or directory' : device.storage.folder(whole);
    if (typeof found === 'string') {
      await err(`${NAME}: cd: ${to}: ${found}\n`);
      return 2;
    }
    state.before = state.folder;
    state.folder = whole;
    if (to === '-') await out(`${whole}\n`);
    return 0;
  }
}
