import { createHash, type KeyObject } from 'node:crypto';
import { constants, type FileHandle, realpath } from 'node:fs/promises';
import { createTarDecoder, type ParsedTarEntry } from 'modern-tar';
import { GwError, systemReason } from '../../error/index.ts';
import { quote } from '../../json/index.ts';
import { openExisting } from '../../lifecycle/index.ts';
import { type ReleaseKeys, signerOf, unsignedText } from './keys.ts';
import {
  MANIFEST_NAME,
  MAX_PROBLEMS,
  packageLimits,
  type ReleaseManifest,
  readManifest,
  SIGNATURE_NAME,
} from './manifest.ts';

const SIGNATURE_BYTES = 64;
const CHUNK_BYTES = 256 * 1024;

/** A package whose signature, manifest and files are right. */
export interface VerifiedPackage {
  readonly manifest: ReleaseManifest;
  /** The bytes that are signed, and their signature. */
  readonly manifestBytes: Uint8Array;
  readonly signature: Uint8Array;
  /** The key that signed it. */
  readonly signer: KeyObject;
  /** Of the package file. */
  readonly bytes: number;
  /** Of the package file: 64 lower-case hex digits. */
  readonly sha256: string;
}

type ManifestFile = ReleaseManifest['files'][number];

/** Receives the files of a package while they are verified. */
interface PackageSink {
  /** Called after the signature was verified, before the first file. */
  readonly onManifest: (manifest: ReleaseManifest) => Promise<void> | void;
  readonly openFile: (file: ManifestFile) => Promise<FileSink>;
}

interface FileSink {
  write(chunk: Uint8Array): Promise<void>;
  /** Called once, also for a file that turned out to be wrong. */
  close(): Promise<void>;
}

/** The package is invalid; the message is one of the listed problems. */
class PackageProblem extends Error {}

/**
 * Verifies a package file, in bounded memory. Throws RELEASE_INVALID with the problems in `details.problems`,
 * FILE_UNREADABLE.
 */
export async function verifyPackage(
  path: string,
  options: { readonly keys: ReleaseKeys; readonly signal?: AbortSignal | undefined },
): Promise<VerifiedPackage> {
  return await openPackage(path, options);
}

