import { markText } from '../../evidence/index.ts';
import { quote } from '../../json/index.ts';
import { drawingAt, type RuleInput } from './input.ts';
import { createReader } from './reading.ts';
import { naming, namingAll } from './wording.ts';

/** Chargers and docking points that do not make pairs. */
export function findChargerFaults({ overlays: { drawings }, points, codeBook, pairs, report }: RuleInput): void {
  const chargersOf = new Map<number, number[]>();
  for (const { charger, dockingPoint, named } of pairs) {
    if (dockingPoint !== null) {
      const chargers = chargersOf.get(dockingPoint);
      if (chargers === undefined) chargersOf.set(dockingPoint, [charger]);
      else chargers.push(charger);
      continue;
    }
    report('charger-without-partner', [charger], () => {
      const what = namingAll(drawings, [charger]);
      return named === null
        ? `${what} is taken for a charger and names no docking point.`
        : `${what} names the docking point ${quote(named)}, which is not to be found among the drawings.`;
    });
  }
  for (const [dockingPoint, chargers] of chargersOf) {
    if (chargers.length < 2) continue;
    const all = [...chargers, dockingPoint].sort((a, b) => a - b);
    report('docking-point-shared', all, () => {
      const point = drawingAt(drawings, dockingPoint);
      const what = point === undefined ? `#${dockingPoint}` : naming(point);
      return `${chargers.length} chargers name ${what}: ${namingAll(drawings, chargers)}.`;
    });
  }
  const dockingPoint = createReader(codeBook, /^docking point$/i);
  for (const drawing of points) {
    const read = dockingPoint(drawing.code);
    if (read === null || chargersOf.has(drawing.index)) continue;
    report(
      'docking-point-without-charger',
      [drawing.index],
      () =>
        `${naming(drawing)} is of type ${read.number}, '${read.meaning}' (${markText(read)}), and no charger names it.`,
    );
  }
}
