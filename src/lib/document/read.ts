import type { z } from 'zod';
import { type ErrorCode, GwError } from '../error/index.ts';
import { readBounded } from '../lifecycle/index.ts';
import { type Problem, problemText } from './problem.ts';
import { foundAt, place, schemaProblems } from './schema.ts';
import { type Path, readTree } from './tree.ts';

/** Problem reporter of checks across keys. */
export interface Report {
  /** A problem that a schema cannot express; `found` defaults to the value at the path. */
  (
    path: Path,
    problem: {
      readonly expected: string;
      readonly found?: string;
      readonly suggestion?: string | undefined;
      /** Position to report; default the value. */
      readonly at?: 'key' | 'value';
    },
  ): void;
  /** Validates the value at a path against a further schema, and reports every issue at its position. */
  schema(path: Path, schema: z.ZodType, value: unknown): void;
}

export interface DocumentOptions<S extends z.ZodType> {
  /** Path as given; prefix of every problem. */
  readonly file: string;
  readonly schema: S;
  readonly maxBytes: number;
  /** The code of the error that lists the problems. */
  readonly error: ErrorCode;
  /**
   * Checks across keys: unknown references, cycles. Runs on the plain value even when the schema rejects it, so that all
   * problems are listed together; it must accept any shape.
   */
  readonly check?: (value: unknown, report: Report) => void;
}

export interface ReadOptions<S extends z.ZodType> extends Omit<DocumentOptions<S>, 'file'> {
  readonly path: string;
  /** Code for a missing file; default `error`. */
  readonly notFound?: ErrorCode;
}

/**
 * Reads a document from a file, at most `maxBytes`. Throws `options.notFound` when the file is missing, else
 * `options.error`.
 */
export async function readDocument<S extends z.ZodType>(options: ReadOptions<S>): Promise<z.output<S>> {
  return parseDocument({ ...options, file: options.path, text: await readDocumentBytes(options) });
}

/** Reads a document from text. Throws `options.error` with every {@link Problem} in `details.problems`. */
export function parseDocument<S extends z.ZodType>(
  options: DocumentOptions<S> & { readonly text: string | Uint8Array },
): z.output<S> {
  const { file, schema, maxBytes, check } = options;
  const bytes = typeof options.text === 'string' ? new TextEncoder().encode(options.text) : options.text;
  if (bytes.byteLength > maxBytes)
    fail(options, [whole(file, `${sizeText(bytes.byteLength)}`, `at most ${sizeText(maxBytes)}`)]);
  const text = decode(bytes);
  if (text === undefined) fail(options, [whole(file, 'binary data', 'YAML in UTF-8')]);

  const tree = readTree(text, file);
  if (tree.problems.length > 0) fail(options, tree.problems);
  const fromSchema = schemaProblems(schema, tree.value, [], tree, file);
  const problems: Problem[] = [];
  const report: Report = Object.assign(
    (path: Path, { expected, found, suggestion, at = 'value' }: Parameters<Report>[1]) => {
      const shown = found ?? foundAt(tree, path);
      problems.push({ ...place(tree, file, path, at), found: shown, expected, suggestion: suggestion ?? null });
    },
    {
      schema(path: Path, further: z.ZodType, value: unknown) {
        problems.push(...schemaProblems(further, value, path, tree, file));
      },
    },
  );
  check?.(tree.value, report);
  // The message of a check is more specific than that of the schema at the same position.
  const reported = new Set(problems.map(({ path }) => path));
  problems.push(...fromSchema.filter(({ path }) => path === '' || !reported.has(path)));
  problems.sort((a, b) => (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0));
  if (problems.length > 0) fail(options, problems);
  return schema.parse(tree.value) as z.output<S>;
}

/** The bytes of a document, for hashing. Throws as `readDocument`. */
export async function readDocumentBytes(
  options: Pick<ReadOptions<z.ZodType>, 'path' | 'maxBytes' | 'error' | 'notFound'>,
): Promise<Uint8Array> {
  const { path, maxBytes, error, notFound = error } = options;
  const read = await readBounded(path, maxBytes).catch((cause: NodeJS.ErrnoException) => {
    const missing = ['ENOENT', 'ENOTDIR'].includes(cause.code ?? '');
    if (missing) throw new GwError(notFound, `File not found: ${path}.`, { cause });
    throw new GwError(error, `${path} cannot be read: ${reasonOf(cause)}.`, { cause });
  });
  const refuse = (found: string, expected: string): never =>
    fail({ ...options, file: path }, [whole(path, found, expected)]);
  switch (read.kind) {
    case 'bytes':
      return read.bytes;
    case 'folder':
      return refuse('a folder', 'a file');
    case 'special':
      return refuse('not a regular file', 'a file');
    case 'too-large':
      return refuse(sizeText(read.size), `at most ${sizeText(maxBytes)}`);
  }
}

const MAX_LINES = 20;

function fail(options: { readonly file: string; readonly error: ErrorCode }, problems: readonly Problem[]): never {
  const lines = problems.slice(0, MAX_LINES).map(problemText);
  const more = problems.length - lines.length;
  if (more > 0) lines.push(`… and ${more} more`);
  const [only] = lines;
  const count = `${problems.length} problems in ${options.file}:`;
  const message =
    lines.length === 1 && only !== undefined ? only : [count, ...lines.map((line) => `  ${line}`)].join('\n');
  // Nothing can be corrected in a file that is none.
  const remedy = problems.every(({ line }) => line === null) ? 'Name another file.' : undefined;
  throw new GwError(options.error, message, { details: { problems }, remedy });
}

function whole(file: string, found: string, expected: string): Problem {
  return { file, line: null, column: null, path: '', found, expected, suggestion: null };
}

/** UTF-8 text without control characters except tab and line ends; undefined for anything else. */
function decode(bytes: Uint8Array): string | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
    return /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/.test(text) ? undefined : text;
  } catch {
    return undefined;
  }
}

function sizeText(bytes: number): string {
  if (bytes < 1024) return `${bytes} bytes`;
  if (bytes < 1024 * 1024) return `${Math.ceil(bytes / 1024)} KiB`;
  return `${(bytes / 1024 / 1024).toFixed(1)} MiB`;
}

function reasonOf(cause: unknown): string {
  const { code } = cause as NodeJS.ErrnoException;
  if (code === 'EACCES' || code === 'EPERM') return 'permission denied';
  if (code === 'EISDIR') return 'it is a folder';
  return code ?? 'unknown error';
}
