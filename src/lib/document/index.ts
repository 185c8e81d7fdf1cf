/**
 * Strict YAML with line-numbered errors, for every hand-written file of gw. One document per file, a bounded size, no
 * aliases, no tags, no duplicate keys. A zod schema defines the content, and all problems are reported together with
 * file, line, column, key, found and expected value.
 */
export { readLoosely } from './loose.ts';
export { type Problem, pathText, problemText } from './problem.ts';
export {
  parseDocument,
  type Report,
  readDocument,
  readDocumentBytes,
} from './read.ts';
export { nearest } from './schema.ts';
export type { Path } from './tree.ts';