interface ReadOptions<Keys> {
  readonly keys: Keys;
  readonly sink?: PackageSink | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** As `verifyPackage`; passes every file to the sink. What a sink throws is thrown unchanged. */
export async function openPackage(path: string, options: ReadOptions<ReleaseKeys>): Promise<VerifiedPackage> {
  const { signer, ...read } = await readPackage(path, options);
  if (signer === null) throw new GwError('INTERNAL', 'A package was read without its signer.');
  return { ...read, signer };
}

/** A package whose files are those of its manifest; `signer` null: whose manifest it is was not checked. */
export interface InspectedPackage extends Omit<VerifiedPackage, 'signer'> {
  readonly signer: KeyObject | null;
}

/** For a person who looks into a package, also without a key. Never for one that is installed. Throws as `verifyPackage`. */
export async function inspectPackage(
  path: string,
  options: ReadOptions<ReleaseKeys | null>,
): Promise<InspectedPackage> {
  return await readPackage(path, options);
}

async function readPackage(
  path: string,
  { keys, sink, signal }: ReadOptions<ReleaseKeys | null>,
): Promise<InspectedPackage> {
  await using file = await openForReading(path);
  const { size } = await file.stat();
  if (size > packageLimits.packageBytes) {
    throw invalidPackage(path, [`larger than ${packageLimits.packageBytes} bytes`]);
  }
  const whole = createHash('sha256');
  const decoder = createTarDecoder({ strict: true });
  const ending = new AbortController();
  const feeding = feed(file, size, decoder.writable, whole, ending.signal);
  // The reader below fails with the same error; this avoids an unhandled rejection.
  feeding.catch(() => {});
  const reader = decoder.readable.getReader();
  try {
    const next = async (): Promise<ParsedTarEntry | null> => {
      signal?.throwIfAborted();
      const { done, value } = await reader.read();
      return done ? null : value;
    };
    const signed = await readSigned(next, keys);
    await sink?.onManifest(signed.manifest);
    await readFiles(next, signed.manifest, sink, signal);
    const bytes = await feeding;
    return { ...signed, bytes, sha256: whole.digest('hex') };
  } catch (error) {
    ending.abort();
    await reader.cancel(error).catch(() => {});
    await feeding.catch(() => {});
    throw problemError(path, error);
  }
}

/** The manifest, once its signature was verified; with keys nothing unsigned is parsed. */
async function readSigned(
  next: () => Promise<ParsedTarEntry | null>,
  keys: ReleaseKeys | null,
): Promise<Pick<InspectedPackage, 'manifest' | 'manifestBytes' | 'signature' | 'signer'>> {
  const manifestBytes = await readNamed(await next(), MANIFEST_NAME, packageLimits.manifestBytes, 'first');
  const signature = await readNamed(await next(), SIGNATURE_NAME, SIGNATURE_BYTES, 'second');
  if (signature.byteLength !== SIGNATURE_BYTES) {
    throw new PackageProblem(`${SIGNATURE_NAME} has ${signature.byteLength} bytes, expected ${SIGNATURE_BYTES}`);
  }
  const signer = keys === null ? null : signerOf(manifestBytes, signature, keys);
  if (keys !== null && signer === null) throw new PackageProblem(unsignedText(MANIFEST_NAME, keys));
  const reading = readManifest(manifestBytes);
  if (!reading.ok) throw problemList(reading.problems);
  return { manifest: reading.manifest, manifestBytes, signature, signer };
}

async function readNamed(
  entry: ParsedTarEntry | null,
  name: string,
  maxBytes: number,
  place: string,
): Promise<Uint8Array> {
  if (entry === null || entry.header.type !== 'file' || nameOf(entry) !== name) {
    const found = entry === null ? 'missing' : describeEntry(entry);
    throw new PackageProblem(`the ${place} entry is ${found}, expected ${name}: not a release package`);
  }
  if (entry.header.size > maxBytes) throw new PackageProblem(`${name} is larger than ${maxBytes} bytes`);
  const parts: Uint8Array[] = [];
  for await (const chunk of entry.body) parts.push(chunk);
  return Buffer.concat(parts);
}

async function readFiles(
  next: () => Promise<ParsedTarEntry | null>,
  { files }: ReleaseManifest,
  sink: PackageSink | undefined,
  signal: AbortSignal | undefined,
): Promise<void> {
  const missing = new Map(files.map((file) => [file.path, file]));
  const problems: string[] = [];
  for (let entry = await next(); entry !== null; entry = await next()) {
    const file = missing.get(nameOf(entry));
    if (entry.header.type !== 'file' || file === undefined) {
      const isTwice = files.some(({ path }) => path === nameOf(entry as ParsedTarEntry));
      problems.push(`it contains ${describeEntry(entry)}, which is ${isTwice ? 'there twice' : 'not in the manifest'}`);
      await entry.body.cancel();
    } else if (entry.header.size !== file.bytes) {
      problems.push(`${quote(file.path)} has ${entry.header.size} bytes, expected ${file.bytes} by the manifest`);
      missing.delete(file.path);
      await entry.body.cancel();
    } else {
      missing.delete(file.path);
      const problem = await readFile(entry, file, sink, signal);
      if (problem !== null) problems.push(problem);
    }
    // A sink has no use for the rest of a wrong package.
    if (problems.length > 0 && (sink !== undefined || problems.length > MAX_PROBLEMS)) throw problemList(problems);
  }
  for (const path of missing.keys()) problems.push(`${quote(path)} is missing`);
  if (problems.length > 0) throw problemList(problems);
}

async function readFile(
  { body }: ParsedTarEntry,
  file: ManifestFile,
  sink: PackageSink | undefined,
  signal: AbortSignal | undefined,
): Promise<string | null> {
  const hash = createHash('sha256');
  const target = await sink?.openFile(file);
  try {
    for await (const chunk of body) {
      signal?.throwIfAborted();
      hash.update(chunk);
      await target?.write(chunk);
    }
  } finally {
    await target?.close();
  }
  return hash.digest('hex') === file.sha256 ? null : `${quote(file.path)}: SHA-256 differs from the manifest`;
}

/** Reads the bytes that the file had when its size was judged. Returns their number. */
async function feed(
  file: FileHandle,
  size: number,
  writable: WritableStream<Uint8Array>,
  whole: ReturnType<typeof createHash>,
  signal: AbortSignal,
): Promise<number> {
  const writer = writable.getWriter();
  let at = 0;
  try {
    while (!signal.aborted && at < size) {
      // A buffer for each chunk, since the decoder keeps a reference.
      const buffer = Buffer.allocUnsafeSlow(Math.min(CHUNK_BYTES, size - at));
      const { bytesRead } = await file.read(buffer, 0, buffer.length, at);
      if (bytesRead === 0) break;
      at += bytesRead;
      const chunk = buffer.subarray(0, bytesRead);
      whole.update(chunk);
      await writer.write(chunk);
    }
    await writer.close();
    return at;
  } catch (error) {
    await writer.abort(error).catch(() => {});
    throw error;
  }
}

async function openForReading(path: string): Promise<FileHandle> {
  try {
    return await openExisting(await realpath(path), constants.O_RDONLY);
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    throw new GwError('FILE_UNREADABLE', `${path} cannot be read (${systemReason({ code })}).`, { cause });
  }
}

/** A leading `./` is what tar writes for the files of a folder. */
function nameOf({ header: { name } }: ParsedTarEntry): string {
  return name.startsWith('./') ? name.slice(2) : name;
}

function describeEntry(entry: ParsedTarEntry): string {
  const { type, linkname } = entry.header;
  const to = linkname ? ` to ${quote(linkname)}` : '';
  return `the ${type ?? 'file'} ${quote(nameOf(entry))}${to}`;
}

class ProblemList extends Error {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems[0]);
    this.problems = problems;
  }
}

function problemList(problems: readonly string[]): ProblemList {
  return new ProblemList(problems);
}

function problemError(path: string, error: unknown): unknown {
  if (error instanceof ProblemList) return invalidPackage(path, error.problems);
  if (error instanceof PackageProblem) return invalidPackage(path, [error.message]);
  if (error instanceof GwError || !(error instanceof Error)) return error;
  if ('code' in error) return error;
  if (error.message === 'Tar archive is truncated.') return invalidPackage(path, ['it is truncated']);
  if (error.message === 'Invalid tar header checksum.')
    return invalidPackage(path, ['a tar header has a wrong checksum']);
  if (error.message === 'Invalid EOF.') return invalidPackage(path, ['unexpected data after the end of its tar']);
  if (/tar|pax|archive|entry|EOF|header/i.test(error.message)) {
    return invalidPackage(path, [`its tar is corrupt (${quote(error.message).slice(1, -1)})`]);
  }
  return error;
}

/** RELEASE_INVALID with the first problems in its text and up to 200 in `details.problems`. */
export function invalidPackage(name: string, problems: readonly string[]): GwError {
  const shown = problems.slice(0, MAX_PROBLEMS);
  if (problems.length > shown.length) shown.push(`… and ${problems.length - shown.length} more`);
  return new GwError('RELEASE_INVALID', `${name} is not a valid release package:\n${shown.join('\n')}`, {
    details: { problems: problems.slice(0, 200) },
  });
}
