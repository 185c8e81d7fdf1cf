import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, open, readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { GwError } from '../../../error/index.ts';
import { ensureFolder } from '../../../lifecycle/index.ts';
import { matchesPatterns } from '../config/config.ts';

/** One valid line of known_hosts. */
export interface KnownHost {
  readonly kind: 'key' | 'revoked' | 'cert-authority';
  readonly hosts: readonly string[] | HashedName;
  readonly keyType: string;
  readonly blob: Buffer;
  /** `…/known_hosts:3`. */
  readonly at: string;
}

interface HashedName {
  readonly salt: Buffer;
  readonly hash: Buffer;
}

export interface KnownHosts {
  readonly entries: readonly KnownHost[];
  /** Positions of invalid lines. They are reported, because one of them may have been meant to revoke a key. */
  readonly invalidLines: readonly string[];
}

/** What known_hosts says about the key that a host presents. */
export type HostKeyVerdict =
  | { readonly kind: 'known' }
  /** No key of this host is listed; `certAuthorities` are the positions of `@cert-authority` lines for it. */
  | { readonly kind: 'unknown'; readonly certAuthorities: readonly string[] }
  | { readonly kind: 'changed'; readonly known: readonly KnownHost[] }
  | { readonly kind: 'revoked'; readonly at: string };

const markers: Readonly<Record<string, KnownHost['kind']>> = {
  '@revoked': 'revoked',
  '@cert-authority': 'cert-authority',
};

export function parseKnownHosts(text: string, file: string): KnownHosts {
  const entries: KnownHost[] = [];
  const invalidLines: string[] = [];
  for (const [index, line] of text.split('\n').entries()) {
    const at = `${file}:${index + 1}`;
    const words = line.trim().split(/\s+/);
    if (words[0] === '' || words[0]?.startsWith('#')) continue;
    const entry = entryOf(words, at);
    if (entry === null) invalidLines.push(at);
    else entries.push(entry);
  }
  return { entries, invalidLines };
}

function entryOf(words: string[], at: string): KnownHost | null {
  const isMarked = words[0]?.startsWith('@') === true;
  const kind = isMarked ? markers[words[0] ?? ''] : 'key';
  const [names, keyType, base64] = isMarked ? words.slice(1) : words;
  if (kind === undefined || names === undefined || keyType === undefined || base64 === undefined) return null;
  const hosts = names.startsWith('|') ? hashedOf(names) : names.split(',').filter((name) => name !== '');
  if (hosts === null || (Array.isArray(hosts) && hosts.length === 0)) return null;
  if (!/^[A-Za-z0-9+/]+=*$/.test(base64)) return null;
  const blob = Buffer.from(base64, 'base64');
  return keyTypeOf(blob) === keyType ? { kind, hosts, keyType, blob, at } : null;
}

function hashedOf(text: string): HashedName | null {
  const [empty, version, salt = '', hash = '', ...more] = text.split('|');
  if (empty !== '' || version !== '1' || more.length > 0) return null;
  const name = { salt: Buffer.from(salt, 'base64'), hash: Buffer.from(hash, 'base64') };
  return name.salt.length > 0 && name.hash.length === 20 ? name : null;
}

/** `name`: as {@link knownHostName} writes it. */
export function entriesFor(entries: readonly KnownHost[], name: string): KnownHost[] {
  return entries.filter(({ hosts }) => ('hash' in hosts ? isHashOf(hosts, name) : matchesPatterns(hosts, name)));
}

function isHashOf({ salt, hash }: HashedName, name: string): boolean {
  return timingSafeEqual(createHmac('sha1', salt).update(name).digest(), hash);
}

/** Judges the key that a host presents. A revocation of the key for this host overrides every other line. */
export function judgeHostKey(entries: readonly KnownHost[], name: string, blob: Uint8Array): HostKeyVerdict {
  const here = entriesFor(entries, name);
  const revoked = here.find((entry) => entry.kind === 'revoked' && entry.blob.equals(blob));
  if (revoked !== undefined) return { kind: 'revoked', at: revoked.at };
  const known = here.filter((entry) => entry.kind === 'key');
  if (known.some((entry) => entry.blob.equals(blob))) return { kind: 'known' };
  // Known key types are negotiated first, so a host that presents another type no longer has the known keys.
  if (known.length > 0) return { kind: 'changed', known };
  return { kind: 'unknown', certAuthorities: here.filter(({ kind }) => kind === 'cert-authority').map(({ at }) => at) };
}

