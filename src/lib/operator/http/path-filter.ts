import { isAbsolute } from 'node:path';
import type { Site } from '../../site/index.ts';

/** Files outside the folders of the site file, such as those of the installation and of the operating system. */
const SYSTEM_PATH =
  /(?<![\w.:/-])\/(?:bin|boot|dev|etc|home|lib\w*|media|mnt|opt|proc|root|run|sbin|srv|sys|tmp|usr|var)(?:\/[^\s/'"`,;:()<>&]+)*\/([^\s/'"`,;:()<>&]+)/g;

/**
 * Returns a function that replaces the absolute paths in all texts of plain data: a file or folder of the site file by
 * its key, any other by its name. Without sign-in the folders of a gateway are of no use but to an attacker.
 */
export function createPathFilter(site: Site): <T>(data: T) => T {
  const keys = new Map<string, string>();
  const add = (value: unknown, key: string): void => {
    if (typeof value === 'string') {
      if (isAbsolute(value) && value !== '/') keys.set(value, key);
    } else if (typeof value === 'object' && value !== null) {
      for (const [name, inner] of Object.entries(value)) add(inner, key === '' ? name : `${key}.${name}`);
    }
  };
  add(site, '');
  keys.set(site.path, 'site file');
  if (site.dir !== '/') keys.set(site.dir, '.');
  // The longest first: most of them lie in the folder of the site file.
  const paths = [...keys.keys()]
    .toSorted((a, b) => b.length - a.length)
    .map((path) => path.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  const known = new RegExp(`(?<![\\w.-])(?:${paths.join('|')})(?![\\w-])`, 'g');
  const clean = (text: string) =>
    text.includes('/') ? text.replace(known, (path) => keys.get(path) ?? '').replace(SYSTEM_PATH, '$1') : text;

  function filter(data: unknown): unknown {
    if (typeof data === 'string') return clean(data);
    if (Array.isArray(data)) return data.map(filter);
    if (typeof data !== 'object' || data === null) return data;
    return Object.fromEntries(Object.entries(data).map(([key, value]) => [key, filter(value)]));
  }
  return filter as <T>(data: T) => T;
}
