import { isRecord } from '../json/index.ts';
import type { WrittenProperty } from './model.ts';

const none: readonly WrittenProperty[] = [];

/** Which of the names that sound like a speed is a limit, and in which unit, nobody knows. */
export function soundsLikeSpeed(name: string): boolean {
  return /speed|velocity|limit/i.test(name);
}

/**
 * What a property has of speed: itself by its name, or what lies one level inside of it. Inside a property whose name
 * sounds like one, everything counts.
 */
export function speedsIn(name: string, value: unknown, isSpeed = soundsLikeSpeed(name)): readonly WrittenProperty[] {
  let inside: WrittenProperty[] | null = null;
  if (typeof value === 'object' && value !== null) {
    for (const item of Array.isArray(value) ? value : [value]) {
      if (!isRecord(item)) continue;
      for (const key in item) {
        if (!isSpeed && !soundsLikeSpeed(key)) continue;
        inside ??= [];
        inside.push({ path: `${name}.${key}`, value: item[key] });
      }
    }
  }
  return inside ?? (isSpeed ? [{ path: name, value }] : none);
}
