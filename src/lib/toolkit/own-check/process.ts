import { readdir, readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import type { CheckContext } from '../toolkit.ts';
import { NOT_CHECKED, type NotChecked, THIS_MACHINE } from './place.ts';

export interface ProcessOptions {
  /** Name of the program: of its file, or what it calls itself. */
  readonly name: string;
  /** One of its arguments, in full: `gw.js` of `node gw.js`. */
  readonly argument?: string | undefined;
}

/** Result of the check `process`. */
export interface ProcessCheck {
  readonly from: string;
  readonly name: string;
  /** not-checked where this user may not see all processes and sees none that it is. */
  readonly running: boolean | NotChecked;
  readonly count: number | NotChecked;
  readonly pids: readonly number[];
  readonly detail: string;
}

const MAX_PIDS = 100;

/** The name in brackets and the state of /proc/PID/stat. A name may hold brackets and spaces. */
export function parseProcessStat(text: string): { readonly name: string; readonly state: string } | undefined {
  const open = text.indexOf('(');
  const close = text.lastIndexOf(')');
  const state = /^ ([A-Za-z]) /.exec(text.slice(close + 1))?.[1];
  if (open < 0 || close < open || !/^\d+ $/.test(text.slice(0, open)) || state === undefined) return undefined;
  return { name: text.slice(open + 1, close), state };
}

/** Looks for running processes of this machine by name. One that has ended and is not collected does not count. */
export async function checkProcess(options: ProcessOptions, { signal }: CheckContext): Promise<ProcessCheck> {
  const { name, argument } = options;
  const all = (await readdir('/proc')).filter((entry) => /^\d+$/.test(entry)).map(Number);
  const pids: number[] = [];
  // Mounted with hidepid, /proc has only the processes of the same user, or names the others and opens none of them.
  let isWhole = all.includes(1);
  for (const pid of all) {
    signal.throwIfAborted();
    if (pid === process.pid) continue;
    const found = await isMeant(pid, name, argument);
    if (found === NOT_CHECKED) isWhole = false;
    else if (found) pids.push(pid);
  }
  const count = isWhole ? pids.length : NOT_CHECKED;
  const running = pids.length > 0 ? true : isWhole ? false : NOT_CHECKED;
  const what = argument === undefined ? name : `${name} … ${argument}`;
  const found = pids.length === 0 ? 'is not running' : `runs ${pids.length === 1 ? 'once' : `${pids.length} times`}`;
  const hidden = isWhole ? '' : '; this user does not see the processes of others';
  const detail = `${what} ${running === NOT_CHECKED ? 'was not found' : found}${hidden}, ${THIS_MACHINE}`;
  return { from: THIS_MACHINE, name, running, count, pids: pids.slice(0, MAX_PIDS), detail };
}

async function isMeant(pid: number, name: string, argument: string | undefined): Promise<boolean | NotChecked> {
  try {
    const known = parseProcessStat(await readFile(`/proc/${pid}/stat`, 'latin1'));
    if (known === undefined || known.state === 'Z' || known.state === 'X') return false;
    const [program = '', ...args] = (await readFile(`/proc/${pid}/cmdline`, 'utf8')).split('\0');
    const isNamed = basename(program) === name || known.name === name;
    return isNamed && (argument === undefined || args.includes(argument));
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    // It has ended meanwhile.
    return ['ENOENT', 'ESRCH'].includes(code) ? false : NOT_CHECKED;
  }
}
