import { isRecord } from '../../json/index.ts';
import { type Cleaned, withoutForms } from './secret-forms.ts';
import { isSecretName, MARK, secretValues } from './secret-names.ts';

export interface Redacted<T> {
  readonly value: T;
  /** Passages that were replaced. */
  readonly count: number;
}

/** Shorter ones would be found in any text; up to `MAX_SHORT` they count as a word of their own only. */
const MIN_KNOWN = 4;
const MAX_SHORT = 5;

/**
 * Replaces what may be a secret: first the known ones in any form (see `knownSecrets`), then the forms of secrets, then the
 * values that a text or an object gives to the name of a secret.
 */
export function createRedactor(known: readonly string[]) {
  const secrets = new Set(
    known
      .flatMap((secret) => [secret, ...secret.split(/\r?\n/)].map((part) => part.trim()))
      .filter((part) => part.length >= MIN_KNOWN && !isFrame(part)),
  );
  // The longest first, since one may be a part of another.
  const all = [...new Set([...secrets].filter(({ length }) => length > MAX_SHORT).flatMap(formsOf))].sort(
    (a, b) => b.length - a.length,
  );
  const short = [...secrets].filter(({ length }) => length <= MAX_SHORT).map(asWord);

  function text(given: string): Cleaned {
    let value = given;
    let count = 0;
    const replaced = (parts: readonly string[]) => {
      count += parts.length - 1;
      value = parts.join(MARK);
    };
    for (const secret of all) if (value.includes(secret)) replaced(value.split(secret));
    for (const secret of short) replaced(value.split(secret));
    const rest = withoutForms(value);
    return { value: rest.value, count: count + rest.count };
  }

  /** A text with named values, such as a site file. */
  function document(given: string): Cleaned {
    const first = text(given);
    let { count } = first;
    let value = '';
    let at = 0;
    for (const { start, end } of secretValues(first.value)) {
      if (first.value.slice(start, end) !== MARK) count += 1;
      value += first.value.slice(at, start) + MARK;
      at = end;
    }
    return { value: value + first.value.slice(at), count };
  }

  function data(given: unknown): Redacted<unknown> {
    let count = 0;
    const counted = (found: Cleaned) => {
      count += found.count;
      return found.value;
    };
    const walk = (value: unknown, isSecret: boolean): unknown => {
      if (typeof value === 'string' || typeof value === 'number') {
        if (value !== '' && (isSecret || (typeof value === 'number' && secrets.has(String(value))))) {
          count += 1;
          return MARK;
        }
        return typeof value === 'string' ? counted(document(value)) : value;
      }
      // Of a list of words, such as the arguments of a program or raw headers, each may name the next.
      if (Array.isArray(value)) return value.map((one, at) => walk(one, isSecret || namesSecret(value[at - 1])));
      return isRecord(value) ? record(value, isSecret) : value;
    };
    const record = (value: Record<string, unknown>, isSecret: boolean) => {
      const names = new Set<string>();
      const namesValue = [value.name, value.key, value.header, value.field].some(namesSecret);
      const entries = Object.entries(value).map(([given, inner]) => {
        const name = unused(counted(document(given)), names);
        return [
          name,
          walk(inner, isSecret || (given === 'value' && namesValue) || (isSecretName(given) && !isFault(given, value))),
        ];
      });
      return Object.fromEntries(entries);
    };
    return { value: walk(given, false), count };
  }

  return { document, data };
}

/** Without its first line another block of a key would not be found. */
const isFrame = (line: string) => /^-----[A-Z ]+-----$/.test(line);

const namesSecret = (value: unknown) => typeof value === 'string' && value.length <= MAX_NAME && isSecretName(value);
const MAX_NAME = 64;

/** The key of a fault in the cloud names the fault. */
const isFault = (name: string, value: Record<string, unknown>) => name === 'key' && 'faultId' in value;

/** Two names that were replaced stay two. */
function unused(name: string, names: Set<string>): string {
  let free = name;
  for (let number = 2; names.has(free); number += 1) free = `${name} ${number}`;
  names.add(free);
  return free;
}

/** As it stands, in JSON, in YAML, in a URL, in hexadecimal, and in base64 at each place that it may have in a longer text. */
function formsOf(secret: string): string[] {
  const bytes = Buffer.from(secret);
  const hex = bytes.toString('hex');
  const encoded = encodeURIComponent(secret.toWellFormed());
  const lengthened = [0, 1, 2].map((before) => {
    const base64 = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64');
    // Characters that hold bits of what stands before or behind.
    return base64.slice(before === 0 ? 0 : before + 1, Math.floor(((before + bytes.length) * 8) / 6));
  });
  return [
    ...[secret, secret.normalize('NFC'), secret.normalize('NFD'), JSON.stringify(secret).slice(1, -1)],
    ...[
      secret.replaceAll("'", "''"),
      encoded,
      encoded.replaceAll('%20', '+'),
      encoded.replace(/%../g, (code) => code.toLowerCase()),
    ],
    ...[hex, hex.toUpperCase(), bytes.toString('base64'), bytes.toString('base64').replace(/=+$/, '')],
    ...[...lengthened, ...lengthened.map((form) => form.replaceAll('+', '-').replaceAll('/', '_'))],
  ].filter(({ length }) => length > MAX_SHORT);
}

const asWord = (secret: string) =>
  new RegExp(`(?<![\\p{L}\\p{N}])${secret.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')}(?![\\p{L}\\p{N}])`, 'gu');
