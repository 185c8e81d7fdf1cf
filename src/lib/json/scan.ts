/** Limits of external JSON, checked before it is parsed. */
export interface JsonBounds {
  /** Max. nesting of objects and lists. */
  readonly maxDepth: number;
  /** Max. number of values: objects, lists, strings, numbers and literals. */
  readonly maxValues: number;
}

export type ScanFinding = 'sound' | 'not-json' | 'too-deep' | 'too-many';

/** A member of the outermost object; offsets count from the first byte that the scanner was given. */
export interface TopMember {
  /** The key with its quotes, as in the source. */
  readonly key: readonly [from: number, to: number];
  readonly value: readonly [from: number, to: number];
}

export interface JsonScanner {
  /** Scans the next bytes. false once the finding is final. */
  push(bytes: Uint8Array, from?: number, to?: number): boolean;
  /** After the last byte. */
  end(): ScanFinding;
}

const state = {
  value: 0,
  valueOrEnd: 1,
  keyOrEnd: 2,
  key: 3,
  colon: 4,
  after: 5,
  text: 6,
  escape: 7,
  hex: 8,
  utf8: 9,
  word: 10,
  minus: 11,
  zero: 12,
  integer: 13,
  point: 14,
  fraction: 15,
  exponent: 16,
  exponentSign: 17,
  exponentDigits: 18,
} as const;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const words = ['true', 'false', 'null'].map((word) => Buffer.from(word));

/** Members beyond this number are not reported by `onMember`. */
const MAX_MEMBERS = 1_000;

/**
 * Checks whether bytes are JSON without allocating values; the bytes may arrive in chunks that end anywhere. It accepts
 * exactly what `JSON.parse` accepts of bytes that are UTF-8 without a byte order mark
 * (property test), within the bounds.
 */
export function createJsonScanner(bounds: JsonBounds, onMember?: (member: TopMember) => void): JsonScanner {
  const { maxDepth, maxValues } = bounds;
  /** By level, from 1: whether it is an object. */
  const isObject = new Uint8Array(maxDepth + 1);
  let depth = 0;
  let values = 0;
  let at: number = state.value;
  let found: ScanFinding = 'sound';
  /** Bytes of earlier pieces. */
  let before = 0;

  let isKey = false;
  let word: Uint8Array = words[0] as Uint8Array;
  let wordAt = 0;
  let hexLeft = 0;
  let utf8Left = 0;
  let utf8Low = 0x80;
  let utf8High = 0xbf;

  let members = 0;
  let keyFrom = 0;
  let keyTo = 0;
  let valueFrom = 0;

  function fail(finding: ScanFinding): false {
    found = finding;
    return false;
  }

  function afterValue(end: number): void {
    at = state.after;
    if (depth === 1 && onMember !== undefined && isObject[1] === 1 && members < MAX_MEMBERS) {
      members += 1;
      onMember({ key: [keyFrom, keyTo], value: [valueFrom, end] });
    }
  }

  function afterText(end: number): void {
    if (!isKey) afterValue(end);
    else {
      at = state.colon;
      if (depth === 1) keyTo = end;
    }
  }

  /** A byte that begins a value; false when it cannot. */
  function begin(byte: number, position: number): boolean {
    values += 1;
    if (values > maxValues) return fail('too-many');
    if (depth === 1) valueFrom = position;
    switch (byte) {
      case QUOTE:
        isKey = false;
        at = state.text;
        return true;
      case 0x7b:
      case 0x5b:
        if (depth === maxDepth) return fail('too-deep');
        depth += 1;
        isObject[depth] = byte === 0x7b ? 1 : 0;
        at = byte === 0x7b ? state.keyOrEnd : state.valueOrEnd;
        return true;
      case 0x2d:
        at = state.minus;
        return true;
      case 0x30:
        at = state.zero;
        return true;
      case 0x74:
        return beginWord(0);
      case 0x66:
        return beginWord(1);
      case 0x6e:
        return beginWord(2);
      default:
        if (byte < 0x31 || byte > 0x39) return fail('not-json');
        at = state.integer;
        return true;
    }
  }

  function beginWord(which: number): boolean {
    word = words[which] as Uint8Array;
    wordAt = 1;
    at = state.word;
    return true;
  }

  function close(position: number): void {
    depth -= 1;
    afterValue(position + 1);
  }

  /** The first byte of a character of several bytes (RFC 3629: shortest form, no surrogates, at most U+10FFFF). */
  function beginUtf8(byte: number): boolean {
    utf8Low = 0x80;
    utf8High = 0xbf;
    if (byte >= 0xc2 && byte <= 0xdf) utf8Left = 1;
    else if (byte >= 0xe0 && byte <= 0xef) {
      utf8Left = 2;
      if (byte === 0xe0) utf8Low = 0xa0;
      else if (byte === 0xed) utf8High = 0x9f;
    } else if (byte >= 0xf0 && byte <= 0xf4) {
      utf8Left = 3;
      if (byte === 0xf0) utf8Low = 0x90;
      else if (byte === 0xf4) utf8High = 0x8f;
    } else return fail('not-json');
    at = state.utf8;
    return true;
  }

  function scan(bytes: Uint8Array, from: number, to: number): boolean {
    let i = from;
    while (i < to) {
      const byte = bytes[i] as number;
      switch (at) {
        case state.text: {
          let plain = byte;
          while (plain !== QUOTE && plain !== BACKSLASH && plain >= 0x20 && plain < 0x80) {
            i += 1;
            if (i === to) return true;
            plain = bytes[i] as number;
          }
          if (plain === QUOTE) afterText(before + i - from + 1);
          else if (plain === BACKSLASH) at = state.escape;
          else if (plain < 0x20) return fail('not-json');
          else if (!beginUtf8(plain)) return false;
          break;
        }
        case state.utf8:
          if (byte < utf8Low || byte > utf8High) return fail('not-json');
          utf8Low = 0x80;
          utf8High = 0xbf;
          utf8Left -= 1;
          if (utf8Left === 0) at = state.text;
          break;
        case state.escape:
          if (byte === 0x75) {
            hexLeft = 4;
            at = state.hex;
          } else if (isEscape(byte)) at = state.text;
          else return fail('not-json');
          break;
        case state.hex:
          if (!isHex(byte)) return fail('not-json');
          hexLeft -= 1;
          if (hexLeft === 0) at = state.text;
          break;
        case state.value:
          if (!isSpace(byte) && !begin(byte, before + i - from)) return false;
          break;
        case state.valueOrEnd:
          if (isSpace(byte)) break;
          if (byte === 0x5d) close(before + i - from);
          else if (!begin(byte, before + i - from)) return false;
          break;
        case state.keyOrEnd:
        case state.key:
          if (isSpace(byte)) break;
          if (byte === QUOTE) {
            isKey = true;
            if (depth === 1) keyFrom = before + i - from;
            at = state.text;
          } else if (byte === 0x7d && at === state.keyOrEnd) close(before + i - from);
          else return fail('not-json');
          break;
        case state.colon:
          if (isSpace(byte)) break;
          if (byte !== 0x3a) return fail('not-json');
          at = state.value;
          break;
        case state.after:
          if (isSpace(byte)) break;
          if (depth === 0) return fail('not-json');
          if (byte === 0x2c) at = isObject[depth] === 1 ? state.key : state.value;
          else if (byte === (isObject[depth] === 1 ? 0x7d : 0x5d)) close(before + i - from);
          else return fail('not-json');
          break;
        case state.word:
          if (byte !== word[wordAt]) return fail('not-json');
          wordAt += 1;
          if (wordAt === word.length) afterValue(before + i - from + 1);
          break;
        default: {
          const next = inNumber(at, byte);
          if (next === NUMBER_WRONG) return fail('not-json');
          if (next === NUMBER_OVER) {
            afterValue(before + i - from);
            // The byte belongs to what follows the number.
            continue;
          }
          at = next;
        }
      }
      i += 1;
    }
    return true;
  }

  return {
    push(bytes, from = 0, to = bytes.length) {
      if (found !== 'sound') return false;
      const goesOn = scan(bytes, from, to);
      before += to - from;
      return goesOn;
    },
    end() {
      if (found !== 'sound') return found;
      const isOver = at === state.after || canEndNumber(at);
      return isOver && depth === 0 ? 'sound' : 'not-json';
    },
  };
}

