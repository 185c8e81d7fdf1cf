import { isUtf8 } from 'node:buffer';
import { seededRandom } from '../../bench/figures.ts';

/** What mutated inputs of one parser are made of. */
export interface Corpus {
  /** Inputs as they occur: made by the codecs, by the programs that write them, or files of the project. */
  readonly samples: readonly (Uint8Array | string)[];
  /** Words of the format that are inserted. */
  readonly words?: readonly string[];
  /** Of an input; above the limit of the parser itself where that is small enough to try. */
  readonly maxBytes: number;
  /** Makes checksums and lengths fit again, for half of the inputs. */
  readonly repair?: (bytes: Buffer) => Buffer;
}

const everywhere = [
  ...'0 -1 1e999 -0 0.5 9007199254740993 4294967296 2147483648 65536 NaN null true __proto__ constructor a'.split(' '),
  ...'\n|\r|\r\n| |\t|\0|\u001b[2J|\u007f|\u0085|\u2028|\u202e|\ufeff|ä|😀|İ|\\|\\u0000|\\ud800'.split('|'),
  ...`"'\`[]{}()<:,./%*#=|!@&$-~;?`.split(''),
  ...['', '..', '[]', '{}', '""'],
].map((word) => Buffer.from(word));
/** Bytes that are no UTF-8, and integers at the limits of their size, in both byte orders. */
const binary =
  'ff c0 eda080 f8 00 80 7f ffff 0000 7fffffff 80000000 ffffffff ffffff7f 8080808001 00000080 01000000 00000001'
    .split(' ')
    .map((digits) => Buffer.from(digits, 'hex'));
/** What opens a level, and what closes it. */
const nesting = '[ ]|{"a": }|{a:  }|( )|" "|"\\" \\""|- |? |[['.split('|').map((pair) => pair.split(/ (?=\S)/));

/** One of so many inputs holds a part of a sample very often, or very deeply nested. */
const ONE_IN_LARGE = 512;
const ONE_IN_UNCHANGED = 64;
const MAX_PIECES = 256;

/** Returns the input of any index, the same for the same seed. */
export function createMutator({ samples, words = [], maxBytes, repair }: Corpus, seed: number) {
  const all = samples.map((sample) => piecesOf(Buffer.from(sample as string)));
  const own = words.map((word) => Buffer.from(word));

  return (index: number): Buffer => {
    const random = seededRandom(Math.imul(seed, 0x9e3779b1) ^ Math.imul(index, 0x85ebca6b));
    const below = (limit: number) => Math.floor(random() * limit);
    const pick = <T>(list: readonly T[]): T => list[below(list.length)] as T;
    const anyWord = () => pick(own.length > 0 && below(2) === 0 ? own : below(4) === 0 ? binary : everywhere);
    const pieces = [...pick(all)];
    if (index % ONE_IN_UNCHANGED !== 0) {
      for (let left = 1 + below(2) * below(6); left > 0; left -= 1) change();
    }
    if (index % ONE_IN_LARGE === 1) enlarge();
    const whole = Buffer.concat(pieces).subarray(0, maxBytes);
    return repair !== undefined && below(2) === 0 ? repair(whole) : whole;

    function change(): void {
      const at = below(pieces.length);
      switch (below(11)) {
        case 0:
          pieces.splice(at, 1 + below(3));
          break;
        case 1:
          pieces.splice(at, 0, pick(pieces));
          break;
        case 2:
          pieces[at] = pick(pick(all));
          break;
        case 3:
          pieces[at] = anyWord();
          break;
        case 4:
          pieces.splice(at, 0, anyWord());
          break;
        case 5: {
          const other = pick(all);
          pieces.splice(at, pieces.length, ...other.slice(below(other.length)));
          break;
        }
        case 6: {
          const piece = pieces[at] ?? Buffer.alloc(0);
          const inside = below(piece.length + 1);
          pieces.splice(at, 1, piece.subarray(0, inside), anyWord(), piece.subarray(inside));
          break;
        }
        case 7:
          if (below(4) === 0) pieces.length = at;
          else pieces.splice(at, 1, Buffer.from([below(256)]));
          break;
        default: {
          const changed = Buffer.from(pieces[at] ?? []);
          if (changed.length === 0) break;
          const byte = below(changed.length);
          changed[byte] = below(2) === 0 ? below(256) : (changed[byte] as number) ^ (1 << below(8));
          pieces[at] = changed;
        }
      }
      if (pieces.length === 0) pieces.push(anyWord());
    }

    function enlarge(): void {
      const at = below(pieces.length);
      const left = maxBytes - pieces.reduce((sum, piece) => sum + piece.length, 0);
      const parts = Math.max(16, Math.floor(left / 10 ** below(3)));
      if (below(2) === 0) {
        const [open = '', close = ''] = nesting[below(2) * below(nesting.length)] ?? [];
        const depth = Math.floor(parts / (open.length + close.length));
        pieces.splice(at, 0, Buffer.from(open.repeat(depth)));
        pieces.splice(at + 2, 0, Buffer.from(close.repeat(depth)));
      } else {
        const unit = below(3) === 0 ? anyWord() : Buffer.concat(pieces.slice(at, at + 1 + below(8)));
        if (unit.length > 0 && parts > unit.length)
          pieces.splice(at, 0, Buffer.alloc(parts - (parts % unit.length), unit));
      }
    }
  };
}

/** The words, numbers, texts and signs of a text; equal parts of anything else. */
function piecesOf(sample: Buffer): Buffer[] {
  if (isUtf8(sample) && !sample.includes(0)) {
    const found = sample.toString('latin1').match(/"(?:[^"\\\n]|\\.)*"|[\w+.-]+|\s+|./gs) ?? [''];
    return found.map((piece) => Buffer.from(piece, 'latin1'));
  }
  const size = Math.ceil(sample.length / MAX_PIECES);
  return Array.from({ length: Math.ceil(sample.length / size) }, (_, at) =>
    sample.subarray(at * size, (at + 1) * size),
  );
}
