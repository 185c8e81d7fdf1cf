import { GwError } from '../../error/index.ts';
import { formatEndpoint } from '../dialer.ts';
import { isSshHost, isSshUser, readSshTarget } from './target.ts';

/** One line of a configuration of SSH: the word it begins with, in lower case, and what follows. */
export interface ConfigLine {
  readonly keyword: string;
  readonly words: readonly string[];
  /** `…/.ssh/config:12`, for messages. */
  readonly at: string;
  /** The files that an `Include` stands for; read by whoever reads the files. */
  included?: readonly (readonly ConfigLine[])[];
}

/** What a configuration says about one host, as far as it is used here. */
export interface HostSettings {
  readonly hostName: string;
  readonly user: string;
  readonly port: number;
  /** Key files in order; null: none were named, so the usual ones are looked for. */
  readonly identityFiles: readonly string[] | null;
  /** Only keys of these files are offered, also when an agent holds more. */
  readonly identitiesOnly: boolean;
  /** Path of an agent's socket, null for none at all, undefined: the usual one. */
  readonly identityAgent: string | null | undefined;
  /** Hosts to go through, in order; empty: straight there. */
  readonly jumps: readonly string[];
  /** null: the usual one. */
  readonly knownHostsFiles: readonly string[] | null;
  /** The name by which the host stands in known_hosts; null: its own. */
  readonly hostKeyAlias: string | null;
  /** Unknown hosts are refused without asking. */
  readonly isStrict: boolean;
  /** New lines of known_hosts hide the name of the host. */
  readonly hashesNames: boolean;
  /** What stands in the configuration for this host and is not done, each in one sentence. */
  readonly notes: readonly string[];
}

/** The machine for people, and in `way` of a dialer: `technician@192.0.2.2:22`. */
export function nameOf({ user, hostName, port }: HostSettings): string {
  return `${user}@${formatEndpoint({ host: hostName, port })}`;
}

export interface SettingsOptions {
  /** As the person wrote it. */
  readonly host: string;
  /** What the person wrote beats the configuration. */
  readonly user: string | null;
  readonly port: number | null;
  readonly localUser: string;
  readonly homeDir: string;
}

/**
 * Splits the text of a configuration. Throws SSH_CONFIG_INVALID for a line that is none. Written here because the
 * library for it (ssh-config 5.3) runs the program of a `Match exec` when a host is looked up, needs exponential time
 * for patterns, cuts `a#b` at its #, and keeps no line numbers for messages.
 */
