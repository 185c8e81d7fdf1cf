import { asGwError, GwError, systemReason } from '../../error/index.ts';
import { type Clock, createBackoff, type Log } from '../../lifecycle/index.ts';
import { plural, shorten } from '../../text/index.ts';
import type { Answer, Requester } from '../gate/model.ts';
import type { StorageRequestWire } from '../wire.ts';
import { asFailure } from './download.ts';
import type { SignedUrl, TransferLimits, UploadView } from './model.ts';
import { describeFile } from './partial-file.ts';
import { AttemptFailure } from './request.ts';
import {
  type BrokenEntry,
  dataPath,
  isInSpool,
  openFolder,
  readSpool,
  type SpoolEntry,
  tidySpool,
  writeEntry,
} from './spool.ts';
import { uploadOnce } from './upload.ts';

export interface UploadsOptions {
  /** The spool: `stateDir`/cloud/uploads. */
  readonly dir: string;
  readonly requester: Requester;
  /** Topic of the requests for pre-signed URLs. */
  readonly topic: string;
  /** `cloud.storageUrl` */
  readonly storageUrl: string | undefined;
  /**
   * Returns the PEM of the CA certificates to trust; undefined: those of Node and the operating system. Its error
   * STORAGE_NOT_REACHABLE counts as a failed attempt.
   */
  readonly trust: () => string | undefined;
  readonly connected: () => boolean;
  readonly clock: Clock;
  readonly log: Log;
  readonly limits?: Partial<TransferLimits>;
}

export interface Uploads {
  /** Uploads what is in the spool, one archive at a time and the oldest first, until the signal is aborted. */
  run(signal: AbortSignal): Promise<void>;
  view(): readonly UploadView[];
}

/** The spool is polled: a command in another process adds to it. */
const POLL_MS = 5_000;
/** After a failed attempt, for all archives, since they have the same storage. */
const RETRY = { firstMs: 5_000, maxMs: 600_000 };
/** After a refusal, for that archive. */
const REFUSED_RETRY = { firstMs: 3_600_000, maxMs: 24 * 3_600_000 };
const MAX_EXPIRED = 3;
const MAX_DETAIL = 200;

/**
 * Uploads of the archives in the spool by pre-signed URLs, which are asked for over the link. Nothing starts before
 * `run`.
 */
