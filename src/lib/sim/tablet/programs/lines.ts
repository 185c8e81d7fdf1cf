import type { Input, Program } from '../process.ts';
import { readWhole } from '../process.ts';
import { eachOperand, readCount, type ToyProcess, toy } from '../toy.ts';

/** So much of the end of an endless input is kept; a file that comes in one piece is kept whole. */
const LONGEST_END = 4 * 1024 * 1024;
const LONGEST_SORT = 4 * 1024 * 1024;
const LINE_END = 10;
const TOO_LONG = 'too long for this simulated tablet';

/** Where so many line ends are over, or undefined where there are fewer. */
function afterLines(bytes: Uint8Array, lines: number): number | undefined {
  let at = 0;
  for (let count = 0; count < lines; count += 1) {
    const end = bytes.indexOf(LINE_END, at);
    if (end === -1) return undefined;
    at = end + 1;
  }
  return at;
}

const countLines = (bytes: Uint8Array) => bytes.reduce((sum, byte) => sum + Number(byte === LINE_END), 0);

/** How much of an end is wanted: in lines unless `-c` is given. */
interface Wanted {
  readonly count: number;
  readonly isBytes: boolean;
  /** Counted from the beginning: `tail -n +5`. */
  readonly isFrom: boolean;
}

function wantedOf({ options }: ToyProcess): Wanted | string {
  const text = options.get('c') ?? options.get('n') ?? '10';
  const isFrom = text.startsWith('+');
  const count = readCount(isFrom ? text.slice(1) : text);
  return count === undefined ? `not integer: ${text}` : { count, isBytes: options.has('c'), isFrom };
}

async function head(input: Input, { count, isBytes }: Wanted, out: ToyProcess['out']): Promise<void> {
  for (let missing = count; missing > 0; ) {
    const bytes = await input.read();
    if (bytes === undefined) return;
    const end = isBytes ? Math.min(missing, bytes.length) : (afterLines(bytes, missing) ?? bytes.length);
    const piece = bytes.subarray(0, end);
    missing -= isBytes ? piece.length : countLines(piece);
    if (!(await out(piece))) return;
  }
}

/** The end of an input. False where it is more than is kept. */
async function tail(input: Input, wanted: Wanted, out: ToyProcess['out']): Promise<boolean> {
  if (wanted.isFrom) return skip(input, wanted, out);
  const pieces: Buffer[] = [];
  let size = 0;
  let isCut = false;
  for (let bytes = await input.read(); bytes !== undefined; bytes = await input.read()) {
    pieces.push(bytes);
    size += bytes.length;
    while (pieces.length > 1 && size - (pieces[0]?.length ?? 0) >= LONGEST_END) {
      size -= pieces.shift()?.length ?? 0;
      isCut = true;
    }
  }
  const kept = Buffer.concat(pieces);
  if (wanted.isBytes) {
    if (isCut && wanted.count > kept.length) return false;
    await out(kept.subarray(Math.max(0, kept.length - wanted.count)));
    return true;
  }
  if (wanted.count === 0 || kept.length === 0) return true;
  // The end of the last line does not begin another one.
  let begin = kept.length - Number(kept.at(-1) === LINE_END);
  for (let count = 0; count < wanted.count && begin !== -1; count += 1) {
    begin = begin === 0 ? -1 : kept.lastIndexOf(LINE_END, begin - 1);
  }
  if (isCut && begin === -1) return false;
  await out(kept.subarray(begin + 1));
  return true;
}

async function skip(input: Input, { count, isBytes }: Wanted, out: ToyProcess['out']): Promise<boolean> {
  let missing = Math.max(0, count - 1);
  for (let bytes = await input.read(); bytes !== undefined; bytes = await input.read()) {
    const begin = isBytes ? Math.min(missing, bytes.length) : (afterLines(bytes, missing) ?? bytes.length);
    missing -= isBytes ? begin : countLines(bytes.subarray(0, begin));
    if (begin < bytes.length && !(await out(bytes.subarray(begin)))) return true;
  }
  return true;
}

/** `-5` and, for the end of a file, `+5` stand for `-n`. */
const modernCount = (sign: RegExp) => (words: readonly string[]) => {
  const [first = '', ...rest] = words;
  return sign.test(first) ? ['-n', first.replace(/^-/, ''), ...rest] : words;
};

