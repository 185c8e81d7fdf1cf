import { createPrivateKey, createPublicKey, type KeyObject, sign, verify, type X509Certificate } from 'node:crypto';
import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { GwError } from '../error/index.ts';
import { readJson } from '../json/index.ts';
import { readSecret } from '../site/index.ts';
import { certificatesPem, installedCertificate, judgeCertificate, readCertificates } from './certificate.ts';
import { IDENTITY_FILE, type OnStored, pendingPath, placeFile, removeFile } from './folder.ts';
import type { Credentials, Identity, Signer } from './model.ts';

export const pem = z.string().min(1).max(32_768);
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
  /** By the clock of this device. For records. */
  begunAt: z.iso.datetime(),
  /** Whether it was begun to replace an identity. Not in the files of earlier versions. */
  renewal: z.boolean().default(false),
  keyPem: pem,
  /** The certificate request, so that a resumed run sends the same bytes again. */
  requestPem: pem,
});

/**
 * An enrolment that was begun: its key was made. No certificate for it is installed, unless it was cut right before it
 * had cleaned up: `isInstalled` decides.
 */
export type Pending = Readonly<Omit<z.infer<typeof pendingSchema>, 'format'>>;

export interface NewIdentity extends Omit<StoredIdentity, 'format' | 'certificatePem' | 'caPem'> {
  readonly chain: readonly X509Certificate[];
  readonly cas: readonly X509Certificate[];
}

type StoredIdentity = Readonly<z.infer<typeof identitySchema>>;

interface Stored {
  readonly file: StoredIdentity;
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
  return { serial, endpoint, region, enrolledAt, certificate: installedCertificate(stored.chain), caPem: stored.caPem };
}

/** Throws IDENTITY_BROKEN for the identity of another robot: with it this one is that one for the cloud. */
export function assertIdentityOf(identity: Pick<Identity, 'serial'>, serial: string): void {
  if (identity.serial === serial) return;
  throw new GwError(
    'IDENTITY_BROKEN',
    `The identity is that of ${identity.serial}; the chassis of the site file is ${serial}.`,
    { remedy: 'Correct chassis.serial in the site file, or enrol this gateway for its chassis: gw enrol --renew' },
  );
}

/** Key, certificate and cas for a TLS client. Throws NOT_ENROLLED, IDENTITY_BROKEN. */
export async function readCredentials(identityDir: string): Promise<Credentials> {
  const { file, chain, caPem } = await requireStored(identityDir);
  return { keyPem: file.keyPem, certificatePem: certificatesPem(chain), caPem };
}

/** Signs with the device key. Throws NOT_ENROLLED, IDENTITY_BROKEN. */
export async function openSigner(identityDir: string): Promise<Signer> {
  const { file, key, chain } = await requireStored(identityDir);
  return {
    serial: file.serial,
    certificatePem: certificatesPem(chain),
    sign: (bytes) => sign('sha256', bytes, { key, dsaEncoding: 'ieee-p1363' }),
  };
}

/** What a begun enrolment left in this folder; undefined when there is nothing. Throws IDENTITY_BROKEN. */
export async function readPending(identityDir: string): Promise<Pending | undefined> {
  const path = pendingPath(identityDir);
  const text = await readOwn(path, 'the unfinished enrolment');
  if (text === undefined) return undefined;
  const reading = readJson(text, 'file');
  const parsed = reading.ok ? pendingSchema.safeParse(reading.value) : undefined;
  if (parsed?.success !== true || deviceKey(parsed.data.keyPem) === undefined) {
    throw new GwError('IDENTITY_BROKEN', `Corrupt enrolment file ${path}.`, {
      remedy: `Remove ${path}, which changes no identity; then run \`gw enrol\` (or \`gw enrol --renew\`) with a new one-time code.`,
    });
  }
  const { format: _, ...pending } = parsed.data;
  return pending;
}