export function createUploads(options: UploadsOptions): Uploads {
  const { dir, requester, topic, clock, log, connected } = options;
  const retry = createBackoff(RETRY, clock);
  let spool: { readonly entries: readonly SpoolEntry[]; readonly broken: readonly BrokenEntry[] } = {
    entries: [],
    broken: [],
  };
  let active: { readonly id: string; sentBytes: number } | null = null;
  /** Why the spool cannot be used at the moment. */
  let trouble: string | null = null;
  /** The last failed attempt, and when the next one follows. */
  let failed: { readonly text: string; readonly againAtMs: number } | null = null;
  const refused = new Map<string, { readonly backoff: ReturnType<typeof createBackoff>; againAtMs: number }>();
  const named = new Set<string>();
  /** Confirmed by the storage, whether or not the spool could be written since. */
  const confirmed = new Set<string>();

  async function run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        await scan();
        const next = nextEntry();
        if (next !== undefined) await upload(next, signal);
        else await clock.sleep(POLL_MS, signal);
      } catch (error) {
        if (signal.aborted) break;
        active = null;
        onTrouble(error);
        await clock.sleep(POLL_MS, signal).catch(() => {});
      } finally {
        active = null;
      }
    }
  }

  async function scan(): Promise<void> {
    await openFolder(dir);
    spool = await readSpool(dir);
    for (const { id, detail } of spool.broken) {
      if (named.has(id)) continue;
      named.add(id);
      log.error({ id }, detail);
    }
    for (const entry of spool.entries) if (entry.state !== 'uploaded' && confirmed.has(entry.id)) await settle(entry);
    spool = { ...spool, entries: await tidySpool(dir, spool.entries, clock.wall()) };
    trouble = null;
  }

  function onTrouble(error: unknown): void {
    const { message } = asGwError(error);
    if (message !== trouble) log.error({ error: message }, 'uploads to the object storage cannot be read or written');
    trouble = message;
  }

  /** The oldest one that may be tried now; undefined: wait. */
  function nextEntry(): SpoolEntry | undefined {
    if (!connected()) return undefined;
    const nowMs = clock.monotonicMs();
    if (failed !== null && nowMs < failed.againAtMs) return undefined;
    return spool.entries.find(
      ({ id, state }) =>
        state !== 'uploaded' && !confirmed.has(id) && nowMs >= (refused.get(id)?.againAtMs ?? Number.NEGATIVE_INFINITY),
    );
  }

  async function upload(entry: SpoolEntry, signal: AbortSignal): Promise<void> {
    const { id, name, bytes } = entry;
    active = { id, sentBytes: 0 };
    const beganMs = clock.monotonicMs();
    try {
      // First, since hashing an archive takes minutes and a URL expires.
      const trust = options.trust();
      await assertUnchanged(entry, signal);
      await transfer(entry, trust, signal);
    } catch (error) {
      const failure = asRefusal(error, signal);
      if (failure.kind === 'again') return onFailed(entry, failure.message);
      return await onRefused(entry, failure.message);
    }
    failed = null;
    retry.reset();
    refused.delete(id);
    const tookMs = Math.round(clock.monotonicMs() - beganMs);
    log.info({ name, bytes, tookMs }, 'archive uploaded to the object storage');
    confirmed.add(id);
    await settle(entry);
  }

  /** The record of an upload takes the place of the archive. */
  async function settle(entry: SpoolEntry): Promise<void> {
    await writeEntry(dir, { ...entry, state: 'uploaded', detail: null });
    spool = await readSpool(dir);
  }

  /** A disk may have changed it, or a person. */
  async function assertUnchanged(entry: SpoolEntry, signal: AbortSignal): Promise<void> {
    const found = await describeFile(dataPath(dir, entry.id), signal);
    if (found === null) throw new AttemptFailure('refused', `${entry.id}.data in the spool is missing`);
    if (found.bytes === entry.bytes && found.sha256 === entry.sha256) return;
    throw new AttemptFailure('refused', `${entry.id}.data in the spool has changed since it was added`);
  }

  async function transfer(entry: SpoolEntry, trust: string | undefined, signal: AbortSignal): Promise<void> {
    const { id, name, bytes, sha256 } = entry;
    for (let expired = 0; ; ) {
      const body: Omit<StorageRequestWire, 'clientToken'> = { method: 'PUT', name, bytes, sha256 };
      const signed = signedUrl(await requester.ask({ kind: 'storage', topic, body: { ...body } }, { signal }));
      try {
        return await uploadOnce({
          ...options,
          trust,
          path: dataPath(dir, id),
          bytes,
          signed,
          signal,
          onProgress: (sentBytes) => {
            if (active?.id === id) active.sentBytes = sentBytes;
          },
        });
      } catch (error) {
        if (!(error instanceof AttemptFailure) || error.kind !== 'expired') throw error;
        expired += 1;
        if (expired < MAX_EXPIRED) continue;
        throw new AttemptFailure('refused', `${error.message}, ${expired} times in a row`, error);
      }
    }
  }

  function onFailed({ name }: SpoolEntry, text: string): void {
    const waitMs = retry.nextMs();
    failed = { text, againAtMs: clock.monotonicMs() + waitMs };
    log.warn({ name, reason: text, retryInMs: Math.round(waitMs) }, 'upload to the object storage failed');
  }

  async function onRefused(entry: SpoolEntry, text: string): Promise<void> {
    if (!(await isInSpool(dir, entry.id))) {
      // A person removed it or added it anew.
      refused.delete(entry.id);
      spool = await readSpool(dir);
      return;
    }
    const known = refused.get(entry.id) ?? { backoff: createBackoff(REFUSED_RETRY, clock), againAtMs: 0 };
    const waitMs = known.backoff.nextMs();
    known.againAtMs = clock.monotonicMs() + waitMs;
    refused.set(entry.id, known);
    log.error({ name: entry.name, reason: text, retryInMs: Math.round(waitMs) }, 'upload refused');
    await writeEntry(dir, { ...entry, state: 'refused', detail: shorten(text, MAX_DETAIL) });
    spool = await readSpool(dir);
  }

  function viewOf(entry: SpoolEntry): UploadView {
    const { id, name, bytes, sha256, addedAt } = entry;
    const common = { name, bytes, sha256, addedAt };
    if (active?.id === id) return { ...common, state: 'uploading', sentBytes: active.sentBytes, detail: null };
    if (entry.state === 'uploaded') return { ...common, state: 'uploaded', sentBytes: bytes, detail: null };
    if (entry.state === 'refused') {
      const againAtMs = refused.get(id)?.againAtMs;
      const when = againAtMs === undefined ? '' : `; tried again in ${inText(againAtMs)}`;
      return { ...common, state: 'refused', sentBytes: 0, detail: `${entry.detail ?? 'refused'}${when}` };
    }
    return { ...common, state: 'waiting', sentBytes: 0, detail: waitsFor() };
  }

  function waitsFor(): string {
    if (trouble !== null) return trouble;
    if (!connected()) return 'waits for the link to the cloud';
    if (failed !== null) return `the last attempt failed: ${failed.text}; tried again in ${inText(failed.againAtMs)}`;
    return active === null ? 'waits for its turn' : 'waits for the archives before it';
  }

  function inText(atMs: number): string {
    const minutes = Math.max(0, atMs - clock.monotonicMs()) / 60_000;
    if (minutes < 1) return 'less than a minute';
    return minutes < 120 ? plural(Math.round(minutes), 'minute') : plural(Math.round(minutes / 60), 'hour');
  }

  return {
    run,
    view: () => [
      ...spool.entries.map(viewOf),
      ...spool.broken.map(({ id, detail }) => ({
        name: `${id}.json`,
        bytes: 0,
        sha256: '',
        state: 'refused' as const,
        sentBytes: 0,
        addedAt: '',
        detail,
      })),
    ],
  };
}

