import { plainText } from './excerpt.ts';
import { lookUp, type PathPart, parsePath } from './path.ts';

/** Stands for what a result does not have. */
export const NOT_THERE = '(not there)';

/** Text with paths into a result: `serial {identity.serial}`. */
export type Template = readonly (string | readonly PathPart[])[];

/** Reads a template; undefined when a brace is not closed or what stands in braces is no path. */
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

/** Fills a template from a result; a list stands for how many items it has, what is not there for '(not there)'. */
export function fillTemplate(template: Template, value: unknown): string {
  const texts = template.map((part) => {
    if (typeof part === 'string') return part;
    const result = lookUp(value, part);
    if (!result.exists || result.value === null) return NOT_THERE;
    return Array.isArray(result.value) ? String(result.value.length) : plainText(result.value);
  });
  return texts.join('');
}