/** Writes a new key to disk before it is used. Throws ENROLMENT_RUNNING when another run just did. */
export async function keepPending(identityDir: string, pending: Pending, onStored: OnStored): Promise<void> {
  const text = JSON.stringify({ format: 'gw/enrolment-pending/1', ...pending }, null, 2);
  await placeFile(pendingPath(identityDir), `${text}\n`, { replace: false, onStored });
}

/** Installs the identity atomically. */
export async function installIdentity(identityDir: string, identity: NewIdentity, onStored: OnStored): Promise<void> {
  const { chain, cas, ...rest } = identity;
  const certificates = { certificatePem: certificatesPem(chain), caPem: certificatesPem(cas) };
  const text = JSON.stringify({ format: 'gw/identity/1', ...rest, ...certificates }, null, 2);
  await placeFile(join(identityDir, IDENTITY_FILE), `${text}\n`, { replace: true, onStored });
}

/** Throws FILE_UNWRITABLE. */
export async function dropPending(identityDir: string): Promise<void> {
  await removeFile(pendingPath(identityDir));
}

/**
 * The private key of a PEM text, when it is one for EC P-256 that works: a damaged one may still carry its public half
 * unharmed, and then only a signature shows it.
 */
export function deviceKey(keyPem: string): KeyObject | undefined {
  try {
    const key = createPrivateKey(keyPem);
    if (key.asymmetricKeyDetails?.namedCurve !== 'prime256v1') return undefined;
    const probe = Buffer.from('gw');
    return verify('sha256', probe, createPublicKey(keyPem), sign('sha256', probe, key)) ? key : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Whether the key of a begun enrolment is the one that is installed: then the enrolment was finished, and cut before it
 * had cleaned up. Throws IDENTITY_BROKEN; without an identity it is false.
 */
export async function isInstalled(identityDir: string, begun: Pending): Promise<boolean> {
  const stored = await readStored(identityDir);
  return stored !== undefined && isSameKey(stored.file.keyPem, begun.keyPem);
}

/** Whether two private keys are the same one. */
export function isSameKey(one: string, other: string): boolean {
  return createPublicKey(one).equals(createPublicKey(other));
}

async function requireStored(identityDir: string): Promise<Stored> {
  const stored = await readStored(identityDir);
  if (stored === undefined) {
    throw new GwError('NOT_ENROLLED', `Not enrolled: no identity in ${identityDir}.`);
  }
  return stored;
}

async function readStored(identityDir: string): Promise<Stored | undefined> {
  const path = join(identityDir, IDENTITY_FILE);
  const text = await readOwn(path, 'the identity of this device');
  if (text === undefined) return undefined;
  const broken = (why: string) => new GwError('IDENTITY_BROKEN', `Identity ${path} is unusable: ${why}.`);
  const reading = readJson(text, 'file');
  // The parser's message may quote the key.
  if (!reading.ok) throw broken('not valid JSON');
  const parsed = identitySchema.safeParse(reading.value);
  if (!parsed.success) throw broken('invalid content');
  const file = parsed.data;
  const key = deviceKey(file.keyPem);
  if (key === undefined) throw broken('its key is not a valid EC P-256 key');
  const chain = readCertificates(file.certificatePem);
  const cas = readCertificates(file.caPem);
  if (chain === undefined || cas === undefined) throw broken('its certificates are invalid');
  const publicKey = createPublicKey(file.keyPem);
  const [problem] = judgeCertificate(chain, { publicKey, serial: file.serial, cas, at: null });
  if (problem !== undefined) throw broken(`its certificate does not match: ${problem.text}`);
  return { file, key, chain, caPem: certificatesPem(cas) };
}

/** Reads a file with a key; undefined when it does not exist. Throws IDENTITY_BROKEN, never with its content. */
export async function readOwn(path: string, what: string): Promise<string | undefined> {
  const there = await lstat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined;
    throw new GwError('IDENTITY_BROKEN', `${path} (${what}) cannot be read (${error.code}).`, {
      remedy: 'Run gw as the owner of the folder, the user of `gw serve`.',
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
