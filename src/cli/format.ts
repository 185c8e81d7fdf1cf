import { extname } from 'node:path';
import { GwError } from '../lib/error/index.ts';

/** Formats that a file name announces, the first one where the command has several of them. */
const announced: Readonly<Record<string, readonly string[]>> = {
  '.html': ['html'],
  '.htm': ['html'],
  '.pdf': ['pdf'],
  '.md': ['md'],
  '.xml': ['junit'],
  '.svg': ['svg'],
  '.csv': ['csv'],
  '.geojson': ['geojson'],
  '.json': ['json', 'geojson'],
};

/**
 * Format of a document: that of --format, else the one that the name of --out announces, else `usual`. Throws USAGE when
 * the two disagree, so that no HTML is sent to a customer as a PDF.
 */
export function chooseFormat<F extends string>(
  { format: given, out }: { readonly format: F | undefined; readonly out: string | undefined },
  formats: readonly F[],
  usual: F,
): F {
  const extension = extname(out ?? '').toLowerCase();
  const names = (announced[extension] ?? []).map((name) => formats.find((format) => format === name));
  const fitting = names.filter((format) => format !== undefined);
  const [first = usual] = fitting;
  if (given === undefined || fitting.length === 0 || fitting.includes(given)) return given ?? first;
  throw new GwError('USAGE', `The file ${out} would contain ${given}, not ${first}.`, {
    remedy: `Use --format ${first}, or another ending than ${extension}.`,
  });
}
