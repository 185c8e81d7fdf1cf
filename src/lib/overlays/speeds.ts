import { isRecord } from '../json/index.ts';
import type { WrittenProperty } from './model.ts';

const none: readonly WrittenProperty[] = [];

/** Candidates only: which of these names is a limit, and in which unit, is unknown (OFFEN). */
export function isSpeedName(name: string): boolean {
  return /speed|velocity|limit/i.test(name);
}

/**
 * The speed candidates of a property: itself by its name, or members one level inside it. Inside a property with a
 * speed name every member counts.
 */
export function speedsIn(name: string, value: unknown, isSpeed = isSpeedName(name)): readonly WrittenProperty[] {
  let inside: WrittenProperty[] | null = null;
  if (typeof value === 'object' && value !== null) {
    for (const item of Array.isArray(value) ? value : [value]) {
      if (!isRecord(item)) continue;
      for (const key in item) {
        if (!isSpeed && !isSpeedName(key)) continue;
        inside ??= [];
        inside.push({ path: `${name}.${key}`, value: item[key] });
      }
    }
  }
  return inside ?? (isSpeed ? [{ path: name, value }] : none);
}
