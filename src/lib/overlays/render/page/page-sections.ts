import { factById } from '../../../evidence/index.ts';
import { type Markup, markup, type Part } from '../../../markup/index.ts';
import { knownOf } from '../../known.ts';
import type { Inspection, KnownRow, OverlayFinding } from '../../model.ts';
import { figure, oneLine } from '../lines.ts';
import { numbersOf } from './census.ts';
import {
  type Column,
  english,
  hereText,
  link,
  MAX_ROWS,
  markWord,
  more,
  nameMarkup,
  prose,
  readingItem,
  section,
  table,
} from './page-tables.ts';
import type { PageTexts } from './texts/catalogue.ts';

const MAX_FINDINGS = 1000;
const MAX_LINKS = 12;

/** `rows`: the features with a row on this page, to which findings link. */
export function findingsSection(inspection: Inspection, rows: ReadonlySet<number>, t: PageTexts): Markup {
  const { findings } = inspection;
  const shown = findings.slice(0, MAX_FINDINGS);
  const names = namesOf(inspection);
  const columns: readonly Column<OverlayFinding>[] = [
    {
      head: t.head.severity,
      cell: ({ severity }) => markup`<span class="s ${severity}">${t.severity[severity]}</span>`,
    },
    {
      head: t.head.finding,
      cell: ({ detail, rule }) => markup`${english(prose(detail), t)}<br/><small><code>${rule}</code></small>`,
    },
    { head: t.head.features, cell: ({ features }) => links(features, names, rows, t) },
    { head: t.head.remedy, cell: ({ remedy }) => english(prose(remedy), t) },
    {
      head: t.head.reliesOn,
      isTight: true,
      cell: ({ mark, basis }) =>
        mark === null || basis === null ? markup`<small>${t.jsonText}</small>` : markWord({ mark, basis }, t),
    },
  ];
  return section('findings', t.title.findings, t.count.findings(findings.length), [
    findings.length === 0 ? markup`<p>${t.noFindingsHere}</p>` : table(columns, shown),
    more(findings.length - shown.length, 'findings', 'json', t),
  ]);
}

function namesOf({ overlays }: Inspection): ReadonlyMap<number, string> {
  return new Map(overlays.features.flatMap(({ index, name }) => (name === null ? [] : [[index, name] as const])));
}

function links(
  features: readonly number[],
  names: ReadonlyMap<number, string>,
  rows: ReadonlySet<number>,
  t: PageTexts,
): Part {
  if (features.length === 0) return markup`<small>${t.wholeMap}</small>`;
  const shown = features.slice(0, MAX_LINKS).map((index, at) => {
    const name = names.get(index);
    return markup`${at > 0 ? ', ' : null}${link('d', index, rows)}${name === undefined ? null : markup` ${nameMarkup(name, 24)}`}`;
  });
  return features.length > MAX_LINKS
    ? [shown, markup` <small>${t.andMore(features.length - MAX_LINKS)}</small>`]
    : shown;
}

/** `shapes`: the features with an anchor on the map. */
export function pairsSection(inspection: Inspection, shapes: ReadonlySet<number>, t: PageTexts): Markup {
  const { pairs } = inspection;
  const names = namesOf(inspection);
  const measured = factById('overlays.charging-pair-distance');
  const constant = factById('overlays.charging-pair-distance-constant');
  const name = (index: number | null) => {
    if (index === null) return markup`<span class="s wrong">${t.missing}</span>`;
    const text = names.get(index);
    return markup`${link('m', index, shapes)}${text === undefined ? null : markup` ${nameMarkup(text, 40)}`}`;
  };
  const columns: readonly Column<(typeof pairs)[number]>[] = [
    { head: t.head.charger, cell: ({ charger }) => name(charger) },
    { head: t.head.dockingPoint, short: t.head.dock, cell: ({ dockingPoint }) => name(dockingPoint) },
    {
      head: markup`${t.head.byOf[0] ?? ''}<code>dockingPointId</code>${t.head.byOf[1] ?? ''}`,
      short: t.head.by,
      cell: (pair) => referenceCell(pair, t),
    },
    {
      head: t.head.distanceHere,
      short: t.head.distance,
      isNumber: true,
      cell: ({ distanceM }) =>
        distanceM === null ? markup`<small>${t.notMeasured}</small>` : `${figure(distanceM, 3)} m`,
    },
  ];
  const whole = pairs.filter(({ charger, dockingPoint }) => charger !== null && dockingPoint !== null).length;
  const incomplete = pairs.length - whole;
  return section('chargers', t.title.chargers, t.count.pairs(whole, incomplete), [
    pairs.length === 0 ? markup`<p>${t.noPairs}</p>` : table(columns, pairs.slice(0, MAX_ROWS)),
    more(pairs.length - MAX_ROWS, 'rows', 'json', t),
    markup`<p>${markWord(measured, t)} ${english(prose(measured.statement), t)} ${markWord(constant, t)} ${english(prose(constant.statement), t)} ${t.belong[0] ?? ''}<code>dockingPointId</code>${t.belong[1] ?? ''}${markWord(factById('vendor.overlays.charger-partner'), t)}.</p>`,
  ]);
}