function ends(name: string, sign: RegExp, usage: string): Program {
  return toy(name, {
    usage,
    flags: 'qv',
    valued: 'nc',
    modern: modernCount(sign),
    async run(process) {
      const wanted = wantedOf(process);
      if (typeof wanted === 'string') return process.fail(wanted);
      if (wanted.isFrom && name === 'head') return process.fail(`not integer: +${wanted.count}`);
      const { options, operands, out } = process;
      const isNamed = !options.has('q') && (options.has('v') || operands.length > 1);
      let problem = 0;
      const code = await eachOperand(process, async (input, path, index) => {
        if (isNamed) await out(`${index > 0 ? '\n' : ''}==> ${path === '-' ? 'standard input' : path} <==\n`);
        if (name === 'head') await head(input, wanted, out);
        else if (!(await tail(input, wanted, out))) problem = await process.fail(`${path}: ${TOO_LONG}`);
      });
      return code || problem;
    },
  });
}

/** Lines, words, bytes and characters, in the order in which they are shown. */
async function count(input: Input): Promise<readonly [number, number, number, number]> {
  let [lines, words, bytes, chars] = [0, 0, 0, 0];
  let isInWord = false;
  for (let piece = await input.read(); piece !== undefined; piece = await input.read()) {
    bytes += piece.length;
    for (const byte of piece) {
      if (byte === LINE_END) lines += 1;
      // Every byte of UTF-8 but those that go on with a character.
      if ((byte & 0xc0) !== 0x80) chars += 1;
      const isSpace = byte === 32 || (byte >= 9 && byte <= 13);
      if (!isSpace && !isInWord) words += 1;
      isInWord = !isSpace;
    }
  }
  return [lines, words, bytes, chars];
}

const wc = toy('wc', {
  usage: '[-lwcm] [FILE…]',
  flags: 'lwcm',
  async run(process) {
    const { options, operands, out } = process;
    const asked = [...'lwcm'].map((letter) => options.has(letter));
    const shown = asked.includes(true) ? asked : [true, true, true, false];
    const width = shown.filter(Boolean).length === 1 ? 0 : 7;
    const row = (counts: readonly number[], path: string) => {
      const numbers = counts.filter((_, index) => shown[index]).map((number) => String(number).padStart(width));
      return `${numbers.join(' ')}${path === '' ? '' : ` ${path}`}\n`;
    };
    const totals = [0, 0, 0, 0];
    const code = await eachOperand(process, async (input, path) => {
      const counts = await count(input);
      for (const [index, number] of counts.entries()) totals[index] = (totals[index] ?? 0) + number;
      await out(row(counts, operands.length === 0 ? '' : path));
    });
    if (operands.length > 1) await out(row(totals, 'total'));
    return code;
  },
});

const numberOf = (line: string) => Number.parseFloat(/^\s*(-?\d*\.?\d*)/.exec(line)?.[1] ?? '') || 0;

const sort = toy('sort', {
  usage: '[-bcfnru] [-o FILE] [FILE…]',
  flags: 'bcfnru',
  valued: 'o',
  async run(process) {
    const { options, files, out, fail } = process;
    const parts: Buffer[] = [];
    let isTooLong = false;
    const code = await eachOperand(process, async (input) => {
      const part = await readWhole(input, LONGEST_SORT);
      isTooLong ||= part === undefined;
      if (part && part.length > 0)
        parts.push(part.at(-1) === LINE_END ? part : Buffer.concat([part, Buffer.from('\n')]));
    });
    if (code !== 0) return code;
    const text = Buffer.concat(parts).toString('latin1');
    if (isTooLong || text.length > LONGEST_SORT) return fail(TOO_LONG);
    const lines = text === '' ? [] : text.slice(0, -1).split('\n');
    const direction = options.has('r') ? -1 : 1;
    const keyOf = (line: string) => {
      const bare = options.has('b') ? line.replace(/^\s+/, '') : line;
      return options.has('f') ? bare.replace(/[a-z]+/g, (letters) => letters.toUpperCase()) : bare;
    };
    const inOrder = (one: string, other: string) => Number(one > other) - Number(one < other);
    const byKey = (one: string, other: string) =>
      options.has('n') ? Math.sign(numberOf(one) - numberOf(other)) : inOrder(keyOf(one), keyOf(other));
    // Lines of one key stand in the order of their bytes, unless one of them stands for all.
    const compare = (one: string, other: string) =>
      direction * (byKey(one, other) || (options.has('u') ? 0 : inOrder(one, other)));
    if (options.has('c')) {
      const wrong = lines.findIndex((line, index) => {
        const before = index === 0 ? undefined : lines[index - 1];
        if (before === undefined) return false;
        const order = compare(before, line);
        return options.has('u') ? order >= 0 : order > 0;
      });
      return wrong === -1 ? 0 : fail(`${process.operands[0] ?? '-'}:${wrong + 1}: disorder`);
    }
    lines.sort(compare);
    const kept = options.has('u')
      ? lines.filter((line, index) => index === 0 || compare(lines[index - 1] ?? '', line) !== 0)
      : lines;
    const sorted = Buffer.from(kept.map((line) => `${line}\n`).join(''), 'latin1');
    const path = options.get('o');
    if (path === undefined) {
      await out(sorted);
      return 0;
    }
    const sink = process.device.storage.openSink();
    if (!sink.add(sorted)) {
      sink.drop();
      return fail(`${path}: No space left on device`);
    }
    const problem = files.write(path, sink.finish());
    return problem === undefined ? 0 : fail(`${path}: ${problem}`);
  },
});