/** The URL in an answer. Throws an AttemptFailure without one. */
function signedUrl(answer: Answer): SignedUrl {
  if (answer.kind === 'rejected') {
    const { code, message } = answer.rejected;
    throw new AttemptFailure('refused', `the cloud gave no URL: ${printable(`${code}: ${message}`)}`);
  }
  if (answer.kind !== 'storage') throw new AttemptFailure('again', 'the cloud answered with another kind of message');
  const { url, headers, error } = answer.storage;
  if (url === undefined) {
    throw new AttemptFailure('refused', `the cloud gave no URL: ${printable(error ?? 'no reason given')}`);
  }
  return { url, ...(headers !== undefined && { headers }) };
}

/** 'again' for what may pass by itself, 'refused' for what needs a person. Other errors are thrown. */
function asRefusal(error: unknown, signal: AbortSignal): AttemptFailure {
  if (error instanceof GwError && !signal.aborted) {
    const text = error.message.replace(/\.$/, '');
    if (error.code === 'STORAGE_NOT_REACHABLE') return new AttemptFailure('again', text, error);
    if (error.code === 'STORAGE_REFUSED') return new AttemptFailure('refused', text, error);
  }
  // An archive that cannot be read must not keep the others from being uploaded.
  if (error instanceof Error && 'syscall' in error && 'code' in error && !signal.aborted) {
    return new AttemptFailure('refused', `the archive in the spool cannot be read (${systemReason(error)})`, error);
  }
  return asFailure(error, signal);
}

function printable(text: string): string {
  // A URL in a text of the cloud may be a pre-signed one.
  return shorten(text.replace(/[^\x20-\x7e]/g, '?').replace(/[a-z]+:\/\/\S+/gi, '(URL)'), MAX_DETAIL);
}
