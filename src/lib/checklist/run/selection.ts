import { nearest } from '../../document/index.ts';
import { GwError } from '../../error/index.ts';
import { type Checklist, readBy, type Step } from '../file/step.ts';

/** Requested steps: ids of steps and sections (--only, --from). */
export interface Wanted {
  readonly only: readonly string[];
  readonly from: string | null;
}

export interface Selection {
  /** Steps requested by id: their earlier acceptance is discarded. */
  readonly named: ReadonlySet<string>;
  /** Steps of this session: the requested ones and what they need or read. */
  readonly chosen: ReadonlySet<string>;
  /** Steps that run again although they have a result: the requested ones, what they read, and what reads them. */
  readonly again: ReadonlySet<string>;
}

/** Throws STEP_UNKNOWN. Without a request every step is chosen, and none runs again. */
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
  // A requested reading needs a new run of the check it reads.
  for (const step of steps) {
    const source = readBy(step);
    if (source !== null && wanted.has(step.id)) wanted.add(source);
  }
  const readers = steps.filter((step) => step.kind === 'run' && step.reads !== null && wanted.has(step.reads));
  const again = new Set([...wanted, ...readers.map(({ id }) => id)]);
  // Needed steps come earlier, so one pass from the end finds all of them.
  const chosen = new Set(again);
  for (const step of steps.toReversed()) {
    if (!chosen.has(step.id)) continue;
    for (const { steps: needed } of step.requires) for (const id of needed) chosen.add(id);
    const source = readBy(step);
    if (source !== null) chosen.add(source);
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
  throw new GwError('STEP_UNKNOWN', `Checklist '${name}' has no step or section '${id}'.${guess}`, {
    remedy: `List the ids with \`gw checklist show ${name}\`.`,
  });
}
