import { pluralWord } from '../../text/index.ts';
import { plainText } from './excerpt.ts';
import { lookUp, type PathPart, parsePath } from './path.ts';

/** Placeholder for a value that the result lacks. */
export const NOT_THERE = '(not there)';

/** Text with paths into a result: `serial {identity.serial}`. */
export type Template = readonly (string | readonly PathPart[])[];

/** Parses a template; undefined for an unclosed brace or an invalid path in braces. */
export function parseTemplate(text: string): Template | undefined {
  const template: (string | readonly PathPart[])[] = [];
  let rest = text;
  while (rest !== '') {
    const open = rest.indexOf('{');
    const plain = open === -1 ? rest : rest.slice(0, open);
    if (plain.includes('}')) return undefined;
    if (plain !== '') template.push(plain);
    if (open === -1) break;
    const close = rest.indexOf('}', open);
    const path = close === -1 ? undefined : parsePath(rest.slice(open + 1, close));
    if (!path) return undefined;
    template.push(path);
    rest = rest.slice(close + 1);
  }
  return template;
}

/** The paths of a template, in its order. */
export function pathsOf(template: Template): readonly (readonly PathPart[])[] {
  return template.filter((part) => typeof part !== 'string');
}

/**
 * Renders a template from a result: a list as its length, a missing value as '(not there)', and `(s)` by the value before
 * it: `{maps} map(s)`.
 */
export function fillTemplate(template: Template, value: unknown): string {
  let last: string | undefined;
  const texts = template.map((part) => {
    if (typeof part === 'string') {
      return last === undefined ? part : part.replaceAll('(s)', pluralWord(Number(last), ''));
    }
    last = filled(part, value);
    return last;
  });
  return texts.join('');
}

function filled(part: readonly PathPart[], value: unknown): string {
  const result = lookUp(value, part);
  if (!result.exists || result.value === null) return NOT_THERE;
  return Array.isArray(result.value) ? String(result.value.length) : plainText(result.value);
}
