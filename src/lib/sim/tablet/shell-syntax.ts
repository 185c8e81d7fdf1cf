/**
 * As much of the shell's grammar as commands on the bridge use: words with quotes, variables and `$(…)`, lists with
 * `;`, `&&`, `||`, pipes, redirections, comments. No loops, conditions or functions: they are syntax errors.
 */

/** A part of a word. */
export type Piece =
  | { readonly kind: 'text'; readonly text: string; readonly quoted: boolean }
  | { readonly kind: 'variable'; readonly name: string; readonly quoted: boolean }
  | { readonly kind: 'command'; readonly script: string; readonly quoted: boolean };

export type Word = readonly Piece[];

export interface Redirection {
  /** Which output; 0 is the input. */
  readonly of: 0 | 1 | 2;
  readonly to: { readonly file: Word; readonly append: boolean } | { readonly output: 1 | 2 };
}

export interface Command {
  readonly words: readonly Word[];
  readonly redirections: readonly Redirection[];
}

export interface Step {
  /** When it runs, by the exit code before it. */
  readonly when: 'always' | 'and' | 'or';
  readonly pipe: readonly Command[];
  readonly negated: boolean;
}

export type Parsed = { readonly steps: readonly Step[] } | { readonly problem: string };

type Token =
  | { readonly kind: 'word'; readonly word: Word }
  | { readonly kind: 'operator'; readonly text: string }
  | { readonly kind: 'redirection'; readonly of: 0 | 1 | 2; readonly append: boolean; readonly output?: 1 | 2 };

const MOST_TOKENS = 10_000;
const LONGEST_PIPE = 16;
const reserved = new Set([
  'if',
  'then',
  'else',
  'elif',
  'fi',
  'for',
  'do',
  'done',
  'while',
  'until',
  'case',
  'esac',
  'function',
  '{',
  '}',
]);

class Unreadable extends Error {}

export function parseScript(script: string): Parsed {
  try {
    return { steps: stepsOf(tokensOf(script)) };
  } catch (error) {
    if (error instanceof Unreadable) return { problem: error.message };
    throw error;
  }
}

function tokensOf(text: string): Token[] {
  const tokens: Token[] = [];
  let at = 0;
  while (at < text.length) {
    if (tokens.length > MOST_TOKENS) throw new Unreadable('syntax error: too long');
    const char = text[at] ?? '';
    if (char === ' ' || char === '\t' || char === '\r') at += 1;
    else if (char === '#') at = endOfLine(text, at);
    else if (char === '\\' && text[at + 1] === '\n') at += 2;
    else if (char === '\n') {
      tokens.push({ kind: 'operator', text: ';' });
      at += 1;
    } else {
      const redirection = /^([0-2]?)(>>|>&([12])|>|<)/.exec(text.slice(at, at + 5));
      const operator = /^(&&|\|\||;|\||&|\(|\))/.exec(text.slice(at, at + 2));
      if (redirection) {
        const [whole, number, sign, output] = redirection;
        const of = number ? Number(number) : sign === '<' ? 0 : 1;
        if ((of === 0) !== (sign === '<')) throw new Unreadable(`syntax error: unexpected '${whole}'`);
        tokens.push({
          kind: 'redirection',
          of: of as 0 | 1 | 2,
          append: sign === '>>',
          ...(output && { output: Number(output) as 1 | 2 }),
        });
        at += whole.length;
      } else if (operator?.[0]) {
        if (operator[0] === '(' || operator[0] === ')')
          throw new Unreadable(`syntax error: unexpected '${operator[0]}'`);
        tokens.push({ kind: 'operator', text: operator[0] });
        at += operator[0].length;
      } else {
        const { word, end } = wordAt(text, at);
        tokens.push({ kind: 'word', word });
        at = end;
      }
    }
  }
  return tokens;
}

function endOfLine(text: string, at: number): number {
  const end = text.indexOf('\n', at);
  return end === -1 ? text.length : end;
}

function wordAt(text: string, start: number): { word: Word; end: number } {
  const pieces: Piece[] = [];
  let at = start;
  let plain = '';
  const flush = () => {
    if (plain !== '') pieces.push({ kind: 'text', text: plain, quoted: false });
    plain = '';
  };
  while (at < text.length && !/[\s;&|<>()]/.test(text[at] ?? '')) {
    const char = text[at] ?? '';
    if (char === "'") {
      flush();
      const end = text.indexOf("'", at + 1);
      if (end === -1) throw new Unreadable('syntax error: no closing quote');
      pieces.push({ kind: 'text', text: text.slice(at + 1, end), quoted: true });
      at = end + 1;
    } else if (char === '"') {
      flush();
      at = doubleQuoted(text, at + 1, pieces);
    } else if (char === '\\') {
      if (text[at + 1] !== '\n')
        pieces.push(...flushed(plain), { kind: 'text', text: text[at + 1] ?? '\\', quoted: true });
      plain = text[at + 1] === '\n' ? plain : '';
      at += 2;
    } else if (char === '$' || char === '`') {
      const found = expansionAt(text, at, false);
      if (found) {
        flush();
        pieces.push(found.piece);
        at = found.end;
      } else {
        plain += char;
        at += 1;
      }
    } else {
      plain += char;
      at += 1;
    }
  }
  flush();
  return { word: pieces, end: at };
}

