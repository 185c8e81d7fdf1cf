import type { Mark } from '../../evidence/index.ts';
import { distanceToM } from '../geometry.ts';
import type { ChargerPair, CodeBook, Drawing, DrawingKind, OverlayFinding, Place } from '../model.ts';

/** What a person can ask for: a kind by geometry, or the items of charging stations. */
export const selectableKinds = ['point', 'zone', 'lane', 'charger', 'other'] as const;
export type SelectableKind = DrawingKind | 'charger';

/** Drawings must pass every filter that is set. */
export interface DrawingFilter {
  readonly kinds?: readonly SelectableKind[] | undefined;
  /** Drawings with a code whose meaning is known that well. A code that is no number has a meaning nobody knows. */
  readonly mark?: Mark | undefined;
  /** Drawings that reach into this circle; a zone around it does. Drawings without a place are left out. */
  readonly near?: { readonly at: Place; readonly radiusM: number } | undefined;
  /** Drawings that a finding is about. */
  readonly withFindings?: boolean | undefined;
}

export interface SelectionContext {
  readonly codeBook: CodeBook;
  readonly pairs: readonly ChargerPair[];
  readonly findings: readonly OverlayFinding[];
}

export function isFiltering({ kinds, mark, near, withFindings }: DrawingFilter): boolean {
  return kinds !== undefined || mark !== undefined || near !== undefined || withFindings === true;
}

/** The drawings that pass, in their order. */
export function selectDrawings(
  drawings: readonly Drawing[],
  filter: DrawingFilter,
  { codeBook, pairs, findings }: SelectionContext,
): readonly Drawing[] {
  if (!isFiltering(filter)) return drawings;
  const { kinds, mark, near, withFindings } = filter;
  const chargers = kinds?.includes('charger') ? itemsOf(pairs) : null;
  const faulty = withFindings === true ? new Set(findings.flatMap((finding) => finding.drawings)) : null;
  return drawings.filter(
    (drawing) =>
      (faulty === null || faulty.has(drawing.index)) &&
      (kinds === undefined || kinds.includes(drawing.kind) || chargers?.has(drawing.index) === true) &&
      (mark === undefined || hasMark(drawing, mark, codeBook)) &&
      (near === undefined || isNear(drawing, near)),
  );
}

/** The findings about these drawings. Those about the map as a whole belong to no selection. */
export function selectFindings(
  findings: readonly OverlayFinding[],
  selected: readonly Drawing[],
): readonly OverlayFinding[] {
  const indices = new Set(selected.map(({ index }) => index));
  return findings.filter((finding) => finding.drawings.some((index) => indices.has(index)));
}

/** Both items of every charging station, and items without a partner. */
function itemsOf(pairs: readonly ChargerPair[]): ReadonlySet<number> {
  return new Set(
    pairs.flatMap(({ charger, dockingPoint }) => [charger, dockingPoint].filter((index) => index !== null)),
  );
}

function hasMark({ codes }: Drawing, mark: Mark, codeBook: CodeBook): boolean {
  return codes.some(({ field, number }) => (number === null ? 'OFFEN' : codeBook.meaning(field, number).mark) === mark);
}

function isNear({ shape }: Drawing, { at, radiusM }: { readonly at: Place; readonly radiusM: number }): boolean {
  const far = distanceToM(at, shape);
  return far !== null && far <= radiusM;
}
