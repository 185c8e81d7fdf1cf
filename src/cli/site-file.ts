import { type Stats, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { GwError } from '../lib/error/index.ts';

const NAME = 'site.yaml';

/** Where the site file comes from that a command line does not name. */
export interface SiteFileSearch {
  /** As a person would type it from here. */
  readonly path: string;
  /** null: no folder has one, and `path` is the name that it would have here. */
  readonly foundIn: string | null;
  /** The folders in which it was looked for, this one first. */
  readonly searched: readonly string[];
}

/**
 * Looks for `site.yaml` in this folder and in those above it. It ends at the home folder, at the root of a file system,
 * and before a folder that belongs to another person; a file of another person above this folder is passed over, since in
 * a folder of everybody it would be a trap. Project decision.
 */
export function searchSiteFile(
  folder: string,
  { stat = statOf, uid = process.getuid?.() ?? 0, home = homedir() }: SearchOptions = {},
): SiteFileSearch {
  const searched: string[] = [];
  const isOwn = (of: Pick<Stats, 'uid'>) => of.uid === uid || of.uid === 0;
  const here = stat(folder);
  for (let at = folder; ; at = dirname(at)) {
    searched.push(at);
    const file = stat(join(at, NAME));
    if (file !== null && (at === folder || isOwn(file))) {
      return { path: relative(folder, join(at, NAME)) || NAME, foundIn: at, searched };
    }
    const above = stat(dirname(at));
    if (at === home || dirname(at) === at || above === null || above.dev !== here?.dev || !isOwn(above)) break;
  }
  return { path: NAME, foundIn: null, searched };
}

interface SearchOptions {
  /** null: there is nothing. */
  readonly stat?: (path: string) => Pick<Stats, 'uid' | 'dev'> | null;
  readonly uid?: number;
  readonly home?: string;
}

function statOf(path: string): Stats | null {
  return statSync(path, { throwIfNoEntry: false }) ?? null;
}

/** The site file of a command line without --site and without GW_SITE. */
export function defaultSiteFile(): string {
  try {
    return searchSiteFile(process.cwd()).path;
  } catch {
    // A folder that was removed, or that may not be looked into.
    return NAME;
  }
}

/** The error of a site file, with where the file comes from unless --site names it. */
export function withSiteFileSource(
  error: GwError,
  argv: readonly string[],
  env: Readonly<Record<string, string | undefined>> = process.env,
): GwError {
  if (error.code !== 'SITE_FILE_NOT_FOUND' && error.code !== 'SITE_FILE_INVALID') return error;
  if (argv.some((word) => /^(-s|--site(=.*)?)$/.test(word) || /^-s[^-]/.test(word))) return error;
  const again = (message: string) =>
    new GwError(error.code, message, {
      ...{ tried: error.tried, remedy: error.remedy, details: error.details },
      cause: error,
    });
  if (env.GW_SITE) return again(`${error.message}\nThe variable GW_SITE names this file.`);
  const { foundIn, searched } = searchSiteFile(process.cwd());
  if (foundIn === null && error.code === 'SITE_FILE_NOT_FOUND') {
    const folders =
      searched.length === 1 ? searched[0] : `${searched[0]} and the folders above it, up to ${searched.at(-1)}`;
    return again(`No ${NAME} in ${folders}.`);
  }
  if (searched.length === 1 || foundIn === null) return error;
  return again(`${error.message}\nIt was found in ${foundIn}, above this folder.`);
}
