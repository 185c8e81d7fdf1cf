import { quoted } from '../text/index.ts';

/** One problem of a document, with its position. */
export interface Problem {
  readonly file: string;
  /** From 1; null when the problem concerns the whole file. */
  readonly line: number | null;
  readonly column: number | null;
  /** The key as people write it: `chassis.port`, `steps[2].id`; empty for the whole document. */
  readonly path: string;
  /** The value found, shortened; 'nothing' when the key is missing. */
  readonly found: string;
  readonly expected: string;
  /** The likely intended word, when one is close enough. */
  readonly suggestion: string | null;
}

/** One line for a person: `site.yaml:3:9: chassis.port: found 'abc', expected a whole number`. */
export function problemText(problem: Problem): string {
  const place = [problem.file, problem.line, problem.column].filter((part) => part !== null).join(':');
  const key = problem.path === '' ? '' : ` ${problem.path}:`;
  const guess = problem.suggestion === null ? '' : `; did you mean '${problem.suggestion}'?`;
  return `${place}:${key} found ${problem.found}, expected ${problem.expected}${guess}`;
}

/** `['steps', 2, 'id']` as `steps[2].id`; a key that is not a plain word is bracketed and quoted. */
export function pathText(path: readonly PropertyKey[]): string {
  let text = '';
  for (const part of path) {
    if (typeof part === 'number') text += `[${part}]`;
    else if (/^[A-Za-z_][\w-]*$/.test(String(part))) text += text === '' ? String(part) : `.${String(part)}`;
    else text += `[${quoted(String(part))}]`;
  }
  return text;
}