const flushed = (plain: string): Piece[] => (plain === '' ? [] : [{ kind: 'text', text: plain, quoted: false }]);

function doubleQuoted(text: string, start: number, pieces: Piece[]): number {
  let at = start;
  let plain = '';
  const flush = () => {
    pieces.push({ kind: 'text', text: plain, quoted: true });
    plain = '';
  };
  while (at < text.length) {
    const char = text[at] ?? '';
    if (char === '"') {
      flush();
      return at + 1;
    }
    if (char === '\\' && /["\\$`\n]/.test(text[at + 1] ?? '')) {
      if (text[at + 1] !== '\n') plain += text[at + 1];
      at += 2;
      continue;
    }
    const found = char === '$' || char === '`' ? expansionAt(text, at, true) : undefined;
    if (found) {
      flush();
      pieces.push(found.piece);
      at = found.end;
    } else {
      plain += char;
      at += 1;
    }
  }
  throw new Unreadable('syntax error: no closing quote');
}

function expansionAt(text: string, at: number, quoted: boolean): { piece: Piece; end: number } | undefined {
  if (text[at] === '`') {
    const end = text.indexOf('`', at + 1);
    if (end === -1) throw new Unreadable('syntax error: no closing quote');
    return { piece: { kind: 'command', script: text.slice(at + 1, end), quoted }, end: end + 1 };
  }
  if (text[at + 1] === '(') {
    const end = closingBracket(text, at + 2);
    return { piece: { kind: 'command', script: text.slice(at + 2, end), quoted }, end: end + 1 };
  }
  const name = /^\$(?:\{([A-Za-z_]\w*|[?$#0-9])\}|([A-Za-z_]\w*|[?$#0-9]))/.exec(text.slice(at, at + 200));
  if (!name) return undefined;
  return { piece: { kind: 'variable', name: name[1] ?? name[2] ?? '', quoted }, end: at + name[0].length };
}

function closingBracket(text: string, start: number): number {
  let depth = 1;
  let quote = '';
  for (let at = start; at < text.length; at += 1) {
    const char = text[at] ?? '';
    if (quote !== '') quote = char === quote ? '' : quote;
    else if (char === "'" || char === '"') quote = char;
    else if (char === '(') depth += 1;
    else if (char === ')') depth -= 1;
    if (depth === 0) return at;
  }
  throw new Unreadable("syntax error: unexpected 'EOF'");
}

function stepsOf(tokens: readonly Token[]): Step[] {
  const steps: Step[] = [];
  let pipe: Command[] = [];
  let words: Word[] = [];
  let redirections: Redirection[] = [];
  let when: Step['when'] = 'always';
  let negated = false;
  const isEmpty = () => words.length === 0 && redirections.length === 0;
  const closeCommand = () => {
    if (pipe.length >= LONGEST_PIPE) throw new Unreadable('syntax error: too long');
    pipe.push({ words, redirections });
    words = [];
    redirections = [];
  };
  for (let index = 0; index < tokens.length; index += 1) {
    const token = tokens[index];
    if (token?.kind === 'word') {
      const text = plainText(token.word);
      if (words.length === 0 && text !== undefined && reserved.has(text)) {
        throw new Unreadable(`syntax error: unexpected '${text}'`);
      }
      if (words.length === 0 && pipe.length === 0 && text === '!') negated = !negated;
      else words.push(token.word);
    } else if (token?.kind === 'redirection') {
      if (token.output !== undefined) {
        redirections.push({ of: token.of, to: { output: token.output } });
        continue;
      }
      const next = tokens[index + 1];
      if (next?.kind !== 'word') throw new Unreadable("syntax error: unexpected 'newline'");
      redirections.push({ of: token.of, to: { file: next.word, append: token.append } });
      index += 1;
    } else if (token?.kind === 'operator') {
      if (isEmpty() && (token.text !== ';' || pipe.length > 0)) {
        throw new Unreadable(`syntax error: unexpected '${token.text}'`);
      }
      if (isEmpty()) continue;
      closeCommand();
      if (token.text === '|') continue;
      steps.push({ when, pipe, negated });
      pipe = [];
      negated = false;
      when = token.text === '&&' ? 'and' : token.text === '||' ? 'or' : 'always';
    }
  }
  if (!isEmpty()) {
    closeCommand();
    steps.push({ when, pipe, negated });
  } else if (pipe.length > 0 || when !== 'always') throw new Unreadable("syntax error: unexpected 'EOF'");
  return steps;
}

function plainText(word: Word): string | undefined {
  const [piece] = word;
  return word.length === 1 && piece?.kind === 'text' && !piece.quoted ? piece.text : undefined;
}
