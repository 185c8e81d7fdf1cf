import { isIPv6 } from 'node:net';
import { GwError } from '../../../error/index.ts';
import { formatEndpoint } from '../../dialer.ts';
import type { SshTarget } from '../model.ts';
import { type Environment, expand, inHome, type Placed, type Tokens, tokensOf } from './expand.ts';
import { invalid } from './invalid.ts';
import { matchesPattern } from './pattern.ts';

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
  /** File of keys that no host may present; null: none. */
  readonly revokedHostKeys: string | null;
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
  /** For `${NAME}` and `$NAME`; only HOME by default. */
  readonly environment?: Environment | undefined;
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
  const { environment = { HOME: options.homeDir } } = options;
  const hostName = hostWord ? expand(hostWord, { h: options.host }, {}) : options.host;
  if (!isSshHost(hostName)) throw invalid(hostWord?.at ?? '', `'${hostName}' is not a host name or address`);
  const userWord = word('user');
  const user = options.user ?? userWord?.value ?? options.localUser;
  if (!isSshUser(user)) throw invalid(userWord?.at ?? 'local user', `'${user}' is not a valid user name`);
  const port = options.port ?? portOf(word('port'));
  const alias = word('hostkeyalias');
  if (alias !== undefined && !isSshHost(alias.value)) throw invalid(alias.at, `'${alias.value}' is not a host name`);
  const { host, localUser, homeDir } = options;
  const jump = first.get('proxyjump')?.words.join(' ') ?? '';
  const tokens = tokensOf({ hostName, host, alias: alias?.value, user, port, localUser, homeDir, jump });
  const path = (word: Placed) => inHome(expand(word, tokens, environment), homeDir);

  const strict = word('stricthostkeychecking')?.value.toLowerCase();
  if (strict === 'no' || strict === 'off' || strict === 'accept-new') {
    notes.add(`StrictHostKeyChecking ${strict} is ignored: gw asks before it trusts an unknown host key.`);
  }
  if (first.has('certificatefile'))
    notes.add('CertificateFile is ignored: gw authenticates with keys, not certificates.');
  const agent = word('identityagent');
  const known = first.get('userknownhostsfile');
  const revoked = word('revokedhostkeys');
  if (revoked !== undefined && (first.get('revokedhostkeys')?.words.length ?? 0) > 1) {
    throw invalid(revoked.at, 'RevokedHostKeys names more than one file', 'Put the keys of both into one file.');
  }
  return {
    hostName,
    user,
    port,
    identityFiles: identityFiles.length === 0 ? null : filesOf(identityFiles, path),
    identitiesOnly: yes('identitiesonly'),
    identityAgent: agentOf(agent, path, environment),
    jumps: jumpsOf(first, tokens),
    knownHostsFiles: known ? filesOf([known], path) : null,
    revokedHostKeys: revoked === undefined || revoked.value.toLowerCase() === 'none' ? null : path(revoked),
    hostKeyAlias: alias?.value ?? null,
    isStrict: strict === 'yes',
    hashesNames: yes('hashknownhosts'),
    notes: [...notes],
  };
}

/** `none`, `SSH_AUTH_SOCK`, a variable (`$NAME`) or a path. */
function agentOf(
  agent: Placed | undefined,
  path: (word: Placed) => string,
  environment: Environment,
): string | null | undefined {
  if (agent === undefined || /^\$?SSH_AUTH_SOCK$/.test(agent.value)) return undefined;
  if (agent.value.toLowerCase() === 'none') return null;
  if (!agent.value.startsWith('$') || agent.value.startsWith('${')) return path(agent);
  const variable = agent.value.slice(1);
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(variable)) throw invalid(agent.at, `'${agent.value}' is not a variable`);
  return environment[variable] ?? null;
}

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
function jumpsOf(first: ReadonlyMap<string, ConfigLine>, tokens: Tokens): string[] {
  const order = [...first.keys()].filter((keyword) => keyword === 'proxyjump' || keyword === 'proxycommand');
  const line = first.get(order[0] ?? '');
  if (line === undefined) return [];
  const text = line.words.join(' ');
  if (text.toLowerCase() === 'none') return [];
  if (line.keyword === 'proxycommand') {
    throw invalid(line.at, 'ProxyCommand is not supported', 'Use ProxyJump with the names of the jump hosts instead.');
  }
  const jumps = expand({ value: text, at: line.at }, tokens, {}).split(',');
  return jumps.map((jump) => {
    if (readSshTarget(jump.trim()) === null) throw invalid(line.at, `'${jump.trim()}' is not a valid jump host`);
    return jump.trim();
  });
}
