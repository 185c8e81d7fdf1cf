import { join } from 'node:path';
import { z } from 'zod';
import { asGwError, GwError } from '../../error/index.ts';
import { type StateFiles, stateFiles } from '../../json/index.ts';
import { type Clock, type Log, orAfter } from '../../lifecycle/index.ts';
import { type FailedRun, failedRunSchema, type Run } from '../../pages/index.ts';

/** The last run that failed, until a person has seen it: a later run, and a restart of the gateway, do not end it. */
export interface FailedDrive {
  /** With the number of those before it; null: each was seen, or none failed. */
  now(): FailedRun | null;
  /**
   * Resolves when the file is read, or cannot be: then whether a run failed is not known, and it is read again. What
   * happened before an earlier `stop` holds.
   */
  start(): Promise<void>;
  /** Resolves when what holds is on the disk, and after 3 s at the latest. */
  stop(): Promise<void>;
  /** A run is under way: if the gateway ends before the run, it has failed. */
  runs(run: RunAsShown): void;
  /** It has ended; with `failure` null it reached its goal, or a person ended it. */
  ended(run: RunAsShown): void;
  /**
   * A person has seen the failed run of this id, and with it those before. Resolves when that is on the disk, and after 3 s
   * at the latest; it is tried again until it is. null: it is not the last failed run.
   */
  seen(id: string): Promise<{ readonly saved: boolean } | null>;
  /** Called after every change. */
  subscribe(listener: () => void): Disposable;
}

/** For how long it lasts is measured elsewhere. */
export type RunAsShown = Omit<Run, 'forMs'>;

const FILE = 'failed-drive.json';
const FORMAT = 'gw/failed-drive/1';
/** What could not be read or written is tried again after this time. */
const RETRY_MS = 2_000;
/** A disk that takes longer is not waited for. */
const HUNG_MS = 3_000;
const MAX_CHARACTERS = 500;

/** `failed`: what holds if the gateway ends now, so that a run under way is in it as interrupted. */
const failedDriveFile = z.strictObject({
  format: z.literal(FORMAT),
  serial: z.string(),
  failed: failedRunSchema.nullable(),
});

interface Options {
  readonly stateDir: string;
  readonly serial: string;
  readonly clock: Clock;
  readonly log: Log;
}

export function createFailedDrive(
  { stateDir, serial, clock, log }: Options,
  { read, write }: StateFiles = stateFiles,
): FailedDrive {
  const path = join(stateDir, FILE);
  /** Since the start of this process. */
  let failed: FailedRun | null = null;
  /** In the file at that time. */
  let before: FailedRun | null = notRead('It has not been read yet.');
  let underWay: RunAsShown | null = null;
  let seenId = '';
  /** Or a person has seen that it cannot be. Before, it is not overwritten. */
  let isRead = false;
  let loading: Promise<void> | null = null;
  let [changes, savedChanges] = [0, 0];
  let saving: Promise<void> | null = null;
  let unsavedBecause = '';
  const listeners = new Set<() => void>();

  function notify(): void {
    for (const listener of [...listeners]) listener();
  }

  /** With those of before. */
  function whole(since: FailedRun | null): FailedRun | null {
    if (since === null || before === null) return since ?? before;
    return { ...since, earlier: since.earlier + before.earlier + 1 };
  }

  async function readFile(): Promise<void> {
    try {
      const found = await read(path, failedDriveFile);
      if (found !== null && found.serial !== serial) {
        throw new GwError('FILE_UNREADABLE', `${path} is of another robot (serial ${found.serial.slice(0, 128)}).`);
      }
      if (isRead) return;
      isRead = true;
      before = found === null ? null : found.failed;
      notify();
      void save();
    } catch (error) {
      const { message } = asGwError(error);
      if (isRead || before?.failure.technical === cut(message)) return;
      log.error({ path, error: message }, 'whether a drive failed is not known');
      before = notRead(message);
      notify();
    }
  }

  function load(): Promise<void> {
    loading ??= readFile().finally(() => {
      loading = null;
    });
    return loading;
  }

  function changed(): void {
    changes += 1;
    void save();
  }

  /** Resolves when what holds now is on the disk, or could not be written. */
  function save(): Promise<void> {
    if (isRead && savedChanges !== changes) saving ??= writeAll();
    return saving ?? Promise.resolve();
  }

  async function writeAll(): Promise<void> {
    try {
      while (savedChanges !== changes) {
        const last = changes;
        await write(path, {
          format: FORMAT,
          serial,
          failed: whole(underWay === null ? failed : onTop(interrupted(underWay))),
        });
        [savedChanges, unsavedBecause] = [last, ''];
      }
    } catch (error) {
      const { message } = asGwError(error);
      if (unsavedBecause !== message) log.error({ path, error: message }, 'how drives ended cannot be saved');
      unsavedBecause = message;
    } finally {
      saving = null;
    }
  }

  /** The newest, which is read first, counts the others. */
  function onTop(run: Omit<FailedRun, 'earlier'>): FailedRun {
    const failure = { ...run.failure, technical: cut(run.failure.technical) };
    return { ...run, failure, earlier: failed === null ? 0 : failed.earlier + 1 };
  }

  let retrying: Disposable | null = null;

  return {
    now: () => whole(failed),
    start() {
      retrying ??= clock.every(RETRY_MS, () => {
        if (!isRead) void load();
        void save();
      });
      return isRead ? Promise.resolve() : load();
    },
    async stop() {
      retrying?.[Symbol.dispose]();
      retrying = null;
      await orAfter(clock, HUNG_MS, save());
    },
    runs(run) {
      if (underWay?.id === run.id && underWay.at === run.at) return;
      underWay = run;
      changed();
    },
    ended(run) {
      const { failure } = run;
      if (underWay?.id === run.id) underWay = null;
      else if (failure === null) return;
      if (failure !== null) {
        failed = onTop({ ...run, failure });
        notify();
      }
      changed();
    },
    async seen(id) {
      if (whole(failed)?.id === id) {
        [seenId, failed, before, isRead] = [id, null, null, true];
        notify();
        changed();
      } else if (seenId !== id) return null;
      const mine = changes;
      await orAfter(clock, HUNG_MS, save());
      return { saved: savedChanges >= mine };
    },
    subscribe(listener) {
      const mine = () => listener();
      listeners.add(mine);
      return { [Symbol.dispose]: () => void listeners.delete(mine) };
    },
  };
}

function interrupted(run: RunAsShown): Omit<FailedRun, 'earlier'> {
  return { ...run, state: 'failed', failure: { cause: 'interrupted', offM: null, offDeg: null, technical: null } };
}

function notRead(why: string): FailedRun {
  return {
    ...{ id: 'not-read', kind: 'order', name: null, stations: [], at: 0, state: 'failed', failReason: null },
    ...{ although: [], earlier: 0 },
    failure: { cause: 'not-read', offM: null, offDeg: null, technical: cut(why) },
  };
}

function cut<T extends string | null>(text: T): T {
  return (text === null ? null : text.slice(0, MAX_CHARACTERS)) as T;
}
