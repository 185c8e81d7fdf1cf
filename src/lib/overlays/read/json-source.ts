/**
 * JSON by its source text. Parsed values lose the notation of numbers (1 or 1.0), the last digits of large whole numbers
 * and the first of two equal keys; where two texts must be compared exactly, the source is compared. All texts here have
 * been accepted by JSON.parse before.
 */

/** A part of a text. */
export interface Span {
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

/** `levels`: nesting depth of objects and arrays; 0 for any other value. */
interface MeasuredSpan extends Span {
  readonly levels: number;
}

export type JsonKind = 'object' | 'array' | 'text' | 'number' | 'boolean' | 'null';

/** An object, one level deep. */
export interface Members {
  readonly whole: Span;
  /** Of duplicate keys the last one, as in JSON.parse. */
  readonly members: ReadonlyMap<string, Span>;
  /** A duplicate key; null when there is none. */
  readonly duplicateKey: string | null;
}

/** Called for every pair of equal numbers in different notation. */
export type OnNotation = (path: readonly (string | number)[], from: Span, to: Span) => void;

const char = {
  quote: 0x22,
  comma: 0x2c,
  minus: 0x2d,
  zero: 0x30,
  nine: 0x39,
  colon: 0x3a,
  bracketOpen: 0x5b,
  backslash: 0x5c,
  bracketClose: 0x5d,
  n: 0x6e,
  braceOpen: 0x7b,
  braceClose: 0x7d,
};

const MAX_DEPTH = 200;

/** A text as a whole, without the byte order mark and the whitespace around it. */
export function spanOf(text: string): Span {
  const start = afterSpace(text, text.charCodeAt(0) === 0xfeff ? 1 : 0);
  let end = text.length;
  while (end > start && isSpace(text.charCodeAt(end - 1))) end -= 1;
  return { text, start, end };
}

export function kindOf({ text, start }: Span): JsonKind {
  const code = text.charCodeAt(start);
  if (code === char.braceOpen) return 'object';
  if (code === char.bracketOpen) return 'array';
  if (code === char.quote) return 'text';
  if (code === char.n) return 'null';
  return code === char.minus || (code >= char.zero && code <= char.nine) ? 'number' : 'boolean';
}

/** null when it is not an object. */
export function membersOf(whole: Span): Members | null {
  if (kindOf(whole) !== 'object') return null;
  const { text } = whole;
  const members = new Map<string, Span>();
  let duplicateKey: string | null = null;
  eachMember(text, whole.start, (key, start) => {
    const end = endOfValue(text, start);
    if (members.has(key)) duplicateKey = key;
    members.set(key, { text, start, end });
    return end;
  });
  return { whole, members, duplicateKey };
}

/** Empty when it is not an array. */
export function itemsOf(span: Span | undefined): Span[] {
  const items: Span[] = [];
  if (span === undefined || kindOf(span) !== 'array') return items;
  const { text } = span;
  eachItem(text, span.start, (start) => {
    const end = endOfValue(text, start);
    items.push({ text, start, end });
    return end;
  });
  return items;
}

/**
 * The items of the array that a text is, or that an object has under a key (of duplicate keys the last one), and the
 * maximum nesting depth of the text. Scans the text once.
 */
export function listIn(text: string, key: string | null): { readonly items: readonly Span[]; readonly levels: number } {
  let items: Span[] = [];
  let levels = 0;
  const measure = (at: number, around: number): Span => {
    const span = valueAt(text, at);
    levels = Math.max(levels, span.levels + around);
    return span;
  };
  const list = (start: number, around: number): number => {
    items = [];
    return eachItem(text, start, (at) => {
      const item = measure(at, around + 1);
      items.push(item);
      return item.end;
    });
  };
  const { start } = spanOf(text);
  if (key === null) list(start, 0);
  else {
    eachMember(text, start, (name, at) =>
      name === key && text.charCodeAt(at) === char.bracketOpen ? list(at, 1) : measure(at, 1).end,
    );
  }
  return { items, levels };
}

export function jsonOf(span: Span): string {
  return span.text.slice(span.start, span.end);
}

/** Whether both have the same tokens, character by character, whatever the whitespace between them. */
export function sameTokens(a: Span, b: Span): boolean {
  if (a.end - a.start === b.end - b.start && jsonOf(a) === jsonOf(b)) return true;
  let i = a.start;
  let j = b.start;
  let inText = false;
  while (true) {
    if (!inText) {
      i = afterSpace(a.text, i);
      j = afterSpace(b.text, j);
    }
    if (i >= a.end || j >= b.end) return i >= a.end && j >= b.end;
    const code = a.text.charCodeAt(i);
    if (code !== b.text.charCodeAt(j)) return false;
    if (code === char.quote) inText = !inText;
    else if (code === char.backslash) {
      i += 1;
      j += 1;
      if (a.text.charCodeAt(i) !== b.text.charCodeAt(j)) return false;
    }
    i += 1;
    j += 1;
  }
}

/** Whether two values are the same in type and content. The order of keys does not count. */
export function sameValues(a: Span, b: Span, onNotation: OnNotation, path: readonly (string | number)[] = []): boolean {
  if (sameTokens(a, b)) return true;
  const kind = kindOf(a);
  // Deeper values are compared as text only.
  if (kind !== kindOf(b) || path.length > MAX_DEPTH) return false;
  if (kind === 'array') {
    const [ours, theirs] = [itemsOf(a), itemsOf(b)];
    return (
      ours.length === theirs.length &&
      ours.every((item, at) => sameValues(item, theirs[at] as Span, onNotation, [...path, at]))
    );
  }
  const [ours, theirs] = [membersOf(a), membersOf(b)];
  if (ours && theirs) {
    if (ours.duplicateKey !== null || theirs.duplicateKey !== null) return false;
    return (
      ours.members.size === theirs.members.size &&
      [...ours.members].every(([key, member]) => {
        const other = theirs.members.get(key);
        return other !== undefined && sameValues(member, other, onNotation, [...path, key]);
      })
    );
  }
  const [from, to] = [jsonOf(a), jsonOf(b)];
  if (kind === 'text') return JSON.parse(from) === JSON.parse(to);
  if (kind !== 'number' || !isSameNumber(from, to)) return false;
  onNotation(path, a, b);
  return true;
}

/**
 * Equal as numbers. Integers above 2^53 and numbers out of range are compared digit by digit, since parsing loses digits
 * in which ids differ.
 */
export function isSameNumber(from: string, to: string): boolean {
  const value = Number(from);
  if (value !== Number(to)) return false;
  if (!Number.isFinite(value)) return exactDecimal(from) === exactDecimal(to);
  if (Math.abs(value) <= Number.MAX_SAFE_INTEGER || !(isInteger(from) || isInteger(to))) return true;
  return exactDecimal(from) === exactDecimal(to);
}

function isInteger(json: string): boolean {
  return /^-?\d+$/.test(json);
}

/** Sign, digits without leading and trailing zeros, and the power of ten of the last digit. */
function exactDecimal(json: string): string {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(json) ?? [];
  const digits = `${whole}${fraction}`.replace(/^0+/, '');
  const short = digits.replace(/0+$/, '');
  return `${sign}${short}e${BigInt(exponent) - BigInt(fraction.length) + BigInt(digits.length - short.length)}`;
}

/** Calls `visit` with the start of each item; `visit` returns its end. Returns the end of the array. */
function eachItem(text: string, start: number, visit: (at: number) => number): number {
  let at = afterSpace(text, start + 1);
  while (at < text.length && text.charCodeAt(at) !== char.bracketClose) {
    at = afterSpace(text, visit(at));
    if (text.charCodeAt(at) === char.comma) at = afterSpace(text, at + 1);
  }
  return at + 1;
}

function eachMember(text: string, start: number, visit: (key: string, at: number) => number): number {
  let at = afterSpace(text, start + 1);
  while (at < text.length && text.charCodeAt(at) !== char.braceClose) {
    const keyEnd = endOfString(text, at);
    const key = keyOf(text, at, keyEnd);
    const colon = afterSpace(text, keyEnd);
    at = afterSpace(text, visit(key, afterSpace(text, colon + 1)));
    if (text.charCodeAt(at) === char.comma) at = afterSpace(text, at + 1);
  }
  return at + 1;
}

function keyOf(text: string, start: number, end: number): string {
  const plain = text.slice(start + 1, end - 1);
  return plain.includes('\\') ? String(JSON.parse(text.slice(start, end))) : plain;
}

function afterSpace(text: string, start: number): number {
  let at = start;
  while (at < text.length) {
    if (!isSpace(text.charCodeAt(at))) break;
    at += 1;
  }
  return at;
}

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;
}

