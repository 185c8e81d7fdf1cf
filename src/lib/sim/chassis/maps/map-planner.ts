import { createPlanner, type Planner } from '../floor/plan.ts';
import { type FloorMap, gridForPlanning } from './map-store.ts';

/** Returns the planner for the current map, made once for each map; undefined while none is set. */
export function createMapPlanner(current: () => FloorMap | undefined): () => Planner | undefined {
  let known: { readonly map: FloorMap; readonly planner: Planner } | undefined;

  return () => {
    const map = current();
    if (!map) return undefined;
    if (known?.map !== map) known = { map, planner: createPlanner(gridForPlanning(map)) };
    return known.planner;
  };
}
