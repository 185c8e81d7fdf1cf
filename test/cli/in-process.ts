import { join } from 'node:path';
import chalk, { chalkStderr } from 'chalk';
import { applyColours } from '../../src/cli/colour.ts';
import { main } from '../../src/cli/main.ts';

export const root = join(import.meta.dirname, '..', '..');

export interface Printed {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** What code of the command line prints in this process while it runs, and the exit code that it leaves. */
export async function printedBy(work: (soFar: () => Printed) => Promise<unknown>): Promise<Printed> {
  const streams = [process.stdout, process.stderr] as const;
  const texts = ['', ''];
  const writes = streams.map(({ write }) => write);
  const { exitCode } = process;
  const soFar = () => ({ code: Number(process.exitCode ?? 0), stdout: texts[0] ?? '', stderr: texts[1] ?? '' });
  for (const [at, stream] of streams.entries()) {
    stream.write = ((text: string | Uint8Array, ...more: unknown[]) => {
      texts[at] += String(text);
      const done = more.at(-1);
      if (typeof done === 'function') done();
      return true;
    }) as typeof stream.write;
  }
  process.exitCode = undefined;
  try {
    await work(soFar);
    return soFar();
  } finally {
    for (const [at, stream] of streams.entries()) stream.write = writes[at] as typeof stream.write;
    process.exitCode = exitCode;
  }
}

/** The command line in this process; a command that it finds is that of the build. */
export async function gwHere(line: string): Promise<Printed> {
  const levels = [chalk.level, chalkStderr.level] as const;
  const key = '__zod_globalConfig';
  const schemas = Reflect.get(globalThis, key);
  try {
    return await printedBy(() => main(line.split(' '), root));
  } finally {
    applyColours({ stdout: true, stderr: true });
    [chalk.level, chalkStderr.level] = levels;
    Reflect.set(globalThis, key, schemas);
  }
}