export function parseSshConfig(text: string, file: string): ConfigLine[] {
  const lines: ConfigLine[] = [];
  for (const [index, raw] of text.split(/\r?\n/).entries()) {
    const at = `${file}:${index + 1}`;
    const [, keyword, rest] = /^\s*([A-Za-z][A-Za-z0-9]*)(?:\s*=\s*|\s+|$)(.*)$/.exec(raw) ?? [];
    if (keyword === undefined) {
      if (/^\s*(#|$)/.test(raw)) continue;
      throw invalid(at, 'this line begins with no keyword');
    }
    lines.push({ keyword: keyword.toLowerCase(), words: wordsOf(rest ?? '', at), at });
  }
  return lines;
}

/** Words by blanks; quoted ones keep theirs, and what follows a lone # is a remark. */
function wordsOf(text: string, at: string): string[] {
  const words: string[] = [];
  let rest = text.trimStart();
  while (rest !== '' && !rest.startsWith('#')) {
    const match = /^((?:[^\s"']|"[^"]*"|'[^']*')+)(?:\s+|$)/.exec(rest);
    if (match === null) throw invalid(at, 'a quotation mark is not closed');
    words.push((match[1] ?? '').replace(/"([^"]*)"|'([^']*)'/g, '$1$2'));
    rest = rest.slice(match[0].length);
  }
  return words;
}

/** What was found so far: of each word the first value counts, but key files add up. */
interface Found {
  readonly first: Map<string, ConfigLine>;
  readonly identityFiles: ConfigLine[];
  readonly notes: Set<string>;
}

/** Looks a host up, as OpenSSH does: the first value that fits is taken. Throws SSH_CONFIG_INVALID. */
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
      if (words.length === 0) throw invalid(at, 'Host names no host');
      applies = outer && matchesPatterns(words, host);
    } else if (keyword === 'match') {
      // Deciding the other forms needs programs to be run, or the names of users and networks.
      applies = outer && words.length === 1 && words[0]?.toLowerCase() === 'all';
      if (!applies && outer) found.notes.add(`The block 'Match' at ${at} is not read.`);
    } else if (!applies) continue;
    else if (keyword === 'include') for (const file of line.included ?? []) collect(file, host, true, found);
    else if (keyword === 'identityfile') found.identityFiles.push(line);
    else if (!found.first.has(keyword)) found.first.set(keyword, line);
  }
}

/** Patterns of a `Host` line: one must fit, and none of those with a `!`. */
export function matchesPatterns(patterns: readonly string[], host: string): boolean {
  let fits = false;
  for (const pattern of patterns) {
    if (!pattern.startsWith('!')) fits ||= matchesPattern(pattern, host);
    else if (matchesPattern(pattern.slice(1), host)) return false;
  }
  return fits;
}

/** `*` stands for any text and `?` for one character; small and large letters are the same. In linear memory and time. */
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
    if (value === undefined) throw invalid(line.at, `${keyword} has no value`);
    return { value, at: line.at };
  };
  const yes = (keyword: string) => /^(yes|true)$/i.test(word(keyword)?.value ?? '');

  const hostWord = word('hostname');
  const hostName = hostWord ? expand(hostWord, { h: options.host }) : options.host;
  if (!isSshHost(hostName)) throw invalid(hostWord?.at ?? '', `'${hostName}' is no host name and no address`);
  const userWord = word('user');
  const user = options.user ?? userWord?.value ?? options.localUser;
  if (!isSshUser(user)) throw invalid(userWord?.at ?? 'the user of this machine', `'${user}' is no user name`);
  const port = options.port ?? portOf(word('port'));
  const tokens = { h: hostName, n: options.host, r: user, u: options.localUser, d: options.homeDir, p: String(port) };
  const path = (at: { readonly value: string; readonly at: string }) => inHome(expand(at, tokens), options.homeDir);

  const strict = word('stricthostkeychecking')?.value.toLowerCase();
  if (strict === 'no' || strict === 'off' || strict === 'accept-new') {
    notes.add(`StrictHostKeyChecking ${strict} is not followed: gw asks before it trusts an unknown host.`);
  }
  if (first.has('certificatefile')) notes.add('CertificateFile is not used: gw logs in with keys, not certificates.');
  const agent = word('identityagent');
  const agentIsPath = agent !== undefined && !/^(none|SSH_AUTH_SOCK)$/i.test(agent.value);
  if (agentIsPath && agent.value.startsWith('$')) {
    throw invalid(agent.at, 'IdentityAgent with the name of a variable is not understood; write the path');
  }
  const known = first.get('userknownhostsfile');
  const alias = word('hostkeyalias');
  if (alias !== undefined && !isSshHost(alias.value)) throw invalid(alias.at, `'${alias.value}' is no name of a host`);
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
  if (port < 1 || port > 65_535) throw invalid(word.at, `'${word.value}' is no port from 1 to 65535`);
  return port;
}

/** ProxyJump and ProxyCommand shut each other out: the one that stands first counts. */
function jumpsOf(first: ReadonlyMap<string, ConfigLine>, tokens: Readonly<Record<string, string>>): string[] {
  const order = [...first.keys()].filter((keyword) => keyword === 'proxyjump' || keyword === 'proxycommand');
  const line = first.get(order[0] ?? '');
  if (line === undefined) return [];
  const text = line.words.join(' ');
  if (text.toLowerCase() === 'none') return [];
  if (line.keyword === 'proxycommand') {
    throw invalid(line.at, 'ProxyCommand is not run by gw', 'Name the machines on the way with ProxyJump instead.');
  }
  const jumps = expand({ value: text, at: line.at }, tokens).split(',');
  return jumps.map((jump) => {
    if (readSshTarget(jump.trim()) === null) throw invalid(line.at, `'${jump.trim()}' is no machine to go through`);
    return jump.trim();
  });
}

/** `%h` and the like; one that is not known here would name another file than OpenSSH takes. */
function expand({ value, at }: Placed, tokens: Readonly<Record<string, string>>): string {
  return value.replace(/%(.?)/gs, (whole, letter: string) => {
    if (letter === '%') return '%';
    const known = Object.hasOwn(tokens, letter) ? tokens[letter] : undefined;
    if (known === undefined) throw invalid(at, `'${whole}' is not understood`);
    return known;
  });
}

/** `~` and relative paths, which OpenSSH takes from the folder it was started in, are taken from the home folder. */
function inHome(path: string, homeDir: string): string {
  if (path === '~') return homeDir;
  if (path.startsWith('~/')) return `${homeDir}/${path.slice(2)}`;
  return path.startsWith('/') ? path : `${homeDir}/${path}`;
}

export function invalid(at: string, what: string, remedy?: string): GwError {
  return new GwError('SSH_CONFIG_INVALID', `${at}: ${what}.`, { remedy });
}
