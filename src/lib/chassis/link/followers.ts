import { asGwError } from '../../error/index.ts';
import type { Log } from '../../lifecycle/index.ts';
import type { ChassisPart } from '../model.ts';

/** Who follows the link, each with the parts that concern it; a change of the connection concerns all. */
export function createFollowers(log: Log) {
  const followers = new Set<{ readonly listener: () => void; readonly parts: readonly ChassisPart[] | undefined }>();
  return {
    notify(changed: readonly ChassisPart[]): void {
      if (changed.length === 0) return;
      for (const { listener, parts } of [...followers]) {
        const isConcerned = parts === undefined || changed.some((part) => part === 'link' || parts.includes(part));
        if (!isConcerned) continue;
        try {
          listener();
        } catch (error) {
          log.error({ err: asGwError(error).message }, 'a listener of the chassis link failed');
        }
      }
    },
    subscribe(listener: () => void, parts?: readonly ChassisPart[]): Disposable {
      // An entry of its own, so that the same listener may be given twice.
      const entry = { listener, parts };
      followers.add(entry);
      return { [Symbol.dispose]: () => void followers.delete(entry) };
    },
  };
}
