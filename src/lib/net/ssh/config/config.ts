import { readdir, readFile, stat } from 'node:fs/promises';
import { isIPv6 } from 'node:net';
import { basename, dirname, join } from 'node:path';
import { GwError } from '../../../error/index.ts';
import { shorten } from '../../../text/index.ts';
import { formatEndpoint } from '../../dialer.ts';
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
function isSshHost(text: string): boolean {
  return text.includes(':') ? isIPv6(text) : name.test(text);
}

function isSshUser(text: string): boolean {
  return user.test(text);
}

/** One line of an SSH configuration: its keyword in lower case, and its arguments. */
export interface ConfigLine {
  readonly keyword: string;
  readonly words: readonly string[];
  /** `…/.ssh/config:12`, for messages. */
  readonly at: string;
  /** The lines of the files that an `Include` names; set by the file reader. */
  included?: readonly (readonly ConfigLine[])[];
}

/** The supported settings of one host. */
export interface HostSettings {
  readonly hostName: string;
  readonly user: string;
  readonly port: number;
  /** Key files in order; null: none configured, so the default files are used. */
  readonly identityFiles: readonly string[] | null;
  /** Only these keys are offered, even if an agent holds more. */
  readonly identitiesOnly: boolean;
  /** Path of an agent's socket; null: no agent; undefined: SSH_AUTH_SOCK. */
  readonly identityAgent: string | null | undefined;
  /** Jump hosts in order; empty: a direct connection. */
  readonly jumps: readonly string[];
  /** null: the default file. */
  readonly knownHostsFiles: readonly string[] | null;
  /** The host's name in known_hosts; null: its own name. */
  readonly hostKeyAlias: string | null;
  /** Unknown hosts are rejected without a question. */
  readonly isStrict: boolean;
  /** New known_hosts lines hold a hashed host name. */
  readonly hashesNames: boolean;
  /** Settings of this host that are ignored, each in one sentence. */
  readonly notes: readonly string[];
}

/** The host for messages and for `way` of a dialer: `technician@192.0.2.2:22`. */
export function nameOf({ user, hostName, port }: HostSettings): string {
  return `${user}@${formatEndpoint({ host: hostName, port })}`;
}

export interface SettingsOptions {
  /** As given on the command line. */
  readonly host: string;
  /** The command line takes precedence over the configuration. */
  readonly user: string | null;
  readonly port: number | null;
  readonly localUser: string;
  readonly homeDir: string;
}

/**
 * Parses the text of an SSH configuration. Throws SSH_CONFIG_INVALID for a line without a keyword. Written here because
 * the library for it (ssh-config 5.3) runs the program of a `Match exec` when a host is looked up, needs exponential
 * time for patterns, cuts `a#b` at its #, and keeps no line numbers for messages.
 */
