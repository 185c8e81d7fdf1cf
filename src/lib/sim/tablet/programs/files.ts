import { createHash } from 'node:crypto';
import type { Input, Program } from '../process.ts';
import type { Content, Entry, Files } from '../storage.ts';
import { eachOperand, type ToyProcess, toy } from '../toy.ts';

const MISSING = 'No such file or directory';
const NO_ROOM = 'No space left on device';

const cat = toy('cat', {
  usage: '[-u] [FILE…]',
  flags: 'u',
  run: (process) =>
    eachOperand(process, async (input) => {
      for (let bytes = await input.read(); bytes !== undefined; bytes = await input.read()) {
        if (!(await process.out(bytes))) break;
      }
    }),
});

/** Runs through the operands; what cannot be done with one is told, and the next one tried. */
async function each(
  { operands, fail }: ToyProcess,
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

const quoted = (path: string) => `'${path}'`;

const rm = toy('rm', {
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

/** The permissions that a mode asks for: `644`, or `u+rw,go-x`; undefined when it is none. */
function readMode(text: string, before: number): number | undefined {
  if (/^[0-7]{1,4}$/.test(text)) return Number.parseInt(text, 8) & 0o777;
  let mode = before & 0o777;
  for (const part of text.split(',')) {
    const found = /^([ugoa]*)([-+=])([rwx]*)$/.exec(part);
    if (!found) return undefined;
    const [, who = '', sign, what = ''] = found;
    const bits = (what.includes('r') ? 4 : 0) | (what.includes('w') ? 2 : 0) | (what.includes('x') ? 1 : 0);
    for (const [letter, shift] of [
      ['u', 6],
      ['g', 3],
      ['o', 0],
    ] as const) {
      if (who !== '' && !who.includes('a') && !who.includes(letter)) continue;
      if (sign === '=') mode &= ~(7 << shift);
      if (sign === '-') mode &= ~(bits << shift);
      else mode |= bits << shift;
    }
  }
  return mode;
}

const mkdir = toy('mkdir', {
  usage: '[-p] [-m MODE] FOLDER…',
  flags: 'p',
  valued: 'm',
  least: 1,
  run(process) {
    const { options, files, fail } = process;
    const asked = options.get('m');
    const mode = asked === undefined ? undefined : readMode(asked, 0o777);
    if (asked !== undefined && mode === undefined) return fail(`bad mode '${asked}'`);
    const make = (path: string) => {
      const isNew = typeof files.find(path) === 'string';
      const problem = files.makeFolder(path, options.has('p'));
      return problem ?? (isNew && mode !== undefined ? files.change(path, { mode }) : undefined);
    };
    return each(process, make, quoted);
  },
});

const chmod = toy('chmod', {
  usage: 'MODE FILE…',
  least: 2,
  // `-x` is a mode here.
  modern: ([first = '', ...rest]) => (/^-[rwx]+$/.test(first) ? [`a${first}`, ...rest] : [first, ...rest]),
  run(process) {
    const [asked = '', ...paths] = process.operands;
    if (readMode(asked, 0) === undefined) return process.fail(`bad mode '${asked}'`);
    const change = (path: string) => {
      const entry = process.files.find(path);
      if (typeof entry === 'string') return entry;
      return process.files.change(path, { mode: readMode(asked, entry.mode) ?? entry.mode });
    };
    return each({ ...process, operands: paths }, change, (path) => `chmod '${path}' to ${asked}`);
  },
});

const touch = toy('touch', {
  usage: '[-cm] FILE…',
  flags: 'cm',
  least: 1,
  run(process) {
    const { options, files, device } = process;
    const make = (path: string) => {
      const entry = files.find(path);
      if (typeof entry === 'object') return files.change(path, { mtimeS: files.now() });
      if (entry === MISSING && options.has('c')) return undefined;
      return files.write(path, device.storage.openSink().finish());
    };
    return each(process, make, quoted);
  },
});

const nameOf = (path: string) => path.replace(/\/+$/, '').split('/').at(-1) ?? '';

/** Where a copy of `from` goes: into a folder that is there, otherwise to the path itself. */
function placeOf(files: Files, from: string, to: string): string {
  return typeof files.folder(to) === 'object' ? `${to}/${nameOf(from)}` : to;
}

/** Runs through what is copied or moved; `work` gives what stands in the way. */
async function transfer(
  { operands, files, fail }: ToyProcess,
  work: (from: string, place: string) => string | undefined,
): Promise<number> {
  const to = operands.at(-1) ?? '';
  const sources = operands.slice(0, -1);
  if (sources.length > 1 && typeof files.folder(to) === 'string') return fail(`'${to}' not directory`);
  let code = 0;
  for (const from of sources) {
    const entry = files.find(from, false);
    const place = placeOf(files, from, to);
    const problem = typeof entry === 'string' ? undefined : work(from, place);
    if (typeof entry === 'string') code = await fail(`bad '${from}': ${entry}`);
    else if (problem !== undefined) code = await fail(`'${from}' to '${place}': ${problem}`);
  }
  return code;
}

function copyEntry(files: Files, from: string, entry: Entry, to: string, keepsTime: boolean): string | undefined {
  if (entry.kind === 'link') return files.link(to, entry.target);
  if (entry.kind === 'file') {
    const before = files.find(to);
    const freed = typeof before === 'object' && before.kind === 'file' ? before.content.size : 0;
    if (entry.content.size > files.freeBytes() + freed) return NO_ROOM;
    return files.write(to, entry.content, entry.mode, keepsTime ? entry.mtimeS : undefined);
  }
  const rows = files.list(from);
  if (typeof rows === 'string') return rows;
  const made = typeof files.folder(to) === 'object' ? undefined : files.makeFolder(to, false);
  if (made !== undefined) return made;
  for (const [name, row] of rows) {
    const problem = copyEntry(files, `${from}/${name}`, row, `${to}/${name}`, keepsTime);
    if (problem !== undefined) return problem;
  }
  return keepsTime ? files.change(to, { mode: entry.mode, mtimeS: entry.mtimeS }) : undefined;
}

/** Whether a path lies in a folder. */
function isWithin(files: Files, folder: string, path: string): boolean {
  const [one, other] = [files.folder(folder), files.folder(path.replace(/[^/]*$/, '') || '.')];
  return typeof one === 'object' && typeof other === 'object' && `${other.at}/`.startsWith(`${one.at}/`);
}

const cp = toy('cp', {
  usage: '[-afnpRr] FROM… TO',
  flags: 'afnpRr',
  least: 2,
  run(process) {
    const { options, files } = process;
    const isDeep = options.has('r') || options.has('R') || options.has('a');
    return transfer(process, (from, place) => {
      const entry = files.find(from, !options.has('a'));
      if (typeof entry === 'string') return entry;
      if (entry.kind === 'folder' && !isDeep) return 'Is a directory';
      const there = files.find(place, false);
      if (there === entry || (entry.kind === 'folder' && isWithin(files, from, place))) return 'they are the same';
      if (typeof there === 'object' && options.has('n')) return undefined;
      return copyEntry(files, from, entry, place, options.has('p') || options.has('a'));
    });
  },
});

const mv = toy('mv', {
  usage: '[-fn] FROM… TO',
  flags: 'fn',
  least: 2,
  run(process) {
    const { options, files } = process;
    return transfer(process, (from, place) => {
      const isKept = options.has('n') && typeof files.find(place, false) === 'object';
      return isKept ? undefined : files.rename(from, place);
    });
  },
});

/** Hashes of files or of the input; `known` answers without reading where it can. */
function sum(name: string, algorithm: string, known: (content: Content) => string | undefined): Program {
  const hashOf = async (input: Input) => {
    const hash = createHash(algorithm);
    for (let bytes = await input.read(); bytes !== undefined; bytes = await input.read()) hash.update(bytes);
    return hash.digest('hex');
  };
  return toy(name, {
    usage: '[-b] [FILE…]',
    flags: 'b',
    async run(process) {
      const show = (hash: string, path: string) =>
        process.out(process.options.has('b') ? `${hash}\n` : `${hash}  ${path}\n`);
      let code = 0;
      for (const path of process.operands.length === 0 ? ['-'] : process.operands) {
        const entry = path === '-' ? undefined : process.files.find(path);
        const found = typeof entry === 'object' && entry.kind === 'file' ? known(entry.content) : undefined;
        if (found !== undefined) await show(found, path);
        else {
          const one = { ...process, operands: [path] };
          code = (await eachOperand(one, async (input) => void (await show(await hashOf(input), path)))) || code;
        }
      }
      return code;
    },
  });
}

export const filePrograms: Readonly<Record<string, Program>> = {
  cat,
  rm,
  mkdir,
  cp,
  mv,
  sha256sum: sum('sha256sum', 'sha256', ({ sha256 }) => sha256),
  md5sum: sum('md5sum', 'md5', () => undefined),
  chmod,
  touch,
};
