import { join } from 'node:path';
import { z } from 'zod';
import { asGwError } from '../../error/index.ts';
import { type StateFiles, stateFiles } from '../../json/index.ts';
import type { Log } from '../../lifecycle/index.ts';
import type { LinkPath } from './model.ts';

const FILE = 'cloud-link.json';
const FORMAT = 'gw/cloud-link/1';

const linkFile = z.object({
  format: z.literal(FORMAT),
  path: z.enum(['direct', 'fallback']).nullable().catch(null),
  filters: z.array(z.string()).readonly().catch([]),
});
type Remembered = Readonly<Omit<z.infer<typeof linkFile>, 'format'>>;

/** What the link remembers over restarts. Losing it costs one failed attempt, and a needless message or two. */
export interface LinkMemory {
  /** The path of the last connection; null: none. */
  path(): LinkPath | null;
  /** Filters that the session at the broker may have. */
  filters(): readonly string[];
  /** Changes it at once. Resolves when the change is written or could not be; never rejects. */
  remember(change: Partial<Remembered>): Promise<void>;
  /** Resolves when everything is written, or could not be. */
  settled(): Promise<void>;
}

/** `loaded` resolves when the file has been read, or could not be; what is remembered before goes before its content. */
export function openLinkMemory(
  stateDir: string,
  log: Log,
  { read, write }: StateFiles = stateFiles,
): { readonly memory: LinkMemory; readonly loaded: Promise<void> } {
  const file = join(stateDir, FILE);
  let current: Remembered = { path: null, filters: [] };
  let isChanged = false;
  let written = Promise.resolve();

  async function load(): Promise<void> {
    try {
      const stored = await read(file, linkFile);
      if (stored === null) return;
      // Filters of the session are unsubscribed, so none of them may be lost.
      current = isChanged
        ? { path: current.path ?? stored.path, filters: sorted([...stored.filters, ...current.filters]) }
        : stored;
    } catch (error) {
      log.warn({ error: asGwError(error).message, file }, 'the state of the cloud link cannot be read');
    }
  }

  return {
    memory: {
      path: () => current.path,
      filters: () => current.filters,
      remember(change) {
        const next = { path: change.path ?? current.path, filters: sorted(change.filters ?? current.filters) };
        if (next.path === current.path && next.filters.join('\n') === current.filters.join('\n')) return written;
        current = next;
        isChanged = true;
        written = written
          // The last state, however many changes have waited.
          .then(() => write(file, { format: FORMAT, ...current }))
          .catch((error: unknown) =>
            log.warn({ error: asGwError(error).message, file }, 'the state of the cloud link cannot be written'),
          );
        return written;
      },
      settled: () => written,
    },
    loaded: load(),
  };
}

function sorted(filters: readonly string[]): readonly string[] {
  return [...new Set(filters)].sort();
}
