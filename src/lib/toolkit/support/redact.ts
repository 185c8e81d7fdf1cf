import { isRecord } from '../../json/index.ts';

const MARK = '[redacted]';

/** Names of values that are secrets; a name that ends in File, Configured or the like is only a place or a state. */
const SECRET_KEY =
  /(?:password|passwd|passphrase|secret|token|private[-_]?key|authorization|cookie|api[-_]?key|credentials?|one[-_]?time[-_]?code|enrol(?:ment)?[-_]?code)$/i;

/** Forms that a secret has wherever it stands; an unfinished block of a key counts to the end of the text. */
const PATTERNS: readonly (readonly [pattern: RegExp, replacement: string])[] = [
  [/-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z0-9 ]*PRIVATE KEY-----|$)/g, MARK],
  [/\b(Bearer|Basic)\s+[\w.~+/=-]{6,}/gi, `$1 ${MARK}`],
  [/\beyJ[\w-]{6,}\.[\w-]{6,}(?:\.[\w-]*)?/g, MARK],
  [/\bscrypt[$:][^\s"']+/g, MARK],
  [/([a-z][a-z0-9+.-]*:\/\/)[^\s/@"']+@/gi, `$1${MARK}@`],
  // A query of a pre-signed URL is a secret.
  [/([a-z][a-z0-9+.-]*:\/\/[^\s?#"']*)[?#][^\s"']+/gi, `$1?${MARK}`],
  [/\b(AKIA|ASIA)[A-Z0-9]{12,}/g, MARK],
  // Longer than any checksum in hexadecimal.
  [/(?<![\w+/=-])[\w+/-]{86,}={0,2}(?![\w+/=-])/g, MARK],
];

/** `name: value` and `name=value` in a text, quoted or not; to the end of the line, since a secret may hold spaces. */
const ASSIGNED =
  /(^|[\s,;{"'&])(["']?[\w.-]*(?:password|passwd|passphrase|secret|token|private[-_]?key|authorization|cookie|api[-_]?key|credentials?|enrol(?:ment)?[-_]?code)["']?\s*[:=]\s*)(?!\[redacted\])(?=\S)[^\n]+/gim;

const MIN_KNOWN = 6;

export interface Redacted<T> {
  readonly value: T;
  /** Passages that were replaced. */
  readonly count: number;
}

/** Replaces what may be a secret. `known`: contents of the secret files of this robot, which never pass in any form. */
export function createRedactor(known: readonly string[]) {
  const forms = new Set(
    known.flatMap((secret) =>
      [secret, ...secret.split(/\r?\n/)].map((part) => part.trim()).filter((part) => part.length >= MIN_KNOWN),
    ),
  );
  // The longest first, since one may be a part of another.
  const all = [...new Set([...forms].flatMap(formsOf))].sort((a, b) => b.length - a.length);

  function text(given: string): Redacted<string> {
    let value = given;
    let count = 0;
    for (const secret of all) {
      const parts = value.split(secret);
      count += parts.length - 1;
      value = parts.join(MARK);
    }
    for (const [pattern, replacement] of PATTERNS) {
      value = value.replace(pattern, (...found) => {
        count += 1;
        return replacement.replace('$1', String(found[1]));
      });
    }
    return { value, count };
  }

  /** Lines of a text with named values, such as a site file. */
  function document(given: string): Redacted<string> {
    const first = text(given);
    let { count } = first;
    const value = first.value.replace(ASSIGNED, (_all, before: string, name: string) => {
      count += 1;
      return `${before}${name}${MARK}`;
    });
    return { value, count };
  }

  function data(given: unknown): Redacted<unknown> {
    let count = 0;
    const walk = (value: unknown, key: string): unknown => {
      if (typeof value === 'string' || typeof value === 'number') {
        if (SECRET_KEY.test(key) && value !== '') {
          count += 1;
          return MARK;
        }
        if (typeof value === 'number') return value;
        const found = document(value);
        count += found.count;
        return found.value;
      }
      if (Array.isArray(value)) return value.map((one) => walk(one, key));
      if (!isRecord(value)) return value;
      const entries = Object.entries(value).map(([name, inner]) => {
        const named = text(name);
        count += named.count;
        return [named.value, walk(inner, name)];
      });
      return Object.fromEntries(entries);
    };
    return { value: walk(given, ''), count };
  }

  return { document, data };
}

/** As it stands, in JSON, in a URL, and in base64. */
function formsOf(secret: string): string[] {
  const base64 = Buffer.from(secret).toString('base64');
  return [
    secret,
    JSON.stringify(secret).slice(1, -1),
    encodeURIComponent(secret.toWellFormed()),
    base64,
    base64.replace(/=+$/, ''),
  ];
}
