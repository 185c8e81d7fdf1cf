// packaging/gw.service: the daemon is measured with the settings it gets on a gateway.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export const unit = readFileSync(fileURLToPath(new URL('../packaging/gw.service', import.meta.url)), 'utf8');

/** Settings that change speed and memory; the others are paths of a gateway. */
export const unitEnvironment = Object.fromEntries(
  ['MALLOC_ARENA_MAX', 'UV_THREADPOOL_SIZE'].map((name) => {
    const value = new RegExp(`^Environment=${name}=(.+)$`, 'm').exec(unit)?.[1];
    if (value === undefined) throw new Error(`packaging/gw.service sets no ${name}`);
    return [name, value];
  }),
);
