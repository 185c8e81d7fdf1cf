import { readdir, rename, rm, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { GwError, systemReason } from '../../error/index.ts';
import { assertOwnFolder, ensureFolder, readWhole, replaceFile } from '../../lifecycle/index.ts';
import type { RecordVerify } from '../checklist/checklist.result.ts';
import { checkRecord } from '../checklist/verify.ts';

const MARKER = '.gw-demo';
const MARKER_TEXT = 'This folder was made by `gw demo`; a new run replaces its own files in it.\n';
const RECORD = 'record.json';
/** What a run writes that is not yet complete. */
const UNFINISHED = '.gw-demo-run';
const IDENTITY = 'identity';
const IDENTITY_BEFORE = '.identity-before';
/** Files of an earlier demo that would break this one, such as a latched stop. */
const REMOVED_AT_START = ['state', 'releases', UNFINISHED];
/** Made of the record by a command that the demo prints, which replaces no file. */
const MADE_OF_RECORD = 'acceptance.pdf';
/** CA of the certificates of every run in this folder. */
const CA_FILE = 'enrolment-ca.pem';

/**
 * The folder of a demo. Record and reports of the last run stay until this run has its own, and what verifies them: the CA
 * of the simulator stays in the folder, and the identity until another one is enrolled.
 */
export interface DemoFolder {
  /** Where this run writes its record and its reports until it is complete. */
  readonly unfinishedDir: string;
  readonly unfinishedRecord: string;
  /** Removes what would break a new run, and sets the identity of the last one aside. */
  begin(): Promise<void>;
  /** The new identity is there. */
  enrolled(): Promise<void>;
  /** Puts record and reports in the place of those of the last run; returns their paths. */
  finish(written: readonly string[]): Promise<{ readonly record: string; readonly written: string[] }>;
  /** After a run without a record of its own: removes what it began. Returns the verified record of the last run. */
  undo(sitePath: string): Promise<RecordVerify | null>;
}

/** Accepts a folder that is new, empty or of an earlier demo, and removes nothing. Throws FILE_EXISTS, FILE_UNWRITABLE. */
export async function claimFolder(dir: string): Promise<DemoFolder> {
  const unfinishedDir = join(dir, UNFINISHED);
  const [identity, before] = [join(dir, IDENTITY), join(dir, IDENTITY_BEFORE)];
  const remove = (name: string) => rm(join(dir, name), { recursive: true, force: true });
  await usable(dir, async () => {
    await ensureFolder(dir);
    // Files in the folder are removed, so it must belong to this user alone.
    await assertOwnFolder(dir);
    const marker = await readWhole(join(dir, MARKER), 64 * 1024).catch(() => undefined);
    if (marker === undefined && (await readdir(dir)).length > 0) {
      throw new GwError('FILE_EXISTS', `${dir} contains files that gw demo did not write.`, {
        remedy: 'Name another folder with --dir.',
      });
    }
    await replaceFile(join(dir, MARKER), MARKER_TEXT);
  });
  return {
    unfinishedDir,
    unfinishedRecord: join(unfinishedDir, RECORD),
    begin: () =>
      usable(dir, async () => {
        for (const name of REMOVED_AT_START) await remove(name);
        // One that is still aside: the run after it ended before it was enrolled.
        if (await isThere(before)) await remove(IDENTITY);
        else if (await isThere(identity)) await rename(identity, before);
        await ensureFolder(unfinishedDir);
      }),
    enrolled: () => remove(IDENTITY_BEFORE),
    async finish(written) {
      const paths: string[] = [];
      for (const path of written) {
        paths.push(join(dir, basename(path)));
        await rename(path, join(dir, basename(path)));
      }
      await remove(MADE_OF_RECORD);
      const record = join(dir, RECORD);
      await rename(join(unfinishedDir, RECORD), record);
      await remove(UNFINISHED);
      return { record, written: paths };
    },
    async undo(sitePath) {
      await remove(UNFINISHED);
      if (await isThere(before)) {
        await remove(IDENTITY);
        await rename(before, identity);
      }
      const record = join(dir, RECORD);
      if (!(await isThere(record))) return null;
      // The site file may be missing, or of a run that was not enrolled.
      const bySite = await checkRecord(record, { sitePath }).catch(() => null);
      if (bySite?.state === 'verified') return bySite;
      return await checkRecord(record, { caPath: join(dir, CA_FILE) }).catch(() => bySite);
    },
  };
}

async function usable(dir: string, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (cause) {
    if (cause instanceof GwError) throw cause;
    const { code } = cause as NodeJS.ErrnoException;
    throw new GwError('FILE_UNWRITABLE', `${dir} cannot be used as a folder (${systemReason({ code })}).`, { cause });
  }
}

async function isThere(path: string): Promise<boolean> {
  return await stat(path).then(
    () => true,
    () => false,
  );
}
