/**
 * The part of the shell's grammar that `gw` and a person at `adb shell` use: words with quotes, `$?`, lists with `;`,
 * `&&` and `||`, comments, and the `</dev/null` of adb. A script with any other construct is refused as a whole.
 */

interface Step {
  /** Condition on the previous exit code. */
  readonly when: 'always' | 'and' | 'or';
  /** As written, with quotes. */
  readonly words: readonly string[];
  /** It contains the `</dev/null` that adb sends. */
  readonly isWithoutInput: boolean;
}

export type Parsed = { readonly steps: readonly Step[] } | { readonly problem: string };

const MAX_WORDS = 10_000;
const QUOTED = String.raw`'[^']*'|"(?:[^"\\]|\\[^])*"|\\[^]`;
const NO_INPUT = String.raw`<[ ]?/dev/null(?![^\s;&|])`;
/** Space and comments, an operator, the redirection of adb, or a word. */
const TOKEN = new RegExp(
  String.raw`(?<space>[ \t\r]+|\\\n|#.*)|(?<operator>&&|\|\||;|\n)|(?<noInput>${NO_INPUT})|(?<word>(?:${QUOTED}|[^\s;&|'"\\]+)+)`,
  'y',
);
const PIECE = new RegExp(`${QUOTED}|[^'"\\\\]+`, 'g');

class Unreadable extends Error {}

const notSimulated = (construct: string) => new Unreadable(`not simulated: '${construct}'; quote it if it is text`);

export function parseScript(script: string): Parsed {
  try {
    return { steps: stepsOf(script) };
  } catch (error) {
    if (error instanceof Unreadable) return { problem: error.message };
    throw error;
  }
}

function stepsOf(text: string): Step[] {
  const steps: Step[] = [];
  let words: string[] = [];
  let when: Step['when'] = 'always';
  let isWithoutInput = false;
  let wordCount = 0;
  const token = new RegExp(TOKEN);
  while (token.lastIndex < text.length) {
    const at = token.lastIndex;
    const { operator, noInput, word } = token.exec(text)?.groups ?? {};
    if (token.lastIndex === 0) {
      const char = text[at] ?? '';
      throw `'"`.includes(char) ? new Unreadable('syntax error: no closing quote') : notSimulated(char);
    }
    if (operator !== undefined) {
      if (words.length > 0) steps.push({ when, words, isWithoutInput });
      else if (operator === '\n') continue;
      else throw new Unreadable(`syntax error: unexpected '${operator}'`);
      when = operator === '&&' ? 'and' : operator === '||' ? 'or' : 'always';
      words = [];
      isWithoutInput = false;
    } else if (noInput !== undefined && words.length > 0) isWithoutInput = true;
    else if (noInput !== undefined || word !== undefined) {
      expandWord(noInput ?? word ?? '', 0);
      words.push(word ?? '');
      wordCount += 1;
      if (wordCount > MAX_WORDS) throw new Unreadable('syntax error: too long');
    }
  }
  if (words.length > 0) steps.push({ when, words, isWithoutInput });
  else if (when !== 'always') throw new Unreadable("syntax error: unexpected 'EOF'");
  return steps;
}

/** The word without its quotes, with `$?` replaced by the last exit code. */
export function expandWord(word: string, lastCode: number): string {
  return word.replace(PIECE, (piece, at: number) => {
    if (piece.startsWith("'")) return piece.slice(1, -1);
    if (piece.startsWith('\\')) return piece === '\\\n' ? '' : piece.slice(1);
    const isQuoted = piece.startsWith('"');
    const text = isQuoted ? piece.slice(1, -1) : piece;
    return text.replace(/\\(["\\$`\n])|\$\?|\$[\w({#$@*!-]|[`<>()*?[{]|^~/g, (found, escaped?: string) => {
      if (escaped !== undefined && isQuoted) return escaped === '\n' ? '' : escaped;
      if (found === '$?') return String(lastCode);
      const isText = isQuoted ? /^[<>()*?[{~]/.test(found) : found === '~' && at > 0;
      if (isText) return found;
      throw notSimulated(found);
    });
  });
}
