import { nearest } from '../document/index.ts';
import { GwError } from '../error/index.ts';
import type { Checklist, Step } from './load.ts';

/** Which steps a person asked for: ids of steps and sections. */
export interface Wanted {
  readonly only: readonly string[];
  readonly from: string | null;
}

export interface Selection {
  /** Steps that were asked for by name: these are decided anew as well. */
  readonly named: ReadonlySet<string>;
  /** Steps that this sitting takes: what was asked for, and what that needs or reads. */
  readonly chosen: ReadonlySet<string>;
  /** These, what they read, and what reads them: taken again although they have a result. */
  readonly again: ReadonlySet<string>;
}

/** Throws STEP_UNKNOWN. Without any wish every step is chosen, and none again. */
export function selectSteps(checklist: Checklist, { only, from }: Wanted): Selection {
  const { steps } = checklist;
  if (only.length === 0 && from === null)
    return { named: new Set(), chosen: new Set(steps.map(({ id }) => id)), again: new Set() };
  const wanted = new Set<string>();
  for (const id of only) for (const step of heldBy(id, checklist)) wanted.add(step.id);
  if (from !== null) {
    const [first] = heldBy(from, checklist);
    const start = steps.findIndex(({ id }) => id === first?.id);
    for (const step of steps.slice(start)) wanted.add(step.id);
  }
  const named: ReadonlySet<string> = new Set(wanted);
  // Who wants a reading anew wants it measured anew.
  for (const step of steps)
    if (step.kind === 'run' && step.reads !== null && wanted.has(step.id)) wanted.add(step.reads);
  const readers = steps.filter((step) => step.kind === 'run' && step.reads !== null && wanted.has(step.reads));
  const again = new Set([...wanted, ...readers.map(({ id }) => id)]);
  // What a step needs stands further up, so one walk from the end finds all of it.
  const chosen = new Set(again);
  for (const step of steps.toReversed()) {
    if (!chosen.has(step.id)) continue;
    for (const { steps: needed } of step.requires) for (const id of needed) chosen.add(id);
    if (step.kind === 'run' && step.reads !== null) chosen.add(step.reads);
  }
  return { named, chosen, again };
}

/** A step, or all steps of a section. */
function heldBy(id: string, { name, steps, sections }: Checklist): readonly Step[] {
  const held = steps.filter((step) => step.id === id || step.section === id);
  if (held.length > 0) return held;
  const near = nearest(
    id,
    [...steps, ...sections].map((one) => one.id),
  );
  const guess = near === undefined ? '' : ` Did you mean '${near}'?`;
  throw new GwError('STEP_UNKNOWN', `The checklist '${name}' has no step and no section '${id}'.${guess}`, {
    remedy: `\`gw checklist show ${name}\` prints the ids.`,
  });
}