/** The side with the reference; for an item without a partner the id that it refers to. */
function referenceCell(
  { charger, linkedBy, chargerReference, dockingPointReference }: Inspection['pairs'][number],
  t: PageTexts,
): Part {
  const refersTo = charger === null ? dockingPointReference : chargerReference;
  if (linkedBy !== null && linkedBy !== 'not-decided') return t.linkedBy[linkedBy];
  const id =
    refersTo === null ? markup`<small>${t.nothing}</small>` : markup`<span class="id">${oneLine(refersTo, 80)}</span>`;
  return linkedBy === null ? id : markup`${id}<br/><small>${t.linkedBy[linkedBy]}</small>`;
}

export function numbersSection(inspection: Inspection, t: PageTexts): Markup {
  const numbers = numbersOf(inspection);
  const columns: readonly Column<(typeof numbers)[number]>[] = [
    {
      head: t.head.number,
      cell: ({ meaning }) => markup`<code>${meaning.field}</code> <strong>${meaning.number}</strong>`,
    },
    { head: t.head.features, isNumber: true, cell: ({ count }) => count },
    { head: t.head.overallMark, isTight: true, cell: ({ meaning }) => markWord(meaning, t) },
    {
      head: t.head.everyReading,
      short: t.head.readings,
      cell: ({ meaning }) =>
        markup`<ul>${meaning.readings.map((reading) => readingItem(reading, t))}</ul>${meaning.disagreement === null ? null : markup`<small>${t.disagree} <code>${meaning.disagreement}</code></small>`}`,
    },
  ];
  return section('numbers', t.title.numbers, t.count.numbers(numbers.length), [
    numbers.length === 0 ? markup`<p>${t.noNumbers}</p>` : table(columns, numbers.slice(0, MAX_ROWS)),
    more(numbers.length - MAX_ROWS, 'numbers', 'json', t),
  ]);
}

export function carriedSection({ survey }: Inspection, t: PageTexts): Markup | null {
  if (survey.carried.length === 0) return null;
  const columns: readonly Column<(typeof survey.carried)[number]>[] = [
    { head: t.head.member, cell: ({ name }) => markup`<code>${oneLine(name, 80)}</code>` },
    { head: t.head.of, cell: (member) => t.where[member.in] },
    { head: t.head.times, isNumber: true, cell: ({ count }) => count },
    { head: t.head.types, cell: ({ types }) => types.join(', ') },
  ];
  return section('carried', t.title.carried, t.count.carried(survey.carried.length), [
    markup`<p>${t.carriedText}</p>`,
    table(columns, survey.carried),
    more(survey.carriedMore, 'members', 'json', t),
  ]);
}

export function knownSections(inspection: Inspection, t: PageTexts): readonly Markup[] {
  const rows = knownOf(inspection);
  const columns: readonly Column<KnownRow>[] = [
    { head: t.head.mark, isTight: true, cell: (row) => markWord(row, t) },
    {
      head: t.head.statement,
      cell: ({ statement, source, fact, here }) =>
        markup`${english(prose(statement), t)}${hereText(here, t)}<br/><small>${english(source, t)}, <code>${fact}</code></small>`,
    },
    { head: t.head.onThisMap, cell: ({ found }) => english(prose(found), t) },
  ];
  const of = (group: KnownRow['group']) => rows.filter((row) => row.group === group);
  return [
    section('unknown', t.title.unknown, t.count.unknown(of('not-shown').length), [table(columns, of('not-shown'))]),
    section('known', t.title.known, t.count.known(of('known').length), [table(columns, of('known'))]),
  ];
}