/** The characters of a set: escapes, ranges, and classes by name. */
function setOf(text: string): string | undefined {
  const bytes = Array.from({ length: 256 }, (_, code) => String.fromCharCode(code));
  const classes: Readonly<Record<string, RegExp>> = {
    alpha: /[A-Za-z]/,
    digit: /\d/,
    alnum: /[A-Za-z\d]/,
    upper: /[A-Z]/,
    lower: /[a-z]/,
    space: /[\t-\r ]/,
    blank: /[\t ]/,
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this class is.
    cntrl: /[\0-\x1f\x7f]/,
    punct: /[!-/:-@[-`{-~]/,
  };
  const escapes: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', 0: '\0', '\\': '\\' };
  let set = '';
  for (let rest = text; rest !== ''; ) {
    const named = /^\[:(\w+):\]/.exec(rest);
    if (named) {
      const members = Object.hasOwn(classes, named[1] ?? '') ? classes[named[1] ?? ''] : undefined;
      if (!members) return undefined;
      set += bytes.filter((char) => members.test(char)).join('');
      rest = rest.slice(named[0].length);
      continue;
    }
    const range = /^([^\\])-([^\\])/s.exec(rest);
    if (range) {
      const [from, to] = [bytes.indexOf(range[1] ?? ''), bytes.indexOf(range[2] ?? '')];
      if (from === -1 || to < from) return undefined;
      set += bytes.slice(from, to + 1).join('');
      rest = rest.slice(3);
      continue;
    }
    const escaped = rest[0] === '\\' ? escapes[rest[1] ?? ''] : undefined;
    if (rest[0] === '\\' && escaped === undefined) return undefined;
    set += escaped ?? rest[0];
    rest = rest.slice(escaped === undefined ? 1 : 2);
  }
  return set;
}

const tr = toy('tr', {
  usage: '[-cds] SET1 [SET2]',
  flags: 'cds',
  least: 1,
  most: 2,
  async run({ operands, options, stdin, out, fail }) {
    // Bytes, as the tablet's own does it.
    const [first, second] = operands.map((text) => setOf(Buffer.from(text).toString('latin1')));
    if (first === undefined || (operands.length === 2 && second === undefined))
      return fail(`bad set '${operands.join("' '")}'`);
    const isDelete = options.has('d');
    if (!isDelete && !options.has('s') && second === undefined) return fail('Need 2 arguments (see "tr --help")');
    const isMeant = (char: string) => first.includes(char) !== options.has('c');
    const put = (char: string) => {
      if (second === undefined || second === '') return char;
      const at = options.has('c') ? second.length - 1 : first.lastIndexOf(char);
      return second[Math.min(at, second.length - 1)] ?? char;
    };
    const squeezed = second ?? first;
    let last = '';
    for (let piece = await stdin.read(); piece !== undefined; piece = await stdin.read()) {
      let text = '';
      for (const char of piece.toString('latin1')) {
        if (isMeant(char) && isDelete) continue;
        const now = isMeant(char) && !isDelete ? put(char) : char;
        const isAgain =
          options.has('s') && now === last && (second === undefined ? isMeant(now) : squeezed.includes(now));
        last = now;
        if (!isAgain) text += now;
      }
      if (text !== '' && !(await out(Buffer.from(text, 'latin1')))) break;
    }
    return 0;
  },
});

export const linePrograms: Readonly<Record<string, Program>> = {
  head: ends('head', /^-\d+$/, '[-n NUMBER] [-c NUMBER] [-qv] [FILE…]'),
  tail: ends('tail', /^[-+]\d+$/, '[-n [+]NUMBER] [-c [+]NUMBER] [-qv] [FILE…]'),
  wc,
  sort,
  tr,
};
