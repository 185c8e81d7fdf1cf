import { isRecord } from '../../json/index.ts';
import { keyWords } from './excerpt.ts';

/** One part of a path into a result: a key, an index, or the one list item whose field has a value. */
export type PathPart =
  | { readonly kind: 'key'; readonly key: string }
  | { readonly kind: 'index'; readonly index: number }
  | { readonly kind: 'item'; readonly field: string; readonly value: string };

export type PathResult =
  | { readonly exists: true; readonly value: unknown }
  /** `missing` is the path up to and including the missing part. */
  | { readonly exists: false; readonly missing: string };

export const PATH_SYNTAX =
  "keys with dots, list positions in brackets: identity.serial, checks[0].verdict, routes[id=media].verdict, topics['/map'].ageMs";

const MAX_CHARACTERS = 200;
const PART = /\.?([A-Za-z_][\w-]*)|\[(\d{1,6})\]|\['([^'\]]*)'\]|\[([A-Za-z_][\w-]*)=([^\]'"]+)\]/y;

/** Parses a path; undefined when it does not follow {@link PATH_SYNTAX}. */
export function parsePath(text: string): readonly PathPart[] | undefined {
  if (text === '' || text.length > MAX_CHARACTERS) return undefined;
  const parts: PathPart[] = [];
  const part = new RegExp(PART);
  while (part.lastIndex < text.length) {
    const at = part.lastIndex;
    const match = part.exec(text);
    if (!match) return undefined;
    const [, key, index, quoted, field, value] = match;
    if (key !== undefined) {
      // Every key but the first follows a dot.
      if ((text[at] === '.') === (at === 0)) return undefined;
      parts.push({ kind: 'key', key });
    } else if (index !== undefined) parts.push({ kind: 'index', index: Number(index) });
    else if (quoted !== undefined) parts.push({ kind: 'key', key: quoted });
    else if (field !== undefined && value !== undefined) parts.push({ kind: 'item', field, value });
  }
  return parts;
}

/** Follows a path by own properties only. */
export function lookUp(value: unknown, path: readonly PathPart[]): PathResult {
  let here = value;
  const way: string[] = [];
  for (const part of path) {
    way.push(partText(part, way.length === 0));
    const next = step(here, part);
    if (next === undefined || next.value === undefined) return { exists: false, missing: way.join('') };
    here = next.value;
  }
  return { exists: true, value: here };
}

function step(here: unknown, part: PathPart): { readonly value: unknown } | undefined {
  switch (part.kind) {
    case 'key':
      return own(here, part.key);
    case 'index':
      return Array.isArray(here) && part.index < here.length ? { value: here[part.index] } : undefined;
    case 'item': {
      if (!Array.isArray(here)) return undefined;
      const items = here.filter((item) => String(own(item, part.field)?.value) === part.value);
      return items.length === 1 ? { value: items[0] } : undefined;
    }
  }
}

function own(here: unknown, key: string): { readonly value: unknown } | undefined {
  if (!isRecord(here) || !Object.hasOwn(here, key)) return undefined;
  return { value: here[key] };
}

/** The path as its text. */
export function partsText(path: readonly PathPart[]): string {
  return path.map((part, at) => partText(part, at === 0)).join('');
}

function partText(part: PathPart, first: boolean): string {
  switch (part.kind) {
    case 'key':
      if (!/^[A-Za-z_][\w-]*$/.test(part.key)) return `['${part.key}']`;
      return first ? part.key : `.${part.key}`;
    case 'index':
      return `[${part.index}]`;
    case 'item':
      return `[${part.field}=${part.value}]`;
  }
}

/** A path in words: `findings[id=operator-password].verdict` as `operator-password`, `pose.ageMs` as `pose age (ms)`. */
export function pathWords(path: readonly PathPart[]): string {
  const words = path.flatMap((part, at) => {
    if (part.kind === 'index') return [`number ${part.index + 1}`];
    if (part.kind === 'item') return [part.value];
    const isImplied =
      path[at + 1]?.kind === 'item' || (at > 0 && at === path.length - 1 && /^(?:verdict|value)$/.test(part.key));
    return isImplied ? [] : [keyWords(part.key)];
  });
  return words.join(' ');
}
