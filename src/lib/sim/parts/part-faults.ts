import type { Cloud } from '../cloud/cloud.ts';
import type { FaultName } from '../faults.ts';
import type { Neighbours } from '../fleet/neighbours.ts';
import type { Tablet } from '../tablet/index.ts';

/** The started parts that have to know of changed faults. */
export interface FaultyParts {
  neighbours: Neighbours | null;
  cloud: Cloud | null;
  tablet: Tablet | null;
}

/** Passes changes of faults to the parts that are started by then. */
export function createPartFaults(parts: Readonly<FaultyParts>) {
  let settled: Promise<unknown> = Promise.resolve();

  return {
    apply(name: FaultName, on: boolean): void {
      parts.neighbours?.applyFault(name, on);
      const applied = Promise.all([parts.cloud?.applyFault(name, on), parts.tablet?.applyFault(name, on)]);
      settled = Promise.allSettled([settled]).then(() => applied);
      // `settled` reports a failure; it must not become an unhandled rejection.
      for (const promise of [applied, settled]) promise.catch(() => {});
    },
    /** Resolves when the last change is in effect; rejects when it failed. */
    settled: async (): Promise<void> => {
      await settled;
    },
  };
}
