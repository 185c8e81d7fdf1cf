import { createHash } from 'node:crypto';
import { posix } from 'node:path';
import type { Device } from '../device.ts';
import { activityPrograms } from '../programs/activity.ts';
import { listingPrograms } from '../programs/listing.ts';
import { packagePrograms } from '../programs/packages.ts';
import { settingPrograms } from '../programs/settings.ts';
import { filesSeenFrom } from '../storage.ts';
import {
  eachOperand,
  type Input,
  noInput,
  type Output,
  type Process,
  type Program,
  type ToyboxProcess,
  toybox,
} from './process.ts';
import { parseScript, type Word } from './shell-syntax.ts';

const MISSING = 'No such file or directory';

const cat = toybox('cat', {
  usage: '[-u] [FILE…]',
  flags: 'u',
  run: (process) =>
    eachOperand(process, async (input) => {
      for (let bytes = await input.read(); bytes !== undefined; bytes = await input.read()) {
        if (!(await process.out(bytes))) break;
      }
    }),
});

/** Runs `work` on every operand and reports its failures. */
async function each(
  { operands, fail }: ToyboxProcess,
  work: (path: string) => string | undefined,
  shown = (path: string) => path,
): Promise<number> {
  let code = 0;
  for (const path of operands) {
    const problem = work(path);
    if (problem !== undefined) code = await fail(`${shown(path)}: ${problem}`);
  }
  return code;
}

const rm = toybox('rm', {
  usage: '[-fRr] FILE…',
  flags: 'fRr',
  run(process) {
    const { options, operands, files, fail } = process;
    if (operands.length === 0 && !options.has('f')) return fail('Needs 1 argument (see "rm --help")');
    return each(process, (path) => {
      const problem = files.remove(path, options.has('r') || options.has('R'));
      return problem === MISSING && options.has('f') ? undefined : problem;
    });
  },
});

const mkdir = toybox('mkdir', {
  usage: '[-p] FOLDER…',
  flags: 'p',
  min: 1,
  run: (process) =>
    each(
      process,
      (path) => process.files.makeFolder(path, process.options.has('p')),
      (path) => `'${path}'`,
    ),
});

async function hashOf(input: Input): Promise<string> {
  const hash = createHash('sha256');
  for (let bytes = await input.read(); bytes !== undefined; bytes = await input.read()) hash.update(bytes);
  return hash.digest('hex');
}

const sha256sum = toybox('sha256sum', {
  usage: '[-b] [FILE…]',
  flags: 'b',
  async run(process) {
    const show = (hash: string, path: string) =>
      process.out(process.options.has('b') ? `${hash}\n` : `${hash}  ${path}\n`);
    let code = 0;
    for (const path of process.operands.length === 0 ? ['-'] : process.operands) {
      const entry = path === '-' ? undefined : process.files.find(path);
      // The hash is stored also for files whose middle is not.
      if (typeof entry === 'object' && entry.kind === 'file') await show(entry.content.sha256, path);
      else {
        const one = { ...process, operands: [path] };
        code = (await eachOperand(one, async (input) => void (await show(await hashOf(input), path)))) || code;
      }
    }
    return code;
  },
});

const filePrograms: Readonly<Record<string, Program>> = { cat, rm, mkdir, sha256sum };

const MAX_SLEEP_S = 86_400;

const echo: Program = async ({ words, out }) => {
  const hasNoEnd = words[0] === '-n';
  await out(`${words.slice(Number(hasNoEnd)).join(' ')}${hasNoEnd ? '' : '\n'}`);
  return 0;
};

const unitS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };

const sleep = toybox('sleep', {
  usage: 'DURATION[smhd]…',
  min: 1,
  async run({ operands, device, signal, fail }) {
    let seconds = 0;
    for (const text of operands) {
      const found = /^(\d*\.?\d+)([smhd]?)$/.exec(text);
      if (!found) return fail(`bad number '${text}'`);
      seconds += Number(found[1]) * (unitS[found[2] || 's'] ?? 1);
    }
    if (seconds > MAX_SLEEP_S) return fail('this simulated tablet sleeps at most one day');
    try {
      await device.clock.sleep(seconds * 1000, signal);
    } catch {
      return 130;
    }
    return 0;
  },
});

/** A shell without root, as on a user build. */
const ID =
  'uid=2000(shell) gid=2000(shell) groups=2000(shell),1004(input),1007(log),1011(adb),1015(sdcard_rw),3003(inet) context=u:r:shell:s0';

const printing = (name: string, text: (process: Process) => string): Program =>
  toybox(name, {
    usage: '',
    max: 0,
    run: async (process) => Number(!(await process.out(`${text(process)}\n`))),
  });

const textPrograms: Readonly<Record<string, Program>> = {
  echo,
  sleep,
  true: () => 0,
  false: () => 1,
  id: printing('id', () => ID),
  whoami: printing('whoami', () => 'shell'),
  pwd: printing('pwd', ({ folder }) => folder),
  date: printing('date', ({ device }) => {
    const text = device.clock.wall().toUTCString();
    return text.replace(/^(\w+), (\d+) (\w+) (\d+) (\S+) GMT$/, '$1 $3 $2 $5 UTC $4');
  }),
};

const programs: ReadonlyMap<string, Program> = new Map(
  Object.entries({
    ...textPrograms,
    ...filePrograms,
    ...listingPrograms,
    ...settingPrograms,
    ...packagePrograms,
    ...activityPrograms,
  }),
);

/** Programs behind `cmd SERVICE …`. */
const services: Readonly<Record<string, string>> = {
  package: 'pm',
  activity: 'am',
  settings: 'settings',
  device_policy: 'dpm',
  window: 'wm',
  wifi: 'cmd-wifi',
};

const command: Program = (process) => {
  const [service = '', ...words] = process.words;
  if (service === '-l') return process.out(`${Object.keys(services).join('\n')}\n`).then(() => 0);
  const program = Object.hasOwn(services, service) ? programs.get(services[service] ?? '') : undefined;
  if (!program) return process.err(`cmd: Can't find service: ${service}\n`).then(() => 20);
  return program({ ...process, words });
};

/** A program by name or path; undefined when there is none. */
function findProgram(name: string): Program | undefined {
  const short = name.replace(/^\/system\/bin\//, '');
  if (short === 'cmd') return command;
  // Services of `cmd` are not programs.
  return short === 'cmd-wifi' ? undefined : programs.get(short);
}

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
