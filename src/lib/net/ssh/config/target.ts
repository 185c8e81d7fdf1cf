import { isIPv6 } from 'node:net';
import { GwError } from '../../../error/index.ts';
import type { SshTarget } from '../model.ts';

const name = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,252}$/;
const user = /^[^\s\p{Cc}:@,-][^\s\p{Cc},]{0,255}$/u;

/** `host`, `user@host:port`, `user@[2001:db8::7]:22`, `ssh://user@host:port`. Throws USAGE. */
export function parseSshTarget(text: string): SshTarget {
  const found = readSshTarget(text);
  if (found !== null) return found;
  throw new GwError('USAGE', `'${text.slice(0, 200)}' is not an SSH target.`, {
    remedy: 'Write USER@HOST or USER@HOST:PORT, for example technician@192.0.2.2 or technician@[2001:db8::7]:2222.',
  });
}

/** Null: not an SSH target. */
export function readSshTarget(text: string): SshTarget | null {
  const plain = text.startsWith('ssh://') ? text.slice('ssh://'.length).replace(/\/$/, '') : text;
  // A user name may contain an @.
  const at = plain.lastIndexOf('@');
  const who = at < 0 ? null : plain.slice(0, at);
  if (who !== null && !user.test(who)) return null;
  const place = readPlace(plain.slice(at + 1));
  return place && { ...place, user: who };
}

function readPlace(text: string): { readonly host: string; readonly port: number | null } | null {
  if (isSshHost(text)) return { host: text, port: null };
  const [, bracketed, plain, digits] = /^(?:\[([^\]]+)\]|([^:[\]]+))(?::(\d{1,5}))?$/.exec(text) ?? [];
  const host = bracketed ?? plain;
  if (host === undefined || !isSshHost(host) || (bracketed !== undefined && !isIPv6(bracketed))) return null;
  const port = digits === undefined ? null : Number(digits);
  return port !== null && (port < 1 || port > 65_535) ? null : { host, port };
}

/** A name, an alias or an address literal; nothing that could be read as an option, a pattern or a list. */
export function isSshHost(text: string): boolean {
  return text.includes(':') ? isIPv6(text) : name.test(text);
}

export function isSshUser(text: string): boolean {
  return user.test(text);
}
