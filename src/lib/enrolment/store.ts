import {
  createHash,
  createPrivateKey,
  createPublicKey,
  type KeyObject,
  sign,
  verify,
  type X509Certificate,
} from 'node:crypto';
import { link, lstat, open, readdir, realpath, rename, rm, stat } from 'node:fs/promises';
import { createServer } from 'node:net';
import { basename, dirname, join } from 'node:path';
import { z } from 'zod';
import { GwError } from '../error/index.ts';
import { readJson } from '../json/index.ts';
import { ensureFolder } from '../lifecycle/index.ts';
import { readSecret } from '../site/index.ts';
import { certificatesPem, judgeCertificate, readCertificates, viewCertificate } from './certificate.ts';
import type { Credentials, Identity, Signer } from './model.ts';

/**
 * The identity folder. An installed identity is one file, so that there is no moment at which a part of it is there:
 * `identity.json`. The key of an enrolment that is under way is `pending.json`; it becomes part of the identity, and
 * the file goes. Both belong to their owner only. Decision of ours, see docs/enrolment.md.
 */
const IDENTITY_FILE = 'identity.json';
const PENDING_FILE = 'pending.json';
const DRAFT = /^\.(identity|pending)\.json\.[0-9a-f-]{36}$/;

const pem = z.string().min(1).max(32_768);
const identitySchema = z.strictObject({
  format: z.literal('gw/identity/1'),
  serial: z.string().min(1).max(128),
  endpoint: z.string().min(1).max(253),
  region: z.string().min(1).max(64),
  enrolledAt: z.iso.datetime(),
  keyPem: pem,
  certificatePem: pem,
  caPem: pem,
});
const pendingSchema = z.strictObject({
  format: z.literal('gw/enrolment-pending/1'),
  serial: z.string().min(1).max(128),
  begunAt: z.iso.datetime(),
  keyPem: pem,
  requestPem: pem,
});

/** An enrolment that was begun: its key was made, and no certificate for it is installed yet. */
export interface Pending {
  readonly serial: string;
  /** UTC ISO, by the clock of this device. For records. */
  readonly begunAt: string;
  readonly keyPem: string;
  /** The certificate request, so that a resumed run sends the same bytes again. */
  readonly requestPem: string;
}

export interface NewIdentity {
  readonly serial: string;
  readonly endpoint: string;
  readonly region: string;
  readonly enrolledAt: string;
  readonly keyPem: string;
  readonly chain: readonly X509Certificate[];
  readonly authorities: readonly X509Certificate[];
}

interface Stored {
  readonly file: z.infer<typeof identitySchema>;
  readonly key: KeyObject;
  readonly chain: readonly X509Certificate[];
  readonly caPem: string;
}

/**
 * The identity of this device; null when it has none. Whether it is still valid is not judged: that is a matter of the
 * clock, and an identity that expired is one all the same. Throws IDENTITY_BROKEN when there is one that cannot be
 * used: open to others, cut, or its parts do not belong together.
 */
export async function loadIdentity(identityDir: string): Promise<Identity | null> {
  const stored = await readStored(identityDir);
  if (stored === undefined) return null;
  const { serial, endpoint, region, enrolledAt } = stored.file;
  return { serial, endpoint, region, enrolledAt, certificate: viewCertificate(stored.chain), caPem: stored.caPem };
}

/** Key, certificate and authorities for a TLS client. Throws NOT_ENROLLED, IDENTITY_BROKEN. */
export async function readCredentials(identityDir: string): Promise<Credentials> {
  const { file, chain, caPem } = await needStored(identityDir);
  return { keyPem: file.keyPem, certificatePem: certificatesPem(chain), caPem };
}

/** Signs with the device key. Throws NOT_ENROLLED, IDENTITY_BROKEN. */
export async function openSigner(identityDir: string): Promise<Signer> {
  const { file, key, chain } = await needStored(identityDir);
  return {
    serial: file.serial,
    certificatePem: certificatesPem(chain),
    sign: (bytes) => sign('sha256', bytes, { key, dsaEncoding: 'der' }),
  };
}

/** The enrolment that was begun in this folder and not finished; undefined when there is none. */
export async function readPending(identityDir: string): Promise<Pending | undefined> {
  const path = join(identityDir, PENDING_FILE);
  const text = await readOwn(path, 'the enrolment that was begun');
  if (text === undefined) return undefined;
  const reading = readJson(text, 'file');
  const parsed = reading.ok ? pendingSchema.safeParse(reading.value) : undefined;
  if (parsed?.success !== true || deviceKey(parsed.data.keyPem) === undefined) {
    throw new GwError('IDENTITY_BROKEN', `${path} is not the begun enrolment that it should be.`, {
      remedy: `No certificate was installed for the key in it. Remove ${path}, then enrol with a new one-time code.`,
    });
  }
  const { format: _, ...pending } = parsed.data;
  return pending;
}

