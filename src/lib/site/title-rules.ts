import type { Report } from '../document/index.ts';
import { isRecord } from '../json/index.ts';
import { type Title, titleForms, titleMark } from '../text/index.ts';

const sections = [
  ['stations', 'station'],
  ['tours', 'tour'],
  ['maps', 'map'],
] as const;

/**
 * No two stations, tours or maps with one name, in any language: a robot must never go to the wrong 'Zimmer 204'. An entry
 * without title is shown by its key, and a command names every one by its key: no title is the key of another one.
 */
export function checkTitles(file: Record<string, unknown>, report: Report): void {
  for (const [section, what] of sections) {
    const entries = file[section];
    if (!isRecord(entries)) continue;
    const owners = new Map<string, string>();
    for (const [key, entry] of Object.entries(entries)) {
      const title = isRecord(entry) ? entry.title : undefined;
      for (const form of [...formsOf(title), key]) {
        const mark = titleMark(form);
        const owner = owners.get(mark);
        owners.set(mark, owner ?? key);
        if (owner === undefined || owner === key) continue;
        report([section, key, ...(title === undefined ? [] : ['title'])], {
          expected: `a name that no other ${what} has: people cannot distinguish it from ${section}.${owner}`,
        });
        break;
      }
    }
  }
}

/** Of a file that may be invalid elsewhere. */
function formsOf(title: unknown): readonly string[] {
  if (typeof title === 'string') return [title];
  const { de, en } = isRecord(title) ? title : {};
  return [de, en].filter((form) => typeof form === 'string');
}

/** Every name by which people may know this entry. */
export function namesOf(key: string, { title }: { readonly title?: Title | undefined }): readonly string[] {
  return [...(title === undefined ? [] : titleForms(title)), key].map(titleMark);
}

/** The title of an entry as a member of an object, which is absent without one. */
export function titleOf(entry: { readonly title?: Title | undefined } | undefined): { readonly title?: Title } {
  return entry?.title === undefined ? {} : { title: entry.title };
}
