import { readFile, rm } from 'node:fs/promises';
import { GwError } from '../../error/index.ts';
import { openFresh, readWhole } from '../../lifecycle/index.ts';

const MAX_LOCK_BYTES = 1_024;

/**
 * Locks a journal for this process. Returns the path of the lock file beside the journal; its owner removes it. Throws RUN_OPEN, and the error of the operating system.
 */
export async function claimJournal(path: string): Promise<string> {
  const lock = `${path}.lock`;
  for (let attempt = 0; attempt < 2; attempt += 1) {
    try {
      const mark = await processMark(process.pid);
      await using file = await openFresh(lock);
      await file.writeFile(mark);
      return lock;
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code !== 'EEXIST') throw cause;
      const owner = await readWhole(lock, MAX_LOCK_BYTES).then(
        (bytes) => Buffer.from(bytes).toString(),
        () => '',
      );
      const pid = Number(owner.split(' ')[0]);
      if (isAlive(pid) && (await processMark(pid)) === owner) {
        throw new GwError('RUN_OPEN', `Process ${pid} is running this checklist.`, {
          remedy: `Wait until it ends. If it is not gw, remove ${lock}.`,
        });
      }
      await rm(lock, { force: true });
    }
  }
  throw new GwError('RUN_OPEN', 'Another process has just resumed this run.');
}

/** PID and start time: a PID is reused after a restart of the machine or the container. */
async function processMark(pid: number): Promise<string> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  // The name before the last bracket may hold anything; the start is the twentieth field behind it.
  const start = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '';
  return `${pid} ${start}`;
}

function isAlive(pid: number): boolean {
  if (!Number.isSafeInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