/** Called after each step on disk, by the name of the step; a test ends the process there. */
export type OnStored = (step: 'draft' | 'placed' | 'kept') => Promise<void> | void;

/** Keeps a new key on disk before anybody else hears of it. Throws ENROLMENT_RUNNING when another run just did. */
export async function keepPending(identityDir: string, pending: Pending, onStored: OnStored): Promise<void> {
  const text = JSON.stringify({ format: 'gw/enrolment-pending/1', ...pending }, null, 2);
  await place(join(identityDir, PENDING_FILE), `${text}\n`, { replace: false, onStored });
}

/** Puts the whole identity in its place, in one step. */
export async function installIdentity(identityDir: string, identity: NewIdentity, onStored: OnStored): Promise<void> {
  const { chain, authorities, ...rest } = identity;
  const certificates = { certificatePem: certificatesPem(chain), caPem: certificatesPem(authorities) };
  const text = JSON.stringify({ format: 'gw/identity/1', ...rest, ...certificates }, null, 2);
  await place(join(identityDir, IDENTITY_FILE), `${text}\n`, { replace: true, onStored });
}

export async function dropPending(identityDir: string): Promise<void> {
  await onDisk(identityDir, async () => {
    await rm(join(identityDir, PENDING_FILE), { force: true });
    await syncFolder(identityDir);
  });
}

/**
 * Makes the folder ready for an enrolment, closed to everybody else, and takes it for this process alone until
 * disposed. What a run that was cut left half written is removed. Throws IDENTITY_BROKEN when the folder is open to
 * others, ENROLMENT_RUNNING, FILE_UNWRITABLE.
 */
export async function holdFolder(identityDir: string): Promise<AsyncDisposable> {
  await onDisk(identityDir, async () => {
    await ensureFolder(identityDir, 0o700);
    await syncFolder(dirname(identityDir));
  });
  const problem = await folderProblem(identityDir);
  if (problem !== undefined) {
    throw new GwError('IDENTITY_BROKEN', `${identityDir} cannot hold the key of this device: ${problem.text}.`, {
      remedy: problem.remedy,
    });
  }
  const hold = await holdName(await realpath(identityDir));
  try {
    const names = await readdir(identityDir);
    await onDisk(identityDir, async () => {
      for (const name of names) if (DRAFT.test(name)) await rm(join(identityDir, name), { force: true });
    });
  } catch (error) {
    await hold[Symbol.asyncDispose]();
    throw error;
  }
  return hold;
}

/** What makes a folder unfit for a key; undefined when nothing does, or when there is no folder. */
export async function folderProblem(identityDir: string): Promise<{ text: string; remedy: string } | undefined> {
  const stats = await stat(identityDir).catch(() => undefined);
  if (stats === undefined) return undefined;
  const remedy = `Close it to everybody else: chmod 700 ${identityDir}`;
  if (!stats.isDirectory()) return { text: 'it is not a folder', remedy: 'Name a folder in enrolment.identityDir.' };
  const user = process.getuid?.();
  // Root too: what it writes there, the user of the folder could not read.
  if (user !== undefined && stats.uid !== user) {
    return {
      text: `it belongs to user ${stats.uid}, and this is user ${user}`,
      remedy: 'Run gw as the user of `gw serve`.',
    };
  }
  const mode = stats.mode & 0o777;
  return (mode & 0o077) === 0
    ? undefined
    : { text: `others may look into it (mode ${mode.toString(8).padStart(3, '0')})`, remedy };
}

/**
 * The private key of a PEM text, when it is one for EC P-256 that works: a damaged one may still carry its public half
 * unharmed, and then only a signature shows it.
 */
function deviceKey(keyPem: string): KeyObject | undefined {
  try {
    const key = createPrivateKey(keyPem);
    if (key.asymmetricKeyDetails?.namedCurve !== 'prime256v1') return undefined;
    const probe = Buffer.from('gw');
    return verify('sha256', probe, createPublicKey(keyPem), sign('sha256', probe, key)) ? key : undefined;
  } catch {
    return undefined;
  }
}

/** Whether two private keys are the same one. */
export function isSameKey(one: string, other: string): boolean {
  return createPublicKey(one).equals(createPublicKey(other));
}

