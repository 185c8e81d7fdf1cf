/**
 * Strict YAML documents with line-numbered errors: the one way in which gw reads files that people write. One
 * document per file, a bounded size, no aliases, no tags, no duplicate keys; a zod schema says what must stand in
 * it, and every problem is reported at once with file, line, column, key, what was found and what is expected.
 */
export { oneLine, type Problem, pathText, problemText } from './problem.ts';
export {
  parseDocument,
  type Report,
  readDocument,
  readDocumentBytes,
} from './read.ts';
export { nearest } from './spelling.ts';
export type { Path } from './tree.ts';
