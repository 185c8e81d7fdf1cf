import { createHash } from 'node:crypto';
import type { Input, Program } from '../shell/process.ts';
import { eachOperand, type ToyboxProcess, toybox } from '../shell/toybox.ts';

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

export const filePrograms: Readonly<Record<string, Program>> = { cat, rm, mkdir, sha256sum };
