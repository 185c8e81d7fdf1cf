import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { GwError } from '../../error/index.ts';
import { createFile, sha256, systemClock } from '../../lifecycle/index.ts';
import { directDialer } from '../../net/index.ts';
import { readSite } from '../doctor/files.ts';
import type { DoctorHost } from '../doctor/host.ts';
import type { CheckContext } from '../toolkit.ts';
import { type BundleFile, packBundle } from './archive.ts';
import type { SupportBundle } from './bundle.result.ts';
import { knownSecrets } from './known-secrets.ts';
import { createRedactor } from './redact.ts';
import { type Source, sourcesOf } from './sources.ts';

/** Of one file and of the archive, which --via carries in its result. Project decisions. */
const MAX_FILE_BYTES = 8 * 1024 * 1024;
const MAX_ARCHIVE_BYTES = 16 * 1024 * 1024;
/** A line of the result of a remote gw is bounded. */
const PART_CHARS = 1024 * 1024;

export interface CollectedBundle {
  readonly contents: Pick<SupportBundle, 'createdAt' | 'gwVersion' | 'host' | 'serial' | 'files' | 'missing'>;
  readonly bytes: Uint8Array;
}

/**
 * Reads every source of this machine and packs the archive in memory, redacted; writes nothing. A source that cannot be
 * read is listed as missing. Throws INTERRUPTED, FILE_UNWRITABLE for an archive beyond its bound.
 */
export async function collectBundle(
  sitePath: string,
  host: DoctorHost,
  context: CheckContext,
): Promise<CollectedBundle> {
  const { site } = await readSite(sitePath);
  const toolkit = site && { site, dialer: directDialer, clock: systemClock };
  const { secrets, unread } = await knownSecrets(sitePath);
  const redactor = createRedactor(secrets);
  const shown = (text: string) => redactor.document(text).value;
  const files: BundleFile[] = [];
  const missing: SupportBundle['missing'][number][] = unread.map(({ path, reason }) => ({
    name: shown(path),
    holds: 'a secret, which could not be searched for in the files of the archive',
    reason,
  }));
  for (const { name, holds, read } of await sourcesOf(sitePath, toolkit, host, context)) {
    context.onProgress(`reading ${name}`);
    try {
      const { value, count } = redacted(await read(), redactor);
      const bytes = Buffer.byteLength(value);
      if (bytes > MAX_FILE_BYTES) throw new Error(`${bytes} bytes, more than ${MAX_FILE_BYTES}`);
      files.push({ name: shown(name), holds: shown(holds), text: value, redacted: count });
    } catch (error) {
      context.signal.throwIfAborted();
      missing.push({ name: shown(name), holds: shown(holds), reason: shown(reasonOf(error)) });
    }
  }
  const { manifest, bytes } = await packBundle(files, {
    createdAt: host.clock.wall().toISOString(),
    gwVersion: host.version,
    host: shown(host.name),
    serial: site?.chassis.serial ?? null,
    missing,
  });
  if (bytes.byteLength > MAX_ARCHIVE_BYTES) {
    throw new GwError(
      'FILE_UNWRITABLE',
      `The archive would have ${bytes.byteLength} bytes, more than ${MAX_ARCHIVE_BYTES}.`,
    );
  }
  const { format: _format, ...contents } = manifest;
  return { contents, bytes };
}

function reasonOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  return error instanceof GwError ? `${error.code}: ${message}` : (code ?? message);
}

function redacted(
  read: Awaited<ReturnType<Source['read']>>,
  redactor: ReturnType<typeof createRedactor>,
): { readonly value: string; readonly count: number } {
  if ('text' in read) return redactor.document(read.text);
  if ('data' in read) {
    const { value, count } = redactor.data(read.data);
    return { value: `${JSON.stringify(value, null, 2)}\n`, count };
  }
  // The lines of an incident end with their sum: unchanged ones stay as they are, so that it holds.
  const lines = read.lines.split('\n').map((line) => {
    const { value, count } = line === '' ? { value: '', count: 0 } : redactor.data(asJson(line));
    return { text: count === 0 ? line : JSON.stringify(value), count };
  });
  return {
    value: lines.map(({ text }) => text).join('\n'),
    count: lines.reduce((sum, { count }) => sum + count, 0),
  };
}

function asJson(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return line;
  }
}

/** A new file for its owner alone. Throws FILE_EXISTS, FILE_UNWRITABLE. */
export async function writeBundle({ contents, bytes }: CollectedBundle, path: string): Promise<SupportBundle> {
  await createFile(path, bytes, { mode: 0o600 });
  return { ...resultOf({ contents, bytes }, 'written'), path: resolve(path) };
}

export function resultOf({ contents, bytes }: CollectedBundle, state: SupportBundle['state']): SupportBundle {
  const text = state === 'inline' ? Buffer.from(bytes).toString('base64') : null;
  const archive =
    text &&
    Array.from({ length: Math.ceil(text.length / PART_CHARS) }, (_, at) =>
      text.slice(at * PART_CHARS, (at + 1) * PART_CHARS),
    );
  return { state, path: null, bytes: bytes.byteLength, sha256: sha256(bytes), ...contents, archive: archive || null };
}

/** The archive of a remote gw. Throws REMOTE_GW_BAD_ANSWER when it is not the one of its sum. */
export function bundleOf(result: SupportBundle): CollectedBundle {
  const { createdAt, gwVersion, host, serial, files, missing } = result;
  const bytes = Buffer.from((result.archive ?? []).join(''), 'base64');
  if (bytes.byteLength !== result.bytes || sha256(bytes) !== result.sha256) {
    throw new GwError('REMOTE_GW_BAD_ANSWER', 'The archive of the remote gw does not have its SHA-256 sum.');
  }
  return { contents: { createdAt, gwVersion, host, serial, files, missing }, bytes };
}

/** Before anything is read, since a file that is there is refused anyway. Throws FILE_EXISTS. */
export async function refuseExisting(path: string): Promise<void> {
  if (
    await stat(path).then(
      () => true,
      () => false,
    )
  ) {
    throw new GwError('FILE_EXISTS', `${path} already exists.`, { remedy: 'Name a new file with --out FILE.' });
  }
}

export function bundleName({ serial, createdAt }: Pick<SupportBundle, 'serial' | 'createdAt'>): string {
  const time = createdAt.replace(/[-:]/g, '').replace(/\..*/, 'Z');
  return `support-${(serial ?? 'unknown').replace(/[^A-Za-z0-9_-]/g, '_')}-${time}.tar.gz`;
}
