import { loadSite, type Site } from '../../site/index.ts';
import { titleAndKey } from '../../text/index.ts';

type Section = 'stations' | 'tours';

/** A station or a tour for a technician: its title and its key, which commands take. */
export function shownName(site: Pick<Site, Section>, section: Section, key: string): string {
  const entries = site[section];
  return titleAndKey(key, Object.hasOwn(entries, key) ? entries[key]?.title : undefined);
}

/** The same by a site file that is not open yet; of one that cannot be read the key alone, since its errors come later. */
export async function nameInFile(path: string, section: Section, key: string): Promise<string> {
  const site = await loadSite(path).catch(() => null);
  return site === null ? key : shownName(site, section, key);
}
