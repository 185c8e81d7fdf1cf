import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { asGwError, GwError } from '../error/index.ts';
import { type Clock, folderProblem, type Log, readWhole, replaceFile, syncFolder } from '../lifecycle/index.ts';
import type { PoseAlarmView } from './model.ts';

const FILE = 'pose-alarm.json';
const FORMAT = 'gw/pose-alarm/1';
const MAX_BYTES = 16 * 1024;
const MAX_CHARACTERS = 500;
/** An alarm that could not be read is read again after this time. */
const RETRY_MS = 2_000;
/** A write that takes longer counts as failed. */
const HUNG_MS = 3_000;

const schema = z.strictObject({
  format: z.literal(FORMAT),
  reason: z.string().max(MAX_CHARACTERS),
  since: z.iso.datetime(),
});

interface Options {
  readonly stateDir: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly onChange: () => void;
}

/**
 * Whether the pose of the robot is known to be wrong, or not known after a pose was sent. It is raised on the disk before
 * a pose is sent and cleared when the chassis has reported it back: so it outlives a crash in between. An unreadable file
 * counts as raised.
 */
export function createPoseAlarm({ stateDir, clock, log, onChange }: Options) {
  const path = join(stateDir, FILE);
  let state: PoseAlarmView | null = { reason: 'The pose alarm has not been read yet.', since: null };
  let isRead = false;
  let queue: Promise<unknown> = Promise.resolve();

  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = queue.then(work);
    queue = turn.catch(() => {});
    return turn;
  }

  function become(next: PoseAlarmView | null): void {
    state = next;
    onChange();
  }

  async function read(): Promise<void> {
    const found = await readFile();
    // A pose that was sent meanwhile decides.
    if (isRead) return;
    if (typeof found === 'string') {
      const reason = `The pose alarm cannot be read from ${path} (${found}), which counts as a wrong pose.`;
      if (state?.reason !== reason) log.error({ path, found }, 'the pose alarm cannot be read and counts as raised');
      become({ reason, since: null });
      return;
    }
    isRead = true;
    become(found);
  }

  async function readFile(): Promise<PoseAlarmView | string | null> {
    try {
      const problem = await folderProblem(stateDir);
      if (problem !== null) return problem.text;
      return parsePoseAlarm(Buffer.from(await readWhole(path, MAX_BYTES)).toString('utf8'));
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      return code === 'ENOENT' ? null : (code ?? 'it cannot be opened');
    }
  }

  /** Rejects with FILE_UNWRITABLE; a disk that does not answer counts as failed. */
  async function onDisk(work: () => Promise<void>): Promise<void> {
    const late = Promise.withResolvers<never>();
    using _limit = clock.after(HUNG_MS, () => late.reject(new Error('disk access timed out')));
    try {
      await Promise.race([inTurn(() => inOwnFolder(work)), late.promise]);
    } catch (cause) {
      throw new GwError(
        'FILE_UNWRITABLE',
        `The pose alarm cannot be saved in ${stateDir}: ${asGwError(cause).message}`,
        {
          remedy: 'Give gw its own writable state folder with free space (stateDir in the site file).',
          cause,
        },
      );
    }
  }

  /** Another user with write access could put a link in place of the file. */
  async function inOwnFolder(work: () => Promise<void>): Promise<void> {
    const problem = await folderProblem(stateDir);
    if (problem !== null) throw new Error(problem.text);
    await work();
  }

  return {
    state: (): PoseAlarmView | null => state,

    load: (): Promise<void> => inTurn(read),

    /** Reads again what could not be read, until it is disposed. */
    watch: (): Disposable => clock.every(RETRY_MS, () => void (isRead || inTurn(read))),

    /** Holds when it returns; resolves when it is on the disk. Throws FILE_UNWRITABLE; it holds in memory then. */
    async raise(reason: string): Promise<void> {
      isRead = true;
      const since = clock.wall().toISOString();
      const kept = { reason: reason.slice(0, MAX_CHARACTERS), since };
      become(kept);
      log.warn({ reason }, 'the pose of the robot is wrong or not known: no drive passes');
      await onDisk(() =>
        replaceFile(path, `${JSON.stringify({ format: FORMAT, ...kept })}\n`, {
          mode: 0o600,
          folderMode: 0o700,
          durable: true,
        }),
      );
    },

    /** A pose was set and reported back. Throws FILE_UNWRITABLE: then it stays raised. */
    async clear(): Promise<void> {
      if (state === null) return;
      await onDisk(async () => {
        await rm(path, { force: true });
        await syncFolder(stateDir);
      });
      isRead = true;
      log.info({}, 'the pose of the robot was set and reported back');
      become(null);
    },
  };
}

export type PoseAlarm = ReturnType<typeof createPoseAlarm>;

/** Exported for its property test. */
export function parsePoseAlarm(text: string): PoseAlarmView | string {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return text === '' ? 'it is empty' : 'it is not JSON';
  }
  const parsed = schema.safeParse(json);
  return parsed.success ? { reason: parsed.data.reason, since: parsed.data.since } : 'its content is not a pose alarm';
}
