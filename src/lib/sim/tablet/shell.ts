import type { Device } from './device.ts';
import { createPipe, type Input, noInput, type Output, type Process } from './process.ts';
import { findProgram } from './programs.ts';
import { type Command, parseScript, type Word } from './shell-syntax.ts';
import { NOT_KEPT } from './storage.ts';

export interface ShellIo {
  readonly stdin: Input;
  readonly out: Output;
  readonly err: Output;
  readonly signal: AbortSignal;
}

export interface ShellState {
  lastCode: number;
  readonly variables: Map<string, string>;
  /** Set by `exit`. */
  isOver: boolean;
}

const NAME = '/system/bin/sh';
const DEEPEST = 8;
const MOST_SUBSTITUTED = 64 * 1024;
const MOST_VARIABLES = 50;
/** All words of one command together, and one while it is made. */
const LONGEST_WORDS = 128 * 1024;

export const newShellState = (): ShellState => ({ lastCode: 0, variables: new Map(), isOver: false });

const bytesOf = (text: string | Uint8Array) => (typeof text === 'string' ? Buffer.from(text) : text);

/** Runs a script as the shell of the tablet does and answers the exit code of its last command. */
export async function runScript(
  script: string,
  device: Device,
  io: ShellIo,
  state = newShellState(),
  depth = 0,
): Promise<number> {
  const parsed = parseScript(script);
  if ('problem' in parsed) {
    await io.err(Buffer.from(`${NAME}: ${parsed.problem}\n`));
    state.lastCode = 1;
    return 1;
  }
  for (const { when, pipe, negated } of parsed.steps) {
    if (io.signal.aborted || state.isOver) break;
    if (when === 'and' && state.lastCode !== 0) continue;
    if (when === 'or' && state.lastCode === 0) continue;
    const code = await runPipe(pipe);
    state.lastCode = negated ? Number(code === 0) : code;
  }
  return state.lastCode;

  async function runPipe(commands: readonly Command[]): Promise<number> {
    let stdin = io.stdin;
    const running: Promise<number>[] = [];
    for (const [index, command] of commands.entries()) {
      const isLast = index === commands.length - 1;
      const pipe = isLast ? undefined : createPipe();
      const source = stdin;
      const run = runCommand(command, source, pipe ? pipe.write : io.out).finally(() => {
        pipe?.end();
        if ('abandon' in source && typeof source.abandon === 'function') source.abandon();
      });
      running.push(run);
      if (pipe) stdin = pipe;
    }
    const codes = await Promise.all(running);
    return codes.at(-1) ?? 0;
  }

  async function runCommand(command: Command, stdin: Input, stdout: Output): Promise<number> {
    const words: string[] = [];
    for (const word of command.words) words.push(...(await expand(word)));
    let input = stdin;
    let out = stdout;
    let err = io.err;
    const files: (() => Promise<void>)[] = [];
    for (const { of, to } of command.redirections) {
      if ('output' in to) {
        if (of === 1) out = to.output === 2 ? err : out;
        else err = to.output === 1 ? out : err;
        continue;
      }
      const path = (await expand(to.file)).join(' ');
      const file = of === 0 ? openInput(path) : openOutput(path, to.append);
      if ('problem' in file) {
        await io.err(Buffer.from(`${NAME}: can't ${of === 0 ? 'open' : 'create'} ${path}: ${file.problem}\n`));
        return 1;
      }
      if ('read' in file) input = file;
      else {
        files.push(file.close);
        if (of === 2) err = file.write;
        else out = file.write;
      }
    }
    try {
      if (words.reduce((sum, word) => sum + word.length, 0) > LONGEST_WORDS) {
        await err(Buffer.from(`${NAME}: Argument list too long\n`));
        return 126;
      }
      return await runWords(words, input, out, err);
    } finally {
      for (const close of files) await close();
    }
  }

  async function runWords(words: readonly string[], stdin: Input, out: Output, err: Output): Promise<number> {
    let first = 0;
    for (; first < words.length; first += 1) {
      const assignment = /^([A-Za-z_]\w*)=(.*)$/s.exec(words[first] ?? '');
      if (!assignment) break;
      if (state.variables.size < MOST_VARIABLES) state.variables.set(assignment[1] ?? '', assignment[2] ?? '');
    }
    const [name, ...rest] = words.slice(first);
    if (name === undefined) return 0;
    if (name === 'exec') return runWords(rest, stdin, out, err);
    if (name === 'export') return rest.every((word) => word.includes('=')) ? runWords(rest, stdin, out, err) : 0;
    if (name === 'exit') {
      state.isOver = true;
      return Number(rest[0] ?? state.lastCode) & 255;
    }
    const say = (output: Output) => (text: string | Uint8Array) => output(bytesOf(text));
    if (name === 'sh' && rest[0] === '-c') {
      if (depth >= DEEPEST) return 1;
      return runScript(rest[1] ?? '', device, { stdin, out, err, signal: io.signal }, newShellState(), depth + 1);
    }
    const program = findProgram(name);
    if (!program) {
      const text = name.includes('/') ? 'not found' : 'inaccessible or not found';
      await err(Buffer.from(`${NAME}: ${name}: ${text}\n`));
      return 127;
    }
    const process: Process = { words: rest, stdin, out: say(out), err: say(err), device, signal: io.signal };
    return program(process);
  }

  async function expand(word: Word): Promise<string[]> {
    const words: string[] = [];
    let text = '';
    let isSomething = false;
    for (const piece of word) {
      const value =
        piece.kind === 'text'
          ? piece.text
          : piece.kind === 'variable'
            ? variable(piece.name)
            : await substitute(piece.script);
      if (text.length + value.length > LONGEST_WORDS) return [text, value];
      if (piece.kind === 'text' || piece.quoted) {
        text += value;
        isSomething = true;
        continue;
      }
      const parts = value.split(/\s+/);
      for (const [index, part] of parts.entries()) {
        if (index > 0 && isSomething) {
          words.push(text);
          text = '';
          isSomething = false;
        }
        text += part;
        isSomething ||= part !== '';
      }
    }
    if (isSomething) words.push(text);
    return words;
  }

  function variable(name: string): string {
    if (name === '?') return String(state.lastCode);
    if (name === '$') return '4242';
    if (name === '#') return '0';
    return state.variables.get(name) ?? environment[name] ?? '';
  }

  async function substitute(inner: string): Promise<string> {
    if (depth >= DEEPEST) return '';
    const pieces: Buffer[] = [];
    let size = 0;
    const out: Output = async (bytes) => {
      size += bytes.length;
      if (size <= MOST_SUBSTITUTED) pieces.push(Buffer.from(bytes));
      return true;
    };
    await runScript(inner, device, { stdin: noInput, out, err: io.err, signal: io.signal }, newShellState(), depth + 1);
    return Buffer.concat(pieces).toString('utf8').replace(/\n+$/, '');
  }

  function openInput(path: string): Input | { problem: string } {
    if (path === '/dev/null') return noInput;
    const entry = device.storage.find(path);
    if (typeof entry === 'string') return { problem: entry };
    if (entry.kind !== 'file') return { problem: 'Is a directory' };
    if (!entry.content.isWhole) return { problem: NOT_KEPT };
    let bytes: Buffer | undefined = entry.content.head;
    return {
      read: async () => {
        const now = bytes;
        bytes = undefined;
        return now;
      },
    };
  }

  function openOutput(
    path: string,
    append: boolean,
  ): { problem: string } | { write: Output; close: () => Promise<void> } {
    if (path === '/dev/null') return { write: async () => true, close: async () => {} };
    const refused = device.storage.refusal(path);
    if (refused !== undefined) return { problem: refused };
    const sink = device.storage.openSink();
    const before = append ? device.storage.find(path) : undefined;
    if (typeof before === 'object' && before.kind === 'file') sink.add(before.content.head);
    return {
      write: async (bytes) => sink.add(Buffer.from(bytes)),
      close: async () => {
        device.storage.write(path, sink.finish());
      },
    };
  }
}

const environment: Readonly<Record<string, string>> = {
  HOME: '/',
  PATH: '/product/bin:/apex/com.android.runtime/bin:/system/bin:/system/xbin:/vendor/bin',
  SHELL: '/bin/sh',
  TERM: 'dumb',
  TMPDIR: '/data/local/tmp',
  USER: 'shell',
  EXTERNAL_STORAGE: '/sdcard',
  ANDROID_ROOT: '/system',
  ANDROID_DATA: '/data',
  PWD: '/',
};
