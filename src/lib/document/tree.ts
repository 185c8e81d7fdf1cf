import {
  type Document,
  isAlias,
  isMap,
  isPair,
  isScalar,
  isSeq,
  LineCounter,
  type Pair,
  parseAllDocuments,
  type Scalar,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml';
import { quoted } from '../text/index.ts';
import { type Problem, pathText } from './problem.ts';

export type Path = readonly PropertyKey[];

/** Position of a path in the file. */
interface Place {
  readonly line: number;
  readonly column: number;
}

interface Entry {
  readonly key: Place | null;
  readonly value: Place;
  /** The value found, in words. */
  readonly shown: string;
}

export interface Tree {
  readonly value: unknown;
  /** undefined for a path that is not in the file. */
  entry(path: Path): Entry | undefined;
  /** What stands before a place in its line. */
  textBefore(place: Place): string;
  readonly problems: readonly Problem[];
}

/** More levels than any file of gw has. */
const MAX_LEVELS = 50;
const MAX_PROBLEMS = 200;
/** One mistake makes the parser report errors for the rest of the file. */
const MAX_PARSER_ERRORS = 10;

/** Parses YAML into plain values with positions, and collects violations of the strict subset. */
export function readTree(text: string, file: string): Tree {
  const entries = new Map<string, Entry>();
  const problems: Problem[] = [];
  const lines = new LineCounter();
  const textBefore = ({ line, column }: Place) => (text.split('\n')[line - 1] ?? '').slice(0, column - 1);
  const tree = { entry: (path: Path) => entries.get(pathKey(path)), textBefore, problems };

  const placeOf = (offset: number): Place => {
    const { line, col } = lines.linePos(offset);
    return { line: Math.max(1, line), column: Math.max(1, col) };
  };
  const refuse = (offset: number | null, path: Path, found: string, expected: string): void => {
    if (problems.length >= MAX_PROBLEMS) return;
    const place = offset === null ? null : placeOf(offset);
    problems.push({
      file,
      line: place?.line ?? null,
      column: place?.column ?? null,
      path: pathText(path),
      found,
      expected,
      suggestion: null,
    });
  };

  let documents: Document[];
  try {
    const parsed = parseAllDocuments(text, {
      lineCounter: lines,
      prettyErrors: false,
      schema: 'core',
      merge: false,
      // Checked below in linear time: the library compares every key with every other.
      uniqueKeys: false,
      logLevel: 'silent',
    });
    documents = Array.isArray(parsed) ? [...parsed] : [];
  } catch (error) {
    // Nested too deeply for the recursion of the library.
    refuse(null, [], `a structure that cannot be parsed (${firstLine(error)})`, 'plain keys, values and lists');
    return { ...tree, value: undefined };
  }
  const [document, second] = documents;
  if (!document || document.contents === null) {
    if (!document?.errors.length) refuse(null, [], 'an empty file', 'keys and values');
  }
  const complaints = documents.flatMap(({ errors, warnings }) => [...errors, ...warnings]);
  // The library reports its own stack overflow as an error of the text.
  if (complaints.some(({ message }) => /call stack|stack overflow/i.test(message))) {
    refuse(null, [], 'too many nested levels', `at most ${MAX_LEVELS} levels`);
    return { ...tree, value: undefined };
  }
  // A tab makes the parser complain of most lines after it as well.
  const tab = complaints.find(({ message }) => /^Tabs are not allowed/.test(message));
  if (tab !== undefined) refuse(tab.pos[0], [], 'a tab in the indentation', 'spaces');
  for (const { pos, message } of tab === undefined ? complaints.slice(0, MAX_PARSER_ERRORS) : []) {
    refuse(pos[0], [], `invalid YAML (${firstLine(message)})`, 'valid YAML');
  }
  if (second) refuse(second.range?.[0] ?? null, [], 'a second document after ---', 'one document per file');
  if (
    document?.directives?.yaml.explicit ||
    Object.keys(document?.directives?.tags ?? {}).some((tag) => tag !== '!!')
  ) {
    refuse(0, [], 'a % directive', 'no directives');
  }
  if (problems.length > 0 || !document) return { ...tree, value: undefined };

  type Item = YAMLMap | YAMLSeq | Scalar | null | undefined;

  function read(node: unknown, path: Path, key: Place | null, at: number): unknown {
    if (isAlias(node)) {
      refuse(node.range?.[0] ?? at, path, `the alias ${quoted(`*${node.source}`)}`, 'the value itself, written out');
      return undefined;
    }
    const item = (isMap(node) || isSeq(node) || isScalar(node) ? node : null) as Item;
    const offset = item?.range?.[0] ?? at;
    const value = placeOf(offset);
    if (item?.anchor) refuse(offset, path, `the anchor ${quoted(`&${item.anchor}`)}`, 'no anchors and aliases');
    if (item?.tag) refuse(offset, path, `the tag ${quoted(item.tag)}`, 'no tags; text in quotes where it must be text');
    entries.set(pathKey(path), { key, value, shown: shownOf(item) });
    if (path.length >= MAX_LEVELS) {
      refuse(offset, [], 'too many nested levels', `at most ${MAX_LEVELS} levels`);
      return undefined;
    }
    if (isMap(item)) return readMap(item, path);
    if (isSeq(item)) return item.items.map((child, index) => read(child, [...path, index], null, offset));
    return isScalar(item) ? item.value : null;
  }

  function readMap(map: YAMLMap, path: Path): Record<string, unknown> {
    const result: Record<string, unknown> = {};
    const seen = new Map<string, number>();
    for (const pair of map.items as readonly Pair[]) {
      const offset = (isScalar(pair.key) ? pair.key.range?.[0] : undefined) ?? map.range?.[0] ?? 0;
      const key = isScalar(pair.key) && !pair.key.anchor && !pair.key.tag ? keyText(pair.key) : undefined;
      if (!isPair(pair) || key === undefined || key === '__proto__') {
        refuse(offset, path, key === undefined ? 'a key that is not plain text' : quoted(key), 'a plain word as key');
        continue;
      }
      const before = seen.get(key);
      if (before !== undefined) {
        const first = placeOf(before).line;
        refuse(
          offset,
          [...path, key],
          `the key ${quoted(key)} a second time`,
          `each key once (first in line ${first})`,
        );
        continue;
      }
      seen.set(key, offset);
      result[key] = read(pair.value, [...path, key], placeOf(offset), offset);
    }
    return result;
  }

  return { ...tree, value: read(document.contents, [], null, 0) };
}

/** A key as written: `1: x` and `yes: x` are keys too. */
function keyText(key: Scalar): string | undefined {
  if (typeof key.value === 'string') return key.value;
  return key.source === undefined || key.source === '' ? undefined : key.source;
}

function shownOf(item: YAMLMap | YAMLSeq | Scalar | null | undefined): string {
  if (isMap(item)) return 'keys and values';
  if (isSeq(item)) return 'a list';
  if (!item || item.value === null) return 'nothing';
  if (typeof item.value === 'string') return quoted(item.value);
  // As written: YAML parses 0123 as 123, but the message must show 0123.
  return quoted(item.source ?? String(item.value)).slice(1, -1);
}

function pathKey(path: Path): string {
  return JSON.stringify(path.map(String));
}

function firstLine(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.split('\n')[0]?.slice(0, 160) ?? '';
}
