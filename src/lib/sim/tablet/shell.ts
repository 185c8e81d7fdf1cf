import { posix } from 'node:path';
import type { Device } from './device.ts';
import { createPipe, type Input, noInput, type Output, type Process } from './process.ts';
import { findProgram } from './programs.ts';
import { type Command, parseScript, type Word } from './shell-syntax.ts';
import { filesSeenFrom, NOT_KEPT } from './storage.ts';
import { inputOf } from './toy.ts';

export interface ShellIo {
  readonly stdin: Input;
  readonly out: Output;
  readonly err: Output;
  readonly signal: AbortSignal;
}

export interface ShellState {
  lastCode: number;
  readonly variables: Map<string, string>;
  /** Where it is; `cd` changes it. */
  folder: string;
  /** Where it was before. */
  before: string;
  /** Set by `exit`. */
  isOver: boolean;
}

const NAME = '/system/bin/sh';
const DEEPEST = 8;
const MOST_VARIABLES = 50;
/** All words of one command together, and one while it is made. */
const LONGEST_WORDS = 128 * 1024;
/** Stands for what would be longer, so that its command is refused and not run with a part of it. */
const OVERLONG = 'x'.repeat(LONGEST_WORDS + 1);

export const newShellState = (folder = '/'): ShellState => ({
  lastCode: 0,
  variables: new Map(),
  folder,
  before: folder,
  isOver: false,
});

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
  /** Of the last command in the words of the present one; what only sets variables ends with it. */
  let substituted = 0;
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
    substituted = 0;
    const words: string[] = [];
    for (const word of command.words) words.push(...(await expand(word)));
    let input = stdin;
    let out = stdout;
    let err = io.err;
    const files: Opened[] = [];
    try {
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
          files.push(file);
          if (of === 2) err = file.write;
          else out = file.write;
        }
      }
      if (words.reduce((sum, word) => sum + word.length, 0) > LONGEST_WORDS) {
        await err(Buffer.from(`${NAME}: Argument list too long\n`));
        return 126;
      }
      const code = await runWords(words, input, out, err);
      if (!files.some((file) => file.isFull())) return code;
      await io.err(Buffer.from(`${NAME}: write: No space left on device\n`));
      return code || 1;
    } finally {
      for (const file of files) file.close();
    }
  }

  async function runWords(words: readonly string[], stdin: Input, out: Output, err: Output): Promise<number> {
    let first = 0;
    for (; first < words.length; first += 1) {
      const assignment = /^([A-Za-z_]\w*)=(.*)$/s.exec(words[first] ?? '');
      if (!assignment) break;
      const [, name = '', value = ''] = assignment;
      if (!state.variables.has(name) && state.variables.size >= MOST_VARIABLES) {
        await err(Buffer.from(`${NAME}: this simulated tablet keeps ${MOST_VARIABLES} variables\n`));
        return 1;
      }
      state.variables.set(name, value);
    }
    const [name, ...rest] = words.slice(first);
    if (name === undefined) return substituted;
    if (name === 'exec') return runWords(rest, stdin, out, err);
    if (name === 'export') return rest.every((word) => word.includes('=')) ? runWords(rest, stdin, out, err) : 0;
    if (name === 'exit') {
      state.isOver = true;
      return Number(rest[0] ?? state.lastCode) & 255;
    }
    if (name === 'cd') return changeFolder(rest, out, err);
    const say = (output: Output) => (text: string | Uint8Array) => output(bytesOf(text));
    if (name === 'sh' && rest[0] === '-c') {
      if (depth >= DEEPEST) {
        await err(Buffer.from(`${NAME}: too deep for this simulated tablet\n`));
        return 1;
      }
      const inner = newShellState(state.folder);
      return runScript(rest[1] ?? '', device, { stdin, out, err, signal: io.signal }, inner, depth + 1);
    }
    const program = findProgram(name);
    if (!program) {
      const text = name.includes('/') ? 'not found' : 'inaccessible or not found';
      await err(Buffer.from(`${NAME}: ${name}: ${text}\n`));
      return 127;
    }
    const process: Process = {
      words: rest,
      stdin,
      out: say(out),
      err: say(err),
      device,
      folder: state.folder,
      files: filesSeenFrom(device.storage, state.folder),
      signal: io.signal,
    };
    return program(process);
  }

  async function changeFolder([to = '/']: readonly string[], out: Output, err: Output): Promise<number> {
    const path = to === '-' ? state.before : to;
    const whole = posix.normalize(path.startsWith('/') ? path : `${state.folder}/${path}`).replace(/(.)\/$/, '$1');
    const found = path === '' ? 'No such file or directory' : device.storage.folder(whole);
    if (typeof found === 'string') {
      await err(Buffer.from(`${NAME}: cd: ${to}: ${found}\n`));
      return 2;
    }
    state.before = state.folder;
    state.folder = whole;
    if (to === '-') await out(Buffer.from(`${whole}\n`));
    return 0;
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
    if (name === 'PWD') return state.folder;
    return state.variables.get(name) ?? (Object.hasOwn(environment, name) ? environment[name] : undefined) ?? '';
  }

  async function substitute(inner: string): Promise<string> {
    if (depth >= DEEPEST) return '';
    const pieces: Buffer[] = [];
    let size = 0;
    const out: Output = async (bytes) => {
      size += bytes.length;
      if (size <= LONGEST_WORDS) pieces.push(Buffer.from(bytes));
      return size <= LONGEST_WORDS;
    };
    // As in a copy of this shell: what it sets stays in it.
    const copy = { ...state, variables: new Map(state.variables) };
    const inside = { stdin: noInput, out, err: io.err, signal: io.signal };
    substituted = await runScript(inner, device, inside, copy, depth + 1);
    if (size > LONGEST_WORDS) return OVERLONG;
    return Buffer.concat(pieces).toString('utf8').replace(/\n+$/, '');
  }

  function openInput(path: string): Input | { problem: string } {
    if (path === '/dev/null') return noInput;
    const entry = filesSeenFrom(device.storage, state.folder).find(path);
    if (typeof entry === 'string') return { problem: entry };
    if (entry.kind !== 'file') return { problem: 'Is a directory' };
    return entry.content.isWhole ? inputOf(entry.content.head) : { problem: NOT_KEPT };
  }

  function openOutput(path: string, append: boolean): { problem: string } | Opened {
    if (path === '/dev/null') return { write: async () => true, isFull: () => false, close: () => {} };
    const files = filesSeenFrom(device.storage, state.folder);
    const refused = files.refusal(path);
    if (refused !== undefined) return { problem: refused };
    const before = append ? files.find(path) : undefined;
    const kept = typeof before === 'object' && before.kind === 'file' ? before.content : undefined;
    if (kept?.isWhole === false) return { problem: NOT_KEPT };
    const sink = device.storage.openSink();
    let isFull = kept !== undefined && !sink.add(kept.head);
    const isLeft = isFull;
    return {
      write: async (bytes) => {
        isFull ||= !sink.add(Buffer.from(bytes));
        return !isFull;
      },
      isFull: () => isFull,
      close() {
        // What there is no room to append to stays as it was.
        if (isLeft) sink.drop();
        else files.write(path, sink.finish());
      },
    };
  }
}

/** A file that an output goes to. */
interface Opened {
  readonly write: Output;
  /** There was no room for all of it. */
  isFull(): boolean;
  close(): void;
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
};
