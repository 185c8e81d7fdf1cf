import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { type ByteSource, type TarEntry, unpack } from '../../archive/index.ts';
import { GwError } from '../../error/index.ts';
import { quote } from '../../json/index.ts';
import { openExisting } from '../../lifecycle/index.ts';
import {
  type BackedUpFile,
  type BackupManifest,
  bounds,
  MANIFEST_NAME,
  memberName,
  readManifest,
  SECRETS_NAME,
} from './manifest.ts';
import { invalidBackup } from './secrets.ts';

/** An archive that was read to its end, and is whole. */
export interface ReadBackup {
  readonly manifest: BackupManifest;
  readonly bytes: number;
  readonly sha256: string;
  /** The encrypted part; null: there is none. */
  readonly secrets: Uint8Array | null;
}

/** Gets the content of a file; what it does not read is read all the same. What it throws is thrown unchanged. */
type FileReader = (file: BackedUpFile, parts: AsyncIterable<Uint8Array>) => Promise<void>;

const CHUNK_BYTES = 256 * 1024;

/**
 * Reads an archive to its end and verifies it: exactly the files of its manifest, each with its length and sum. Extracts
 * nothing; `onFile` gets each file, whose parts end with an error where its sum is another one. Throws ARCHIVE_INVALID with
 * every problem, FILE_UNREADABLE.
 */
export async function readBackup(path: string, onFile?: FileReader): Promise<ReadBackup> {
  await using file = await openToRead(path);
  const { size } = await file.stat();
  if (size > bounds.totalBytes) throw invalidBackup(path, [`it has more than ${bounds.totalBytes} bytes`]);
  const whole = createHash('sha256');
  const source: ByteSource = {
    bytes: size,
    parts: (async function* () {
      for (let at = 0; at < size; ) {
        const buffer = Buffer.allocUnsafeSlow(Math.min(CHUNK_BYTES, size - at));
        const { bytesRead } = await file.read(buffer, 0, buffer.length, at);
        if (bytesRead === 0) return;
        at += bytesRead;
        whole.update(buffer.subarray(0, bytesRead));
        yield buffer.subarray(0, bytesRead);
      }
    })(),
  };
  const reader = createReader(onFile);
  const broken = await unpack(source, {
    maxEntries: bounds.entries + 2,
    maxBytes: reader.maxBytes,
    onEntry: reader.take,
  });
  const { problems, manifest, secrets } = reader.end(broken);
  if (manifest === null || problems.length > 0) throw invalidBackup(path, problems);
  return { manifest, secrets, bytes: size, sha256: whole.digest('hex') };
}

/** Whether its manifest names an encrypted part, so that a passphrase is asked for; what is wrong with it, reading it says. */
export async function hasSecrets(path: string): Promise<boolean> {
  let found = false;
  await using file = await openToRead(path);
  const { size: bytes } = await file.stat();
  const parts = file.createReadStream({ autoClose: false }) as AsyncIterable<Buffer>;
  await unpack(
    { bytes, parts },
    {
      maxEntries: 1,
      maxBytes: () => 2 * bounds.manifestBytes,
      async onEntry(entry) {
        if (entry.name !== MANIFEST_NAME || entry.bytes > bounds.manifestBytes) return false;
        const reading = readManifest(await entry.read());
        found = 'manifest' in reading && reading.manifest.secrets !== null;
        return false;
      },
    },
  );
  return found;
}

/** What the entries of an archive say, one after the other. */
function createReader(onFile: FileReader | undefined) {
  const problems: string[] = [];
  let manifest: BackupManifest | null = null;
  let secrets: Uint8Array | null = null;
  const expected = new Map<string, Expected>();
  let declared = 0;
  /** Of the reader of a file, which is no problem of the archive. */
  let failure: { readonly error: unknown } | null = null;

  async function takeManifest(entry: TarEntry): Promise<boolean> {
    const { name, type, bytes } = entry;
    if (type !== 'file' || name !== MANIFEST_NAME) {
      problems.push(`its first entry is ${quote(name)}, expected ${MANIFEST_NAME}`);
      return false;
    }
    if (bytes > bounds.manifestBytes) {
      problems.push(`${MANIFEST_NAME} has more than ${bounds.manifestBytes} bytes`);
      return false;
    }
    const reading = readManifest(await entry.read());
    if ('problems' in reading) {
      problems.push(...reading.problems);
      return false;
    }
    ({ manifest } = reading);
    for (const file of reading.manifest.files) expected.set(memberName(file.path), file);
    if (reading.manifest.secrets !== null) expected.set(SECRETS_NAME, reading.manifest.secrets);
    for (const { bytes: size } of expected.values()) declared += size;
    if (declared > bounds.totalBytes) problems.push(`its files have more than ${bounds.totalBytes} bytes`);
    return problems.length === 0;
  }

  async function takeFile(entry: TarEntry): Promise<void> {
    const { name, type, bytes, linkName } = entry;
    const file = expected.get(name);
    const to = linkName === '' ? '' : ` to ${quote(linkName)}`;
    if (file === undefined || type !== 'file') {
      problems.push(`the ${type} ${quote(name)}${to} is not in its manifest, or is there twice`);
      return;
    }
    expected.delete(name);
    if (bytes !== file.bytes) {
      problems.push(`${quote(name)} has ${bytes} bytes, expected ${file.bytes}`);
      return;
    }
    const hash = createHash('sha256');
    let broken: { readonly error: unknown } | null = null;
    const parts = (async function* () {
      try {
        for await (const part of entry.parts()) {
          hash.update(part);
          yield part;
        }
        if (hash.digest('hex') !== file.sha256) throw new OtherSum();
      } catch (error) {
        broken = { error };
        throw error;
      }
    })();
    try {
      if (onFile !== undefined && 'path' in file) {
        await onFile(file, parts).catch((error: unknown) => {
          // What the archive lacks is no failure of who reads it, however it was wrapped.
          failure = broken === null ? { error } : null;
          throw broken === null ? error : broken.error;
        });
      }
      const rest: Uint8Array[] = [];
      for await (const part of parts) if (!('path' in file)) rest.push(part);
      if (!('path' in file)) secrets = Buffer.concat(rest);
    } catch (error) {
      if (!(error instanceof OtherSum)) throw error;
      problems.push(`${quote(name)}: its SHA-256 is another one`);
    }
  }

  return {
    maxBytes: () => declared + bounds.manifestBytes + (bounds.entries + 2) * 2_048,
    async take(entry: TarEntry): Promise<boolean> {
      if (manifest === null) return await takeManifest(entry);
      await takeFile(entry);
      return onFile === undefined || problems.length === 0;
    },
    end(broken: string | null) {
      // The assignment in the callback is invisible to the compiler.
      const failed = failure as { readonly error: unknown } | null;
      if (failed !== null) throw failed.error;
      if (broken !== null) problems.unshift(broken);
      if (manifest === null && problems.length === 0) problems.push(`it has no ${MANIFEST_NAME}`);
      // After a break each later file is missing.
      if (problems.length === 0) for (const name of expected.keys()) problems.push(`${quote(name)} is missing`);
      return { problems, manifest, secrets };
    },
  };
}

type Expected = BackedUpFile | { readonly bytes: number; readonly sha256: string };

/** What was read is not what the manifest says. */
class OtherSum extends Error {}

async function openToRead(path: string) {
  try {
    return await openExisting(await realpath(path), constants.O_RDONLY);
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    throw new GwError('FILE_UNREADABLE', `${path} cannot be read (${code ?? 'unknown reason'}).`, { cause });
  }
}
