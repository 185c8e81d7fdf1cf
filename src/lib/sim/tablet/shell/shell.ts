import { posix } from 'node:path';
import { StringDecoder } from 'node:string_decoder';
import type { Device } from '../device.ts';
import { Refused } from '../storage.ts';
import { androidPrograms } from './android-programs.ts';
import { filePrograms } from './file-programs.ts';
import { noInput, type Output, type Program, readWords, type ShellIo } from './program.ts';
import { expandWord, parseScript } from './syntax.ts';

interface ShellState {
  lastCode: number;
  folder: string;
  /** Set by `exit`. */
  isOver: boolean;
}

const NAME = '/system/bin/sh';
const MAX_LINE_LENGTH = 64 * 1024;
const CTRL_C = '\x03';
const CTRL_D = '\x04';
const BACKSPACE = '\x7f';

/** Every command of the tablet by its leading words. */
const programs: ReadonlyMap<string, Program> = new Map(Object.entries({ ...filePrograms, ...androidPrograms }));
const programNames = new Set([...programs.keys()].map((words) => words.split(' ')[0]));

const newShellState = (): ShellState => ({ lastCode: 0, folder: '/', isOver: false });

/** Runs a script and returns the exit code of its last command. */
export async function runScript(script: string, device: Device, io: ShellIo, state = newShellState()): Promise<number> {
  const parsed = parseScript(script);
  if ('problem' in parsed) {
    await io.err(`${NAME}: ${parsed.problem}\n`);
    state.lastCode = 1;
    return 1;
  }
  for (const { when, words, isWithoutInput } of parsed.steps) {
    if (state.isOver) break;
    if (when === 'and' && state.lastCode !== 0) continue;
    if (when === 'or' && state.lastCode === 0) continue;
    const expanded = words.map((word) => expandWord(word, state.lastCode));
    state.lastCode = await runWords(expanded, device, isWithoutInput ? { ...io, stdin: noInput } : io, state);
  }
  return state.lastCode;
}

async function runWords(words: readonly string[], device: Device, io: ShellIo, state: ShellState): Promise<number> {
  const [first = '', ...rest] = words;
  if (first === 'exit') {
    state.isOver = true;
    return Number(rest[0] ?? state.lastCode) & 255;
  }
  const named = first === 'cmd' && rest[0] === 'package' ? ['pm', ...rest.slice(1)] : words;
  const length = [3, 2, 1].find((count) => programs.has(named.slice(0, count).join(' '))) ?? 1;
  const name = named.slice(0, length).join(' ');
  const program = programs.get(name);
  if (!program) {
    const isKnown = programNames.has(first);
    await io.err(isKnown ? `Unknown command: ${words.join(' ')}\n` : `${NAME}: ${first}: inaccessible or not found\n`);
    return isKnown ? 255 : 127;
  }
  const at = (path: string) => posix.resolve('/', state.folder, path);
  const enter = (path: string) => {
    state.folder = path;
  };
  try {
    const text = await program.run({ ...io, ...readWords(named.slice(length), program), device, at, enter });
    if (text !== '') await io.out(text);
    return 0;
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    // The package manager prints failures to stdout.
    if (error.message.startsWith('Failure [')) await io.out(`${error.message}\n`);
    else await io.err(`${name}: ${error.message}\n`);
    return error.code;
  }
}

/**
 * A shell that runs its input line by line. At a terminal it has a prompt, an echo, and lines that end with carriage
 * return and line feed; output and errors are combined there.
 */
export async function runInput(io: ShellIo, device: Device, isTerminal: boolean): Promise<number> {
  const state = newShellState();
  const show: Output = (bytes) => io.out(Buffer.from(bytes).toString('latin1').replace(/\r?\n/g, '\r\n'));
  const echo = async (text: string) => isTerminal && io.out(text);
  const prompt = () => echo(`${device.property('ro.product.device')}:${state.folder} $ `);
  // The shell consumes the input; its programs have none.
  const lineIo = isTerminal ? { stdin: noInput, out: show, err: show } : { ...io, stdin: noInput };
  const decoder = new StringDecoder('utf8');
  let line = '';
  await prompt();
  for await (const bytes of io.stdin) {
    for (const char of decoder.write(bytes)) {
      if (char === '\n' || char === '\r') {
        await echo('\r\n');
        await runScript(line, device, lineIo, state);
        if (state.isOver) return state.lastCode;
        line = '';
        await prompt();
      } else if (isTerminal && char === CTRL_D && line === '') return state.lastCode;
      else if (isTerminal && char === CTRL_C) {
        line = '';
        await echo('^C\r\n');
        await prompt();
      } else if (isTerminal && char === BACKSPACE) {
        if (line !== '') await echo('\b \b');
        line = line.slice(0, -1);
      } else if (line.length < MAX_LINE_LENGTH) {
        line += char;
        await echo(char);
      }
    }
  }
  return runScript(line, device, lineIo, state);
}