async function needStored(identityDir: string): Promise<Stored> {
  const stored = await readStored(identityDir);
  if (stored === undefined) {
    throw new GwError('NOT_ENROLLED', `This device has no identity in the cloud yet: ${identityDir} holds none.`);
  }
  return stored;
}

async function readStored(identityDir: string): Promise<Stored | undefined> {
  const path = join(identityDir, IDENTITY_FILE);
  const text = await readOwn(path, 'the identity of this device');
  if (text === undefined) return undefined;
  const broken = (why: string) => new GwError('IDENTITY_BROKEN', `The identity in ${path} cannot be used: ${why}.`);
  const reading = readJson(text, 'file');
  // Not the reader's own words: they quote what it stumbled over, and that may be the key.
  if (!reading.ok) throw broken('it is damaged or cut');
  const parsed = identitySchema.safeParse(reading.value);
  if (!parsed.success) throw broken('it has another shape than an identity has');
  const file = parsed.data;
  const key = deviceKey(file.keyPem);
  if (key === undefined) throw broken('its key is no EC P-256 key');
  const chain = readCertificates(file.certificatePem);
  const authorities = readCertificates(file.caPem);
  if (chain === undefined || authorities === undefined) throw broken('its certificates cannot be read');
  const publicKey = createPublicKey(file.keyPem);
  const [problem] = judgeCertificate(chain, { publicKey, serial: file.serial, authorities, at: null });
  if (problem !== undefined) throw broken(`its certificate does not belong to it: ${problem.text}`);
  return { file, key, chain, caPem: certificatesPem(authorities) };
}

/** A file of ours with a key in it; undefined when there is none. Throws IDENTITY_BROKEN, never with its content. */
async function readOwn(path: string, what: string): Promise<string | undefined> {
  const there = await lstat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined;
    throw new GwError('IDENTITY_BROKEN', `${path} (${what}) cannot be looked at (${error.code}).`, {
      remedy: 'Run gw as the user that the folder belongs to, which is the one of `gw serve`.',
      cause: error,
    });
  });
  if (there === undefined) return undefined;
  try {
    return await readSecret(path, what);
  } catch (error) {
    if (!(error instanceof GwError) || error.code !== 'SECRET_UNREADABLE') throw error;
    throw new GwError('IDENTITY_BROKEN', error.message, { remedy: error.remedy, cause: error });
  }
}

async function place(
  path: string,
  text: string,
  { replace, onStored }: { readonly replace: boolean; readonly onStored: OnStored },
): Promise<void> {
  const draft = join(dirname(path), `.${basename(path)}.${crypto.randomUUID()}`);
  try {
    await onDisk(path, async () => {
      await using file = await open(draft, 'wx', 0o600);
      await file.chmod(0o600);
      await file.writeFile(text);
      await file.sync();
    });
    await onStored('draft');
    await onDisk(path, () => (replace ? rename(draft, path) : link(draft, path)));
    await onStored('placed');
  } finally {
    await rm(draft, { force: true }).catch(() => {});
  }
  // The name itself lies in the folder: without this a loss of power could still take it back.
  await onDisk(path, () => syncFolder(dirname(path)));
  await onStored('kept');
}

async function syncFolder(path: string): Promise<void> {
  await using folder = await open(path, 'r');
  await folder.sync();
}

async function onDisk<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === 'EEXIST' && basename(path) === PENDING_FILE) throw running(dirname(path), cause);
    throw new GwError('FILE_UNWRITABLE', `${path} cannot be written (${code ?? 'unknown reason'}).`, { cause });
  }
}

/**
 * One run at a time: a name that the kernel of Linux gives to one process only and takes back when that process ends,
 * however it ends. Elsewhere there is no such name, and a second key is refused when it is put in its place.
 */
async function holdName(folder: string): Promise<AsyncDisposable> {
  if (process.platform !== 'linux') return { [Symbol.asyncDispose]: async () => {} };
  const name = `\0gw-enrolment-${createHash('sha256').update(folder).digest('hex')}`;
  const server = createServer((socket) => socket.destroy());
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', (cause) => reject(running(folder, cause)));
  server.listen(name, resolve);
  await promise;
  server.unref();
  return {
    [Symbol.asyncDispose]: () => new Promise((done) => server.close(() => done())),
  };
}

function running(folder: string, cause: unknown): GwError {
  return new GwError('ENROLMENT_RUNNING', `Another run of \`gw enrol\` is at work in ${folder}.`, { cause });
}
