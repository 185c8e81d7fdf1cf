import { createHmac, timingSafeEqual } from 'node:crypto';
import { matchesPatterns } from './config.ts';
import { keyTypeOf } from './host-key.ts';

/** One line of known_hosts that could be read. */
export interface KnownHost {
  readonly kind: 'key' | 'revoked' | 'authority';
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
  /** Where a line stands that could not be read. It may be one that forbids a key, so it is told. */
  readonly unread: readonly string[];
}

/** What known_hosts says about a key that a host shows. */
export type HostKeyVerdict =
  | { readonly kind: 'known' }
  /** No line names this host; `authorities` says where one names somebody who may vouch for it. */
  | { readonly kind: 'unknown'; readonly authorities: readonly string[] }
  | { readonly kind: 'changed'; readonly known: readonly KnownHost[] }
  | { readonly kind: 'revoked'; readonly at: string };

const markers: Readonly<Record<string, KnownHost['kind']>> = { '@revoked': 'revoked', '@cert-authority': 'authority' };

export function parseKnownHosts(text: string, file: string): KnownHosts {
  const entries: KnownHost[] = [];
  const unread: string[] = [];
  for (const [index, line] of text.split('\n').entries()) {
    const at = `${file}:${index + 1}`;
    const words = line.trim().split(/\s+/);
    if (words[0] === '' || words[0]?.startsWith('#')) continue;
    const entry = entryOf(words, at);
    if (entry === null) unread.push(at);
    else entries.push(entry);
  }
  return { entries, unread };
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

/** Judges the key that a host shows. A key that is forbidden anywhere for this host is forbidden, whatever else is said. */
export function judgeHostKey(entries: readonly KnownHost[], name: string, blob: Uint8Array): HostKeyVerdict {
  const here = entriesFor(entries, name);
  const revoked = here.find((entry) => entry.kind === 'revoked' && entry.blob.equals(blob));
  if (revoked !== undefined) return { kind: 'revoked', at: revoked.at };
  const known = here.filter((entry) => entry.kind === 'key');
  if (known.some((entry) => entry.blob.equals(blob))) return { kind: 'known' };
  // Those kinds of keys were asked for first, so a host that shows another kind has none of the known ones any more.
  if (known.length > 0) return { kind: 'changed', known };
  return { kind: 'unknown', authorities: here.filter(({ kind }) => kind === 'authority').map(({ at }) => at) };
}

/** The line that makes a host known. `salt`: hides the name, as `HashKnownHosts yes` asks for. */
export function knownHostLine(name: string, blob: Uint8Array, salt: Buffer | null): string {
  const written =
    salt === null ? name : `|1|${salt.toString('base64')}|${createHmac('sha1', salt).update(name).digest('base64')}`;
  return `${written} ${keyTypeOf(blob)} ${Buffer.from(blob).toString('base64')}\n`;
}
