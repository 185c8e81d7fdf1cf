import { stat } from 'node:fs/promises';
import { asGwError, type GwError } from '../../error/index.ts';
import type { Clock } from '../../lifecycle/index.ts';
import { loadSite, type Site } from '../../site/index.ts';
import type { Line } from '../finding.result.ts';
import { notChecked, ok, wrong } from '../finding.ts';
import { checkSite } from '../site/check.ts';
import { start } from './host.ts';

export type ReadSite = { readonly site: Site; readonly error: null } | { readonly site: null; readonly error: GwError };

export async function readSite(path: string): Promise<ReadSite> {
  return await loadSite(path).then(
    (site) => ({ site, error: null }),
    (error: unknown) => ({ site: null, error: asGwError(error) }),
  );
}

/** What `gw site check` says of the settings of orders is not about the installation. */
const notFiles: ReadonlySet<string> = new Set(['require-verified', 'orders']);

/** The site file, and the files and folders that it names, as `gw site check` sees them. */
export async function fileLines(path: string, { error }: ReadSite, clock?: Pick<Clock, 'wall'>): Promise<Line[]> {
  const line = start('site-file', 'Site file');
  if (error !== null) {
    const rest = notChecked(start('site-files', 'Files that it names'), 'no valid site file');
    if (error.code === 'SITE_FILE_NOT_FOUND') {
      return [
        notChecked(
          line,
          `${path}: no such file`,
          `Create it with \`gw site init ${path}\`, or name another one with --site FILE.`,
        ),
        rest,
      ];
    }
    return [wrong(line, error.message.replace(/\s*\n\s*/g, '; '), `gw site check ${path}`), rest];
  }
  const { findings } = await checkSite(path, clock);
  return [
    await modeOf(path),
    ...findings
      .filter(({ id }) => !notFiles.has(id))
      .map((finding) => ({
        ...finding,
        title: finding.title.replace(/^./, (first) => first.toUpperCase()),
        spec: null,
      })),
  ];
}

const OTHERS_WRITE = 0o022;

async function modeOf(path: string): Promise<Line> {
  const line = start('site-file', 'Site file');
  const { mode } = await stat(path);
  const text = (mode & 0o777).toString(8).padStart(3, '0');
  if ((mode & OTHERS_WRITE) === 0) return ok(line, `${path} is valid, mode ${text}`);
  return wrong(line, `${path} is valid, but other users may write to it (mode ${text})`, `chmod go-w ${path}`);
}
