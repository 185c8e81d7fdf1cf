import { factById } from '../../../evidence/index.ts';
import { type Markup, markup, type Part } from '../../../markup/index.ts';
import { plural } from '../../../text/index.ts';
import { knownOf } from '../../known.ts';
import type { Inspection, KnownRow, OverlayFinding } from '../../model.ts';
import { figure, oneLine } from '../lines.ts';
import { numbersOf } from './census.ts';
import {
  type Column,
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

const MAX_FINDINGS = 1000;
const MAX_LINKS = 12;

/** `rows`: the features with a row on this page, to which findings link. */
export function findingsSection(inspection: Inspection, rows: ReadonlySet<number>): Markup {
  const { findings } = inspection;
  const shown = findings.slice(0, MAX_FINDINGS);
  const names = namesOf(inspection);
  const columns: readonly Column<OverlayFinding>[] = [
    {
      head: 'Severity',
      cell: ({ severity }) => markup`<span class="s ${severity}">${severity}</span>`,
    },
    {
      head: 'Finding',
      cell: ({ detail, rule }) => markup`${prose(detail)}<br/><small><code>${rule}</code></small>`,
    },
    { head: 'Features', cell: ({ features }) => links(features, names, rows) },
    { head: 'Remedy', cell: ({ remedy }) => prose(remedy) },
    {
      head: 'Relies on',
      isTight: true,
      cell: ({ mark, basis }) =>
        mark === null || basis === null ? markup`<small>the JSON text</small>` : markWord({ mark, basis }),
    },
  ];
  return section('findings', 'Findings', plural(findings.length, 'finding'), [
    findings.length === 0 ? markup`<p>No findings.</p>` : table(columns, shown),
    more(findings.length - shown.length, 'findings', 'json'),
  ]);
}

function namesOf({ overlays }: Inspection): ReadonlyMap<number, string> {
  return new Map(overlays.features.flatMap(({ index, name }) => (name === null ? [] : [[index, name] as const])));
}

function links(features: readonly number[], names: ReadonlyMap<number, string>, rows: ReadonlySet<number>): Part {
  if (features.length === 0) return markup`<small>the map as a whole</small>`;
  const shown = features.slice(0, MAX_LINKS).map((index, at) => {
    const name = names.get(index);
    return markup`${at > 0 ? ', ' : null}${link('d', index, rows)}${name === undefined ? null : markup` ${nameMarkup(name, 24)}`}`;
  });
  return features.length > MAX_LINKS ? [shown, markup` <small>and ${features.length - MAX_LINKS} more</small>`] : shown;
}

/** `shapes`: the features with an anchor on the map. */
export function pairsSection(inspection: Inspection, shapes: ReadonlySet<number>): Markup {
  const { pairs } = inspection;
  const names = namesOf(inspection);
  const measured = factById('overlays.charging-pair-distance');
  const constant = factById('overlays.charging-pair-distance-constant');
  const name = (index: number | null) => {
    if (index === null) return markup`<span class="s wrong">missing</span>`;
    const text = names.get(index);
    return markup`${link('m', index, shapes)}${text === undefined ? null : markup` ${nameMarkup(text, 40)}`}`;
  };
  const columns: readonly Column<(typeof pairs)[number]>[] = [
    { head: 'Charger', cell: ({ charger }) => name(charger) },
    { head: 'Docking point', short: 'Dock', cell: ({ dockingPoint }) => name(dockingPoint) },
    { head: markup`By <code>dockingPointId</code> of`, short: 'By', cell: referenceCell },
    {
      head: 'Distance here',
      short: 'Distance',
      isNumber: true,
      cell: ({ distanceM }) => (distanceM === null ? markup`<small>not measured</small>` : `${figure(distanceM, 3)} m`),
    },
  ];
  const whole = pairs.filter(({ charger, dockingPoint }) => charger !== null && dockingPoint !== null).length;
  const incomplete = pairs.length - whole;
  const counts = `${plural(whole, 'pair')}${incomplete === 0 ? '' : `, ${incomplete} incomplete`}`;
  return section('chargers', 'Charging stations', counts, [
    pairs.length === 0
      ? markup`<p>The overlays hold no charger and no docking point.</p>`
      : table(columns, pairs.slice(0, MAX_ROWS)),
    more(pairs.length - MAX_ROWS, 'rows', 'json'),
    markup`<p>${markWord(measured)} ${prose(measured.statement)} ${markWord(constant)} ${prose(constant.statement)} Which two belong together follows from <code>dockingPointId</code> on either of them: ${markWord(factById('vendor.overlays.charger-partner'))}.</p>`,
  ]);
}

const referenceWords = {
  both: 'both',
  charger: 'the charger',
  'docking-point': 'the docking point',
  'not-decided': 'not decided',
} as const;

/** The side with the reference; for an item without a partner the id that it refers to. */
function referenceCell({
  charger,
  linkedBy,
  chargerReference,
  dockingPointReference,
}: Inspection['pairs'][number]): Part {
  const refersTo = charger === null ? dockingPointReference : chargerReference;
  if (linkedBy !== null && linkedBy !== 'not-decided') return referenceWords[linkedBy];
  const id =
    refersTo === null ? markup`<small>nothing</small>` : markup`<span class="id">${oneLine(refersTo, 80)}</span>`;
  return linkedBy === null ? id : markup`${id}<br/><small>${referenceWords[linkedBy]}</small>`;
}

export function numbersSection(inspection: Inspection): Markup {
  const numbers = numbersOf(inspection);
  const columns: readonly Column<(typeof numbers)[number]>[] = [
    {
      head: 'Number',
      cell: ({ meaning }) => markup`<code>${meaning.field}</code> <strong>${meaning.number}</strong>`,
    },
    { head: 'Features', isNumber: true, cell: ({ count }) => count },
    { head: 'Overall mark', isTight: true, cell: ({ meaning }) => markWord(meaning) },
    {
      head: 'Every reading, with mark and source',
      short: 'Readings',
      cell: ({ meaning }) =>
        markup`<ul>${meaning.readings.map(readingItem)}</ul>${meaning.disagreement === null ? null : markup`<small>The sources disagree: <code>${meaning.disagreement}</code></small>`}`,
    },
  ];
  return section('numbers', 'Readings of the numbers', plural(numbers.length, 'number'), [
    numbers.length === 0 ? markup`<p>No feature has a number.</p>` : table(columns, numbers.slice(0, MAX_ROWS)),
    more(numbers.length - MAX_ROWS, 'numbers', 'json'),
  ]);
}

export function carriedSection({ survey }: Inspection): Markup | null {
  if (survey.carried.length === 0) return null;
  const where = { collection: 'the collection', feature: 'features', properties: 'properties of features' } as const;
  const columns: readonly Column<(typeof survey.carried)[number]>[] = [
    { head: 'Member', cell: ({ name }) => markup`<code>${oneLine(name, 80)}</code>` },
    { head: 'Of', cell: (member) => where[member.in] },
    { head: 'Times', isNumber: true, cell: ({ count }) => count },
    { head: 'JSON types', cell: ({ types }) => types.join(', ') },
  ];
  return section('carried', 'Carried through unchanged', plural(survey.carried.length, 'member'), [
    markup`<p>These have no documented meaning, so gw does not interpret them. They stay unchanged, also in a backup.</p>`,
    table(columns, survey.carried),
    more(survey.carriedMore, 'members', 'json'),
  ]);
}

export function knownSections(inspection: Inspection): readonly Markup[] {
  const rows = knownOf(inspection);
  const columns: readonly Column<KnownRow>[] = [
    { head: 'Mark', isTight: true, cell: (row) => markWord(row) },
    {
      head: 'Statement',
      cell: ({ statement, source, fact, here }) =>
        markup`${prose(statement)}${hereText(here)}<br/><small>${source}, <code>${fact}</code></small>`,
    },
    { head: 'On this map', cell: ({ found }) => prose(found) },
  ];
  const of = (group: KnownRow['group']) => rows.filter((row) => row.group === group);
  return [
    section('unknown', 'Open questions', plural(of('not-shown').length, 'open question'), [
      table(columns, of('not-shown')),
    ]),
    section('known', 'Known', plural(of('known').length, 'statement'), [table(columns, of('known'))]),
  ];
}