export function parseSshConfig(text: string, file: string): ConfigLine[] {
  const lines: ConfigLine[] = [];
  for (const [index, raw] of text.split(/\r?\n/).entries()) {
    const at = `${file}:${index + 1}`;
    const [, keyword, rest] = /^\s*([A-Za-z][A-Za-z0-9]*)(?:\s*=\s*|\s+|$)(.*)$/s.exec(raw) ?? [];
    if (keyword === undefined) {
      if (/^\s*(#|$)/.test(raw)) continue;
      throw invalid(at, 'the line does not begin with a keyword');
    }
    lines.push({ keyword: keyword.toLowerCase(), words: wordsOf(rest ?? '', at), at });
  }
  return lines;
}

/** Arguments separated by spaces; quotes keep spaces, and a lone # begins a comment. */
function wordsOf(text: string, at: string): string[] {
  const words: string[] = [];
  let rest = text.trimStart();
  while (rest !== '' && !rest.startsWith('#')) {
    const match = /^((?:[^\s"']|"[^"]*"|'[^']*')+)(?:\s+|$)/.exec(rest);
    if (match === null) throw invalid(at, 'unterminated quote');
    words.push((match[1] ?? '').replace(/"([^"]*)"|'([^']*)'/g, '$1$2'));
    rest = rest.slice(match[0].length);
  }
  return words;
}

/** The settings collected so far: the first value of each keyword wins, except that IdentityFile accumulates. */
interface Found {
  readonly first: Map<string, ConfigLine>;
  readonly identityFiles: ConfigLine[];
  readonly notes: Set<string>;
}

/** Resolves the settings of a host as OpenSSH does: the first matching value wins. Throws SSH_CONFIG_INVALID. */
export function settingsOf(lines: readonly ConfigLine[], options: SettingsOptions): HostSettings {
  const found: Found = { first: new Map(), identityFiles: [], notes: new Set() };
  collect(lines, options.host, true, found);
  return settle(found, options);
}

function collect(lines: readonly ConfigLine[], host: string, outer: boolean, found: Found): void {
  let applies = outer;
  for (const line of lines) {
    const { keyword, words, at } = line;
    if (keyword === 'host') {
      if (words.length === 0) throw invalid(at, 'Host has no argument');
      applies = outer && matchesPatterns(words, host);
    } else if (keyword === 'match') {
      // The other criteria need programs to be run, or user and network names.
      applies = outer && words.length === 1 && words[0]?.toLowerCase() === 'all';
      if (!applies && outer) found.notes.add(`The Match block at ${at} is ignored.`);
    } else if (!applies) continue;
    else if (keyword === 'include') for (const file of line.included ?? []) collect(file, host, true, found);
    else if (keyword === 'identityfile') found.identityFiles.push(line);
    else if (!found.first.has(keyword)) found.first.set(keyword, line);
  }
}

/** Patterns of a `Host` line: one must match, and no negated one (`!`). */
export function matchesPatterns(patterns: readonly string[], host: string): boolean {
  let isMatch = false;
  for (const pattern of patterns) {
    if (!pattern.startsWith('!')) isMatch ||= matchesPattern(pattern, host);
    else if (matchesPattern(pattern.slice(1), host)) return false;
  }
  return isMatch;
}

/** `*` matches any text and `?` one character, case-insensitively, in linear memory. */
export function matchesPattern(pattern: string, text: string): boolean {
  const [wanted, given] = [pattern.toLowerCase(), text.toLowerCase()];
  let [p, t, star, mark] = [0, 0, -1, 0];
  while (t < given.length) {
    if (wanted[p] === '*') {
      star = p;
      mark = t;
      p += 1;
    } else if (p < wanted.length && (wanted[p] === '?' || wanted[p] === given[t])) {
      p += 1;
      t += 1;
    } else if (star >= 0) {
      p = star + 1;
      mark += 1;
      t = mark;
    } else return false;
  }
  while (wanted[p] === '*') p += 1;
  return p === wanted.length;
}

function settle({ first, identityFiles, notes }: Found, options: SettingsOptions): HostSettings {
  const word = (keyword: string): { readonly value: string; readonly at: string } | undefined => {
    const line = first.get(keyword);
    if (line === undefined) return undefined;
    const [value] = line.words;
    if (value === undefined) throw invalid(line.at, `${keyword} has no argument`);
    return { value, at: line.at };
  };
  const yes = (keyword: string) => /^(yes|true)$/i.test(word(keyword)?.value ?? '');

  const hostWord = word('hostname');
  const hostName = hostWord ? expand(hostWord, { h: options.host }) : options.host;
  if (!isSshHost(hostName)) throw invalid(hostWord?.at ?? '', `'${hostName}' is not a host name or address`);
  const userWord = word('user');
  const user = options.user ?? userWord?.value ?? options.localUser;
  if (!isSshUser(user)) throw invalid(userWord?.at ?? 'local user', `'${user}' is not a valid user name`);
  const port = options.port ?? portOf(word('port'));
  const tokens = { h: hostName, n: options.host, r: user, u: options.localUser, d: options.homeDir, p: String(port) };
  const path = (at: { readonly value: string; readonly at: string }) => inHome(expand(at, tokens), options.homeDir);

  const strict = word('stricthostkeychecking')?.value.toLowerCase();
  if (strict === 'no' || strict === 'off' || strict === 'accept-new') {
    notes.add(`StrictHostKeyChecking ${strict} is ignored: gw asks before it trusts an unknown host key.`);
  }
  if (first.has('certificatefile'))
    notes.add('CertificateFile is ignored: gw authenticates with keys, not certificates.');
  const agent = word('identityagent');
  const agentIsPath = agent !== undefined && !/^(none|SSH_AUTH_SOCK)$/i.test(agent.value);
  if (agentIsPath && agent.value.startsWith('$')) {
    throw invalid(agent.at, 'IdentityAgent with an environment variable is not supported; write the path');
  }
  const known = first.get('userknownhostsfile');
  const alias = word('hostkeyalias');
  if (alias !== undefined && !isSshHost(alias.value)) throw invalid(alias.at, `'${alias.value}' is not a host name`);
  return {
    hostName,
    user,
    port,
    identityFiles: identityFiles.length === 0 ? null : filesOf(identityFiles, path),
    identitiesOnly: yes('identitiesonly'),
    identityAgent: agentIsPath ? path(agent) : agent?.value.toLowerCase() === 'none' ? null : undefined,
    jumps: jumpsOf(first, tokens),
    knownHostsFiles: known ? filesOf([known], path) : null,
    hostKeyAlias: alias?.value ?? null,
    isStrict: strict === 'yes',
    hashesNames: yes('hashknownhosts'),
    notes: [...notes],
  };
}

type Placed = { readonly value: string; readonly at: string };

function filesOf(lines: readonly ConfigLine[], path: (word: Placed) => string): string[] {
  const words = lines.flatMap(({ words, at }) => words.map((value) => ({ value, at })));
  const files = words.filter(({ value }) => value.toLowerCase() !== 'none').map(path);
  return [...new Set(files)];
}

function portOf(word: Placed | undefined): number {
  if (word === undefined) return 22;
  const port = /^\d{1,5}$/.test(word.value) ? Number(word.value) : 0;
  if (port < 1 || port > 65_535) throw invalid(word.at, `'${word.value}' is not a port from 1 to 65535`);
  return port;
}

/** ProxyJump and ProxyCommand exclude each other: the first one wins. */
function jumpsOf(first: ReadonlyMap<string, ConfigLine>, tokens: Readonly<Record<string, string>>): string[] {
  const order = [...first.keys()].filter((keyword) => keyword === 'proxyjump' || keyword === 'proxycommand');
  const line = first.get(order[0] ?? '');
  if (line === undefined) return [];
  const text = line.words.join(' ');
  if (text.toLowerCase() === 'none') return [];
  if (line.keyword === 'proxycommand') {
    throw invalid(line.at, 'ProxyCommand is not supported', 'Use ProxyJump with the names of the jump hosts instead.');
  }
  const jumps = expand({ value: text, at: line.at }, tokens).split(',');
  return jumps.map((jump) => {
    if (readSshTarget(jump.trim()) === null) throw invalid(line.at, `'${jump.trim()}' is not a valid jump host`);
    return jump.trim();
  });
}

/** Expands `%h` and alike; an unknown token is an error, since it would name another file than OpenSSH uses. */
function expand({ value, at }: Placed, tokens: Readonly<Record<string, string>>): string {
  return value.replace(/%(.?)/gs, (whole, letter: string) => {
    if (letter === '%') return '%';
    const known = Object.hasOwn(tokens, letter) ? tokens[letter] : undefined;
    if (known === undefined) throw invalid(at, `unknown token '${whole}'`);
    return known;
  });
}

/** Resolves `~` and relative paths against the home directory; OpenSSH resolves the latter against its working directory. */
function inHome(path: string, homeDir: string): string {
  if (path === '~') return homeDir;
  if (path.startsWith('~/')) return `${homeDir}/${path.slice(2)}`;
  return path.startsWith('/') ? path : `${homeDir}/${path}`;
}

/** A problem quotes the file, whose lines may have any length. */
const MAX_PROBLEM_CHARACTERS = 300;

export function invalid(at: string, what: string, remedy?: string): GwError {
  return new GwError('SSH_CONFIG_INVALID', `${at}: ${shorten(what, MAX_PROBLEM_CHARACTERS)}.`, { remedy });
}

const MAX_DEPTH = 8;
const MAX_FILES = 64;
const MAX_BYTES = 1024 * 1024;

/**
 * Reads the user's SSH configuration, `.ssh/config` in the home directory, with the files that it includes. Empty when
 * the file does not exist. Throws SSH_CONFIG_INVALID.
 */
export async function readSshConfig(homeDir: string): Promise<ConfigLine[]> {
  const folder = join(homeDir, '.ssh');
  let files = 0;

  async function read(path: string, depth: number): Promise<ConfigLine[]> {
    files += 1;
    if (depth > MAX_DEPTH || files > MAX_FILES)
      throw invalid(path, `Include nested deeper than ${MAX_DEPTH}, or more than ${MAX_FILES} files`);
    const text = await textOf(path);
    if (text === null) return [];
    const lines = parseSshConfig(text, path);
    for (const line of lines) {
      if (line.keyword !== 'include') continue;
      const included: ConfigLine[][] = [];
      for (const word of line.words) {
        for (const file of await matchingFiles(placeOf(word, homeDir, folder), line.at)) {
          included.push(await read(file, depth + 1));
        }
      }
      line.included = included;
    }
    return lines;
  }

  return await read(join(folder, 'config'), 0);
}

async function textOf(path: string): Promise<string | null> {
  try {
    const { size, mode } = await stat(path);
    // The file decides which host is connected to; OpenSSH rejects such a file too.
    if ((mode & 0o022) !== 0) throw invalid(path, 'the file is writable by others', `Run: chmod 600 ${path}`);
    if (size > MAX_BYTES) throw invalid(path, `the file is larger than ${MAX_BYTES} bytes`);
    return await readFile(path, 'utf8');
  } catch (error) {
    if (error instanceof GwError) throw error;
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw new GwError('SSH_CONFIG_INVALID', `SSH configuration ${path} cannot be read.`, { cause: error });
  }
}

function placeOf(word: string, homeDir: string, folder: string): string {
  if (word.startsWith('~/')) return join(homeDir, word.slice(2));
  return word.startsWith('/') ? word : join(folder, word);
}

/** Files that match a wildcard in the last path component, sorted by name. */
async function matchingFiles(path: string, at: string): Promise<string[]> {
  if (/[*?]/.test(dirname(path))) throw invalid(at, 'wildcards are supported in the last path component only');
  if (!/[*?]/.test(basename(path))) return [path];
  const names = await readdir(dirname(path)).catch(() => []);
  const matching = names.filter((name) => !name.startsWith('.') && matchesPattern(basename(path), name));
  return matching.toSorted().map((name) => join(dirname(path), name));
}
