/**
 * The part of the shell's grammar that `gw` and a person at `adb shell` use: words with quotes, `$?`, lists with `;`,
 * `&&` and `||`, comments, and the `</dev/null` of adb. A script with any other construct is refused as a whole.
 */

/** Part of a word: text, or the exit code of the last command. */
type Piece = { readonly kind: 'text'; readonly text: string } | { readonly kind: 'last-code' };

export type Word = readonly Piece[];

interface Step {
  /** Condition on the previous exit code. */
  readonly when: 'always' | 'and' | 'or';
  readonly words: readonly Word[];
  /** It ends with `</dev/null`, as sent by adb. */
  readonly isWithoutInput: boolean;
}

export type Parsed = { readonly steps: readonly Step[] } | { readonly problem: string };

const MAX_WORDS = 10_000;
const RESERVED: ReadonlySet<string> = new Set(
  '! if then else elif fi for do done while until case esac function }'.split(' '),
);

const NO_INPUT = /^< ?\/dev\/null(?![^\s;&|])/;
/** Length of `< /dev/null` and the character after it. */
const NO_INPUT_CHARS = 12;

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
  let words: Word[] = [];
  let when: Step['when'] = 'always';
  let isWithoutInput = false;
  let wordCount = 0;
  const endStep = (operator: string) => {
    if (words.length === 0) {
      if (operator === '\n') return;
      throw new Unreadable(`syntax error: unexpected '${operator}'`);
    }
    steps.push({ when, words, isWithoutInput });
    words = [];
    isWithoutInput = false;
    when = operator === '&&' ? 'and' : operator === '||' ? 'or' : 'always';
  };
  for (let at = 0; at < text.length; ) {
    const char = text[at] ?? '';
    const operator = /^(&&|\|\||;|\n)/.exec(text.slice(at, at + 2))?.[0];
    if (char === ' ' || char === '\t' || char === '\r') at += 1;
    else if (char === '#') at = endOfLine(text, at);
    else if (char === '\\' && text[at + 1] === '\n') at += 2;
    else if (operator !== undefined) {
      endStep(operator);
      at += operator.length;
    } else if (words.length > 0 && NO_INPUT.test(text.slice(at, at + NO_INPUT_CHARS))) {
      isWithoutInput = true;
      at += text.slice(at).indexOf('null') + 4;
    } else {
      const { word, end } = wordAt(text, at);
      if (words.length === 0) refuseFirstWord(text.slice(at, end));
      wordCount += 1;
      if (wordCount > MAX_WORDS) throw new Unreadable('syntax error: too long');
      words.push(word);
      at = end;
    }
  }
  if (words.length > 0) steps.push({ when, words, isWithoutInput });
  else if (when !== 'always') throw new Unreadable("syntax error: unexpected 'EOF'");
  return steps;
}

function refuseFirstWord(source: string): void {
  if (RESERVED.has(source) || /^[A-Za-z_]\w*=/.test(source)) throw notSimulated(source);
}

function endOfLine(text: string, at: number): number {
  const end = text.indexOf('\n', at);
  return end === -1 ? text.length : end;
}

/** Parses the word at the current position, up to the next space or operator. */
function wordAt(text: string, start: number): { word: Word; end: number } {
  const pieces: Piece[] = [];
  let plain = '';
  let at = start;
  let isInQuotes = false;
  const flush = () => {
    pieces.push({ kind: 'text', text: plain });
    plain = '';
  };
  for (; at < text.length && (isInQuotes || !/[\s;&|]/.test(text[at] ?? '')); at += 1) {
    const char = text[at] ?? '';
    const next = text[at + 1] ?? '';
    if (char === '"') isInQuotes = !isInQuotes;
    else if (char === "'" && !isInQuotes) {
      const end = text.indexOf("'", at + 1);
      if (end === -1) throw new Unreadable('syntax error: no closing quote');
      plain += text.slice(at + 1, end);
      at = end;
    } else if (char === '\\' && (!isInQuotes || /["\\$`\n]/.test(next))) {
      if (next !== '\n') plain += next === '' ? '\\' : next;
      at += 1;
    } else if (char === '$' && next === '?') {
      flush();
      pieces.push({ kind: 'last-code' });
      at += 1;
    } else if (char === '`' || (char === '$' && /[\w({#$@*!-]/.test(next))) {
      throw notSimulated(char === '`' ? char : `${char}${next}`);
    } else if (!isInQuotes && (/[<>()*?[{]/.test(char) || (char === '~' && at === start))) throw notSimulated(char);
    else plain += char;
  }
  if (isInQuotes) throw new Unreadable('syntax error: no closing quote');
  // A single `&` or `|` ends a word; at its start it is refused.
  if (at === start) throw notSimulated(text[at] ?? '');
  flush();
  return { word: pieces, end: at };
}
