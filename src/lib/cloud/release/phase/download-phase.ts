import { readdir, rm, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { GwError } from '../../../error/index.ts';
import { createBackoff, ensureFolder } from '../../../lifecycle/index.ts';
import { folderFor, isThere, packagePath, readCurrent } from '../folder.ts';
import { readDocument } from '../job/document.ts';
import { readReleaseKeys } from '../keys.ts';
import { verifyPackage } from '../read-package.ts';
import type { RunState } from '../state.ts';
import { announce, assertPackage, expectedPackage, JobEnded, type PhaseContext } from './phase-context.ts';

/** Downloads and verifies the package. */
export async function downloadPhase(context: PhaseContext, run: RunState): Promise<void> {
  const { store, step, options, signal } = context;
  const { bytes, sha256 } = expectedPackage(run);
  await announce(context, run, 'The document was accepted; the package is downloaded.');
  await step('job-started');
  const path = packagePath(store.dir, sha256);
  await assertSpace(context, bytes, path);
  await step('space-checked');
  const keys = await readReleaseKeys(options.release.keyFile);
  for (let isResumed = await isThere(path); ; isResumed = false) {
    await downloadPackage(context, run, path);
    await step('downloaded');
    try {
      const verified = await verifyPackage(path, { keys, signal });
      assertPackage(run, verified);
      break;
    } catch (error) {
      signal.throwIfAborted();
      // A file that a power cut has damaged is downloaded again; a fresh one is wrong at its source.
      await rm(path, { force: true });
      const isRefused = error instanceof GwError && error.code === 'RELEASE_REFUSED';
      if (!isResumed || isRefused) throw error;
    }
  }
  await step('verified');
  const current = await readCurrent(store.dir);
  const inUse = [current, run.from.folder, store.current()?.previous?.folder ?? null];
  const folder = folderFor(run.to.version, inUse);
  await store.change('downloading', { phase: 'unpacking', to: { ...run.to, folder } });
  await step('phase-unpacking');
}

/** Throws FILE_UNWRITABLE unless package, unpacked files and the reserve fit. */
async function assertSpace({ store, limits, options }: PhaseContext, bytes: number, path: string): Promise<void> {
  await ensureFolder(store.dir, 0o700);
  const present = Math.min(await bytesOf(store.dir, basename(path)), bytes);
  const free = await limits.freeBytes(store.dir);
  const needed = 2 * bytes - present + options.reserveBytes;
  if (free < needed) {
    throw new GwError(
      'FILE_UNWRITABLE',
      `Too little free space in ${store.dir}: ${free} bytes, needed are ${needed} (package, unpacked files, ${options.reserveBytes} in reserve).`,
    );
  }
}

/** Size of the package and of its partial download, which is kept beside it. */
async function bytesOf(dir: string, name: string): Promise<number> {
  const names = (await readdir(dir)).filter((each) => each.startsWith(name));
  const sizes = await Promise.all(names.map(async (each) => (await stat(join(dir, each))).size));
  return sizes.reduce((sum, size) => sum + size, 0);
}

/** Repeats the download with backoff while the storage is not reachable; each time the cloud may say that the job ended. */
async function downloadPackage(context: PhaseContext, run: RunState, path: string): Promise<void> {
  const { options, limits, signal, onProgress } = context;
  const { bytes, sha256 } = expectedPackage(run);
  const backoff = createBackoff(limits.retry, options.clock);
  const url = urlSource(context, run);
  for (;;) {
    try {
      await options.download(
        { path, bytes, sha256 },
        {
          url: url.next,
          trust: options.storageTrust(),
          signal,
          onProgress: (received) => onProgress(`Downloads the package: ${received} of ${bytes} bytes.`),
        },
      );
      return;
    } catch (error) {
      signal.throwIfAborted();
      const failure = url.failure();
      if (failure !== null) throw failure;
      if (!(error instanceof GwError) || error.code !== 'STORAGE_NOT_REACHABLE') throw error;
      onProgress(`The download waits for the object storage: ${error.message}`);
      await announce(context, run, error.message);
      await options.clock.sleep(backoff.nextMs(), signal);
    }
  }
}

/** The URL of the document in memory, or that of the job service when it is expired or was lost with a restart. */
function urlSource({ document, jobs, signal, options, limits }: PhaseContext, run: RunState) {
  const expected = expectedPackage(run);
  const backoff = createBackoff(limits.retry, options.clock);
  let latest = document()?.package.url ?? null;
  let asked = 0;
  let failure: unknown = null;
  const ask = async () => {
    // A URL that is always expired is not asked for in a loop.
    if (asked > 0) await options.clock.sleep(backoff.nextMs(), signal);
    asked += 1;
    const execution = await jobs.get(run.jobId, signal);
    const isOpen = execution?.status === 'IN_PROGRESS' || execution?.status === 'QUEUED';
    if (execution === null || !isOpen || execution.executionNumber !== run.executionNumber) throw new JobEnded();
    const reading = readDocument(execution.jobDocument);
    const isSame =
      reading.ok &&
      reading.document.version === run.to.version &&
      reading.document.package.sha256 === expected.sha256 &&
      reading.document.package.bytes === expected.bytes;
    if (!isSame) throw new GwError('RELEASE_REFUSED', 'The job document was changed during the release.');
    return reading.document.package.url;
  };
  return {
    /** Why the last call failed; the download may have wrapped it. */
    failure: () => failure,
    async next({ expired }: { readonly expired: boolean }): Promise<{ readonly url: string }> {
      failure = null;
      try {
        if (latest === null || expired) latest = await ask();
        return { url: latest };
      } catch (error) {
        failure = error;
        throw error;
      }
    },
  };
}