function endOfString(text: string, start: number): number {
  let end = start;
  do end = text.indexOf('"', end + 1);
  while (end !== -1 && isEscaped(text, end));
  return end === -1 ? text.length : end + 1;
}

/** Whether an odd number of backslashes precedes it. */
function isEscaped(text: string, at: number): boolean {
  let first = at;
  while (text.charCodeAt(first - 1) === char.backslash) first -= 1;
  return (at - first) % 2 === 1;
}

function endOfValue(text: string, start: number): number {
  return valueAt(text, start).end;
}

/** The value that begins here. Counts brackets without recursion, so that any depth is safe. */
function valueAt(text: string, start: number): MeasuredSpan {
  const first = text.charCodeAt(start);
  if (first === char.quote) return { text, start, end: endOfString(text, start), levels: 0 };
  let at = start;
  if (first !== char.braceOpen && first !== char.bracketOpen) {
    while (at < text.length && !isEndOfWord(text.charCodeAt(at))) at += 1;
    return { text, start, end: at, levels: 0 };
  }
  let depth = 0;
  let levels = 0;
  while (at < text.length) {
    const code = text.charCodeAt(at);
    if (code === char.quote) {
      at = endOfString(text, at);
      continue;
    }
    at += 1;
    if (code === char.braceOpen || code === char.bracketOpen) {
      depth += 1;
      if (depth > levels) levels = depth;
    } else if (code === char.braceClose || code === char.bracketClose) {
      depth -= 1;
      if (depth === 0) break;
    }
  }
  return { text, start, end: at, levels };
}

function isEndOfWord(code: number): boolean {
  return code <= 0x20 || code === char.comma || code === char.bracketClose || code === char.braceClose;
}
