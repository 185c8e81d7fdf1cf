import { join } from 'node:path';
import { isRecord, readJsonBytes } from '../../json/index.ts';
import { type Log, readWhole, replaceFile } from '../../lifecycle/index.ts';
import type { LinkPath } from './model.ts';

const FORMAT = 'gw/cloud-link/1';
const MAX_BYTES = 64 * 1024;

/** What the link remembers over restarts. Losing it costs one failed attempt, and a needless message or two. */
export interface LinkMemory {
  /** The path of the last connection; null: none. */
  path(): LinkPath | null;
  /** Filters that the session at the broker may have. */
  filters(): readonly string[];
  /** Writes what has changed. Never rejects: the link works without the file. */
  remember(change: { readonly path?: LinkPath; readonly filters?: readonly string[] }): Promise<void>;
}

export async function openLinkMemory(stateDir: string, log: Log): Promise<LinkMemory> {
  const file = join(stateDir, 'cloud-link.json');
  let { path, filters } = await readMemory(file, log);
  return {
    path: () => path,
    filters: () => filters,
    async remember(change) {
      const [nextPath, nextFilters] = [change.path ?? path, [...new Set(change.filters ?? filters)].sort()];
      if (nextPath === path && nextFilters.join('\n') === filters.join('\n')) return;
      [path, filters] = [nextPath, nextFilters];
      await replaceFile(file, `${JSON.stringify({ format: FORMAT, path, filters })}\n`).catch((error: unknown) =>
        log.warn({ error: String(error), file }, 'the state of the cloud link cannot be written'),
      );
    },
  };
}

async function readMemory(file: string, log: Log): Promise<{ path: LinkPath | null; filters: readonly string[] }> {
  const none = { path: null, filters: [] };
  let bytes: Uint8Array;
  try {
    bytes = await readWhole(file, MAX_BYTES);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') {
      log.warn({ error: String(error), file }, 'the state of the cloud link cannot be read');
    }
    return none;
  }
  const reading = readJsonBytes(bytes, 'file');
  const value = reading.ok && isRecord(reading.value) && reading.value.format === FORMAT ? reading.value : null;
  if (value === null) {
    log.warn({ file }, 'the state of the cloud link cannot be read');
    return none;
  }
  const { path, filters } = value;
  return {
    path: path === 'direct' || path === 'fallback' ? path : null,
    filters: Array.isArray(filters) ? filters.filter((filter) => typeof filter === 'string') : [],
  };
}
