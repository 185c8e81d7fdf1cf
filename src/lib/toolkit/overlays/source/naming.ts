import type { Overlays } from '../../../overlays/index.ts';
import type { OpenedMap } from './model.ts';

/** Identity and versions of a map object. `id`: the requested id, used where the map object has none. */
export function mapOf({ map }: Overlays, id: number | null): OpenedMap | null {
  if (map === null) return null;
  const at = (key: string) => (Object.hasOwn(map, key) ? map[key] : undefined);
  const text = (value: unknown) => (typeof value === 'string' && value !== '' ? value : null);
  const whole = (value: unknown) => (Number.isSafeInteger(value) ? (value as number) : null);
  return {
    id: whole(at('id')) ?? id,
    uid: text(at('uid')),
    name: text(at('map_name')),
    mapVersion: whole(at('map_version')),
    overlaysVersion: whole(at('overlays_version')),
  };
}

/** The available names, in a sentence. */
export function listed(names: readonly string[]): string {
  const shown = names.slice(0, 8).join(', ');
  return names.length > 8 ? `${shown} and ${names.length - 8} more` : shown === '' ? 'none' : shown;
}