/** The known_hosts line of a host. `salt`: hashes the name, as for `HashKnownHosts yes`. */
export function knownHostLine(name: string, blob: Uint8Array, salt: Buffer | null): string {
  const written =
    salt === null ? name : `|1|${salt.toString('base64')}|${createHmac('sha1', salt).update(name).digest('base64')}`;
  return `${written} ${keyTypeOf(blob)} ${Buffer.from(blob).toString('base64')}\n`;
}

const MAX_BYTES = 32 * 1024 * 1024;

/**
 * Reads known_hosts files; a missing one counts as empty. Throws FILE_UNREADABLE for an existing one that cannot be
 * read, because it may revoke a key or hold another one.
 */
export async function readKnownHosts(paths: readonly string[]): Promise<KnownHosts> {
  const read = await Promise.all(paths.map(async (path) => parseKnownHosts(await textOf(path), path)));
  return {
    entries: read.flatMap(({ entries }) => entries),
    invalidLines: read.flatMap(({ invalidLines }) => invalidLines),
  };
}

async function textOf(path: string): Promise<string> {
  try {
    const text = await readFile(path, 'latin1');
    if (text.length <= MAX_BYTES) return text;
    throw new GwError('FILE_UNREADABLE', `Known hosts file ${path} is larger than ${MAX_BYTES} bytes.`);
  } catch (cause) {
    if (cause instanceof GwError) throw cause;
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return '';
    throw new GwError('FILE_UNREADABLE', `Known hosts file ${path} cannot be read.`, { cause });
  }
}

/**
 * Appends a line and syncs the file. A single appending write, since other programs append to the file too; a last line
 * without a line end gets one first. Throws FILE_UNWRITABLE.
 */
export async function addKnownHost(path: string, line: string): Promise<void> {
  try {
    await ensureFolder(dirname(path), 0o700);
    await using file = await open(path, constants.O_RDWR | constants.O_APPEND | constants.O_CREAT, 0o600);
    const ending = (await endsInLine(file)) ? '' : '\n';
    await file.write(`${ending}${line}`);
    await file.sync();
  } catch (cause) {
    throw new GwError('FILE_UNWRITABLE', `Host key cannot be added to ${path}.`, { cause });
  }
}

async function endsInLine(file: FileHandle): Promise<boolean> {
  const { size } = await file.stat();
  if (size === 0) return true;
  const { buffer, bytesRead } = await file.read(Buffer.alloc(1), 0, 1, size - 1);
  return bytesRead === 1 && buffer[0] === 0x0a;
}

/** The key type in the first field of a public key (RFC 4253, 6.6): `ssh-ed25519`. Null: not a key. */
export function keyTypeOf(blob: Uint8Array): string | null {
  const bytes = Buffer.from(blob.buffer, blob.byteOffset, blob.byteLength);
  if (bytes.length < 5) return null;
  const length = bytes.readUInt32BE(0);
  if (length === 0 || length > 64 || bytes.length < 4 + length) return null;
  const type = bytes.toString('latin1', 4, 4 + length);
  return /^[a-z0-9][a-z0-9@.-]*$/i.test(type) ? type : null;
}

/** `SHA256:…`, as `ssh-keygen -l` prints it. */
export function fingerprintOf(blob: Uint8Array): string {
  return `SHA256:${createHash('sha256').update(blob).digest('base64').replace(/=+$/, '')}`;
}

/** The host name as in known_hosts: `192.0.2.7`, `[192.0.2.7]:2222`. */
export function knownHostName(host: string, port: number): string {
  return port === 22 ? host.toLowerCase() : `[${host.toLowerCase()}]:${port}`;
}
