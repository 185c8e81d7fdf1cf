import { isAlias, isCollection, isPair, isScalar, Lexer, parseAllDocuments } from 'yaml';

/** What a document holds, also one that is damaged or breaks the rules of gw: for what must be found in it, not for use. */
interface LooseDocument {
  /** The text without its comments; all else stands as it was, damaged or not. */
  readonly withoutComments: string;
  readonly comments: readonly string[];
  /** Each value that is no map and no list, with the names of the keys above it, the outermost first. */
  readonly values: readonly { readonly names: readonly string[]; readonly value: string }[];
}

/** More levels than any file of gw has; what lies deeper is in the text alone. */
const MAX_LEVELS = 200;

/** Reads any text. Never throws. */
export function readLoosely(text: string): LooseDocument {
  const { kept, comments } = split(text);
  const { values, isSound } = valuesOf(text);
  if (isSound) return { withoutComments: kept, comments, values };
  // In a damaged document a comment may be read as a part of a text, for which a closing quote is missing.
  const more: string[] = [];
  const withoutComments = kept.replace(/(?<![^\s])#[^\r\n]*/g, (comment) => {
    more.push(comment);
    return '';
  });
  return { withoutComments, comments: [...comments, ...more], values };
}

function split(text: string) {
  const comments: string[] = [];
  let kept = '';
  let isValue = false;
  for (const token of new Lexer().lex(text)) {
    // Marks of the lexer, which are not in the text: a value follows, a document begins, a flow ended in error.
    const isMark = token === '\u001f' || token === '\u0002' || token === '\u0018';
    if (token.startsWith('#') && !isValue) comments.push(token);
    else if (!isMark) kept += token;
    isValue = token === '\u001f';
  }
  return { kept, comments };
}

function valuesOf(text: string) {
  const values: { names: readonly string[]; value: string }[] = [];
  const walk = (node: unknown, names: readonly string[]): void => {
    if (names.length > MAX_LEVELS || isAlias(node)) return;
    if (isPair(node)) {
      const name = isScalar(node.key) ? String(node.key.value) : '';
      if (!isScalar(node.key)) walk(node.key, names);
      walk(node.value, [...names, name]);
    } else if (isCollection(node)) for (const item of node.items) walk(item, names);
    else if (isScalar(node)) values.push({ names, value: String(node.source ?? node.value ?? '') });
  };
  try {
    const parsed = parseAllDocuments(text, { logLevel: 'silent', uniqueKeys: false });
    const documents = Array.isArray(parsed) ? parsed : [];
    for (const { contents } of documents) walk(contents, []);
    return { values, isSound: documents.every(({ errors }) => errors.length === 0) };
  } catch {
    return { values, isSound: false };
  }
}
