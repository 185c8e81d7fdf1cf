import { createHmac, timingSafeEqual } from 'node:crypto';
import { matchesPatterns } from '../config/config.ts';
import { keyTypeOf } from './host-key.ts';

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