const NUMBER_WRONG = -1;
const NUMBER_OVER = -2;

/** State of the number scanner after this byte. */
function inNumber(at: number, byte: number): number {
  const isDigit = byte >= 0x30 && byte <= 0x39;
  switch (at) {
    case state.minus:
      return byte === 0x30 ? state.zero : isDigit ? state.integer : NUMBER_WRONG;
    case state.zero:
    case state.integer:
      if (isDigit) return at === state.integer ? state.integer : NUMBER_WRONG;
      if (byte === 0x2e) return state.point;
      return isE(byte) ? state.exponent : NUMBER_OVER;
    case state.point:
      return isDigit ? state.fraction : NUMBER_WRONG;
    case state.fraction:
      if (isDigit) return state.fraction;
      return isE(byte) ? state.exponent : NUMBER_OVER;
    case state.exponent:
      if (isDigit) return state.exponentDigits;
      return byte === 0x2b || byte === 0x2d ? state.exponentSign : NUMBER_WRONG;
    case state.exponentSign:
      return isDigit ? state.exponentDigits : NUMBER_WRONG;
    default:
      return isDigit ? state.exponentDigits : NUMBER_OVER;
  }
}

function canEndNumber(at: number): boolean {
  return at === state.zero || at === state.integer || at === state.fraction || at === state.exponentDigits;
}

function isE(byte: number): boolean {
  return byte === 0x65 || byte === 0x45;
}

function isSpace(byte: number): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

/** What may follow a backslash, but for `u`: `"`, `\`, `/`, b, f, n, r, t. */
function isEscape(byte: number): boolean {
  return (
    byte === QUOTE ||
    byte === BACKSLASH ||
    byte === 0x2f ||
    byte === 0x62 ||
    byte === 0x66 ||
    byte === 0x6e ||
    byte === 0x72 ||
    byte === 0x74
  );
}

function isHex(byte: number): boolean {
  return (byte >= 0x30 && byte <= 0x39) || (byte >= 0x41 && byte <= 0x46) || (byte >= 0x61 && byte <= 0x66);
}
