import chalk from 'chalk';
import { pluralWord } from '../../../lib/text/index.ts';
import type { OverlaysInspect } from '../../../lib/toolkit/overlays/inspect.result.ts';
import { type Column, renderTable, right } from '../../output.ts';
import { colourMark, type Evidence, open } from '../mark.ts';
import type { View } from './kinds.ts';
import { counted, cut, figure, MAX_ROWS, meaningText, moreText, title } from './words.ts';

type Data = OverlaysInspect;
type Pair = Data['chargers']['pairs'][number];

const MAX_NUMBERS = 100;
const byVendor: Evidence = { mark: 'HINWEIS', basis: 'vendor' };
const measured: Evidence = { mark: 'BELEGT', basis: 'measured' };

export function chargerLines({ data, featureAt, isComplete }: View): string[] {
  const { pairs, measuredOnce } = data.chargers;
  const isShown = (index: number | null) => index !== null && featureAt.has(index);
  const about = pairs.filter(({ charger, dockingPoint }) => isShown(charger) || isShown(dockingPoint));
  if (about.length === 0) return [];
  const shown = isComplete ? about : about.slice(0, MAX_ROWS);
  const metres = data.fields.distanceM ?? open;
  const itemText = (index: number | null) => {
    if (index === null) return chalk.yellow('missing');
    const name = featureAt.get(index)?.name;
    return name == null ? `#${index}` : `#${index} ${cut(name, 28)}`;
  };
  const rows = shown.map((pair) => [
    itemText(pair.charger),
    itemText(pair.dockingPoint),
    referenceText(pair),
    pair.distanceM === null ? '--' : figure(pair.distanceM, 3),
  ]);
  const columns: Column[] = ['charger', 'docking point', 'reference', right('distance in the overlays m')];
  const whole = about.filter(({ charger, dockingPoint }) => charger !== null && dockingPoint !== null).length;
  const incomplete = about.length - whole;
  const counts = incomplete === 0 ? String(whole) : `${whole}, ${incomplete} incomplete`;
  const lines = [
    `${title(`Charging stations (${counts})`)}: pairing is ${colourMark(byVendor)}, metres ${colourMark(metres)}`,
    renderTable(columns, rows),
    `One pair was measured, four times: ${measuredOnce.value} ${measuredOnce.unit ?? ''} (${colourMark(measuredOnce)}). Whether it applies to others is unknown (${colourMark(open)} overlays.charging-pair-distance-constant).`,
  ];
  if (shown.length < about.length) lines.push(moreText(about.length - shown.length, '--all, --json'));
  return lines;
}

/** The side with the reference; for an item without a partner the id that it refers to. */
function referenceText({ charger, linkedBy, chargerReference, dockingPointReference }: Pair): string {
  switch (linkedBy) {
    case 'both':
      return 'on both';
    case 'charger':
      return 'on the charger';
    case 'docking-point':
      return 'on the docking point';
    default: {
      const to = charger === null ? dockingPointReference : chargerReference;
      const reference = to === null ? 'none' : `to ${cut(to, 36)}`;
      return chalk.yellow(linkedBy === 'not-decided' ? `not decided: ${reference}` : reference);
    }
  }
}

export function codeLines({ data, isComplete }: View): string[] {
  const used = new Set(data.features.flatMap(({ codes }) => codes.map(({ field, number }) => `${field} ${number}`)));
  const codes = data.codes.filter(({ field, number }) => used.has(`${field} ${number}`));
  if (codes.length === 0) return [];
  const shown = isComplete ? codes : codes.slice(0, MAX_NUMBERS);
  const columns: Column[] = ['number', right('features'), 'mark', 'read as', 'source', 'fact'];
  const rows = shown.flatMap(({ field, number, count, readings, disagreement }) => {
    const head = [`${field} ${number ?? '(not a whole number)'}`, String(count)];
    if (readings.length === 0) return [[...head, colourMark(open), 'unknown', '', '']];
    const lines = readings.map(({ meaning, source, fact, here, ...markAndBasis }, at) => [
      ...(at === 0 ? head : ['', '']),
      colourMark(markAndBasis),
      meaningText(meaning, readings),
      here === null ? source : `${here.verdict} here by ${cut(here.who, 30)}, ${here.when}; ${source}`,
      fact,
    ]);
    return disagreement === null ? lines : [...lines, ['', '', '', '', chalk.dim('readings disagree:'), disagreement]];
  });
  const lines = [`${title(`Numbers (${codes.length})`)}: every reading; features counted on the whole map`];
  lines.push(renderTable(columns, rows));
  if (shown.length < codes.length) lines.push(moreText(codes.length - shown.length, '--all, --json'));
  return lines;
}

export function iconLines({ icons, filter }: Data): string[] {
  if (icons.withBoth === 0 || filter !== null) return [];
  const { withBoth, withOffset, offsetDeg } = icons;
  return [
    `${title('Icons')}: ${withOffset} of ${counted(withBoth, 'feature')} with both angles ${pluralWord(withOffset, 'has its', 'have their')} iconYaw ${offsetDeg} degrees from yaw: reproducible (${colourMark(measured)}), unexplained (${colourMark(open)}).`,
  ];
}

export function carriedLines({ data, isComplete }: View): string[] {
  const { members, more } = data.carried;
  if (members.length === 0 || data.filter !== null) return [];
  const shown = isComplete ? members : members.slice(0, MAX_ROWS);
  const rows = shown.map(({ name, in: where, count, types }) => [
    cut(name, 40),
    where,
    String(count),
    types.join(', '),
  ]);
  const columns: Column[] = ['name', 'in', right('features'), 'written as'];
  const lines = [
    `${title(`Carried through (${members.length + more})`)}: not interpreted and not changed by gw`,
    renderTable(columns, rows),
  ];
  const left = members.length - shown.length + more;
  if (left > 0) lines.push(moreText(left, '--all, --json'));
  return lines;
}
