import { isDeepStrictEqual } from 'node:util';
import { isRecord } from '../../json/index.ts';

export type State = Readonly<Record<string, unknown>>;

/**
 * A state as a shadow can hold it: `null` deletes a key there, so keys without a value, and numbers that JSON does not
 * have, are left out.
 */
export function shadowState(state: State): State {
  return Object.fromEntries(
    Object.entries(state).flatMap(([key, value]): [string, unknown][] => {
      if (value === null || value === undefined || (typeof value === 'number' && !Number.isFinite(value))) return [];
      return [[key, isRecord(value) ? shadowState(value) : value]];
    }),
  );
}

/** The changed keys, `null` for removed ones; null when the states are the same. */
export function changesOf(from: State, to: State): State | null {
  const changes: [string, unknown][] = [];
  for (const key of Object.keys(from)) if (!Object.hasOwn(to, key)) changes.push([key, null]);
  for (const [key, value] of Object.entries(to)) {
    const before = Object.hasOwn(from, key) ? from[key] : undefined;
    if (isRecord(before) && isRecord(value)) {
      const inner = changesOf(before, value);
      if (inner !== null) changes.push([key, inner]);
    } else if (!isDeepStrictEqual(before, value)) changes.push([key, value]);
  }
  return changes.length === 0 ? null : Object.fromEntries(changes);
}

/** The whole state, and `null` for each key of an earlier one that it does not have any more. */
export function wholeState(from: State, to: State): State {
  const removed = Object.keys(from).filter((key) => !Object.hasOwn(to, key));
  return {
    ...Object.fromEntries(removed.map((key) => [key, null])),
    ...Object.fromEntries(
      Object.entries(to).map(([key, value]) => {
        const before = Object.hasOwn(from, key) ? from[key] : undefined;
        return [key, isRecord(before) && isRecord(value) ? wholeState(before, value) : value];
      }),
    ),
  };
}
