import { createHash } from 'node:crypto';
import { hostname } from 'node:os';
import { invalid } from './invalid.ts';

/** A value with its place in the configuration. */
export interface Placed {
  readonly value: string;
  readonly at: string;
}

/** What the `%` tokens stand for, by their letter. */
export type Tokens = Readonly<Record<string, string>>;

/** Variables of the environment. */
export type Environment = Readonly<Record<string, string | undefined>>;

export interface TokenFacts {
  readonly hostName: string;
  /** As given on the command line. */
  readonly host: string;
  readonly alias: string | undefined;
  readonly user: string;
  readonly port: number;
  readonly localUser: string;
  readonly homeDir: string;
  /** The value of ProxyJump; empty: none. */
  readonly jump: string;
}

/** The tokens of file names. @source ssh_config(5), TOKENS */
export function tokensOf({ hostName, host, alias, user, port, localUser, homeDir, jump }: TokenFacts): Tokens {
  const local = hostname();
  return {
    ...{ h: hostName, n: host, k: alias ?? host, r: user, p: String(port), u: localUser, d: homeDir, j: jump },
    ...{ l: local, L: local.split('.')[0] ?? local, i: String(process.getuid?.() ?? '') },
    // Without ProxyJump all versions of OpenSSH agree.
    ...(jump === '' && { C: createHash('sha1').update(`${local}${hostName}${port}${user}`).digest('hex') }),
  };
}

/**
 * Expands `%h` and alike, and `${NAME}`. An unknown one is an error, since it would name another file than OpenSSH uses.
 * Throws SSH_CONFIG_INVALID.
 */
export function expand({ value, at }: Placed, tokens: Tokens, environment: Environment): string {
  return value.replace(/%(.?)|\$\{([^}]*)(\}?)/gs, (whole, letter?: string, name?: string, brace?: string) => {
    if (name === undefined) return letter === '%' ? '%' : tokenOf(letter ?? '', tokens, whole, at);
    if (brace === '') throw invalid(at, `'${whole}' has no closing brace`);
    const known = Object.hasOwn(environment, name) ? environment[name] : undefined;
    if (known === undefined) throw invalid(at, `the environment variable ${name} is not set`);
    return known;
  });
}

function tokenOf(letter: string, tokens: Tokens, whole: string, at: string): string {
  const known = Object.hasOwn(tokens, letter) ? tokens[letter] : undefined;
  if (known === undefined) throw invalid(at, `unknown token '${whole}'`);
  return known;
}

/** Resolves `~` and relative paths against the home directory; OpenSSH resolves the latter against its working directory. */
export function inHome(path: string, homeDir: string): string {
  if (path === '~') return homeDir;
  if (path.startsWith('~/')) return `${homeDir}/${path.slice(2)}`;
  return path.startsWith('/') ? path : `${homeDir}/${path}`;
}
