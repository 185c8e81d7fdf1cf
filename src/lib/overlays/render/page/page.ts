import { type Markup, markup, type Part } from '../../../markup/index.ts';
import type { Inspection } from '../../model.ts';
import { pageDocument, sheetMarkup } from '../document.ts';
import { type Figure, renderFigure } from '../figure/figure.ts';
import { explanations, signsOf } from '../figure/legend.ts';
import { fontStack } from '../figure/lettering.ts';
import { figure, oneLine } from '../lines.ts';
import { dashOf, hatchId, marker, type SignStyle, signs } from '../marks.ts';
import type { PictureOptions } from '../svg.ts';
import { countLine } from '../wording.ts';
import { featureRows, featureSections } from './page-features.ts';
import { carriedSection, findingsSection, knownSections, numbersSection, pairsSection } from './page-sections.ts';

export interface PageOptions extends PictureOptions {
  /** Source of the overlays: `live:7` at an address, or a file. */
  readonly source: string;
  /** The chassis of the overlays; null when the source does not name it. */
  readonly chassis: { readonly serial: string; readonly software: string | null } | null;
  /** When the page was made: UTC, ISO. */
  readonly madeAt: string;
}

/**
 * The whole inspection as one HTML file for the tablet and for paper: the map, its legend, findings, every feature,
 * every reading of a number, and the open questions. It has no script and loads nothing: its own policy forbids both.
 */
export function renderPage(inspection: Inspection, options: PageOptions): string {
  const { title, image, madeAt } = options;
  const rowsOf = featureRows(inspection);
  const rows = new Set([...rowsOf.values()].flatMap((features) => features.map(({ index }) => index)));
  const map = renderFigure(inspection, image, rows);
  const sections: Part = [
    findingsSection(inspection, rows),
    pairsSection(inspection, map.shapes),
    featureSections(inspection, rowsOf, map.shapes),
    numbersSection(inspection),
    knownSections(inspection),
    carriedSection(inspection),
  ];
  const body = markup`<div class="front">
<header>
<h1>${oneLine(title, 120)}</h1>
<p class="count">${countLine(inspection)}</p>
<dl class="facts">${factsOf(inspection, options)}</dl>
</header>
${sheetMarkup(map, { whole: 'Whole map', label: 'The overlays over the picture of the map' })}
<div class="key">
<ul class="legend">${legend(map)}</ul>
${map.notes.map((note) => markup`<p class="notes">${note}</p>`)}
</div>
</div>
<nav>${contents(inspection)}</nav>
<main>
${sections}
</main>
<p class="notes">Made by gw, ${momentOf(madeAt)}. Nothing is derived from numbers of unknown meaning; movement never relies on this page.</p>`;
  return pageDocument(title, map, body);
}

function legend(map: Figure): Markup[] {
  return [
    ...signsOf(map).map(
      (sign) =>
        markup`<li>${signSample(signs[sign])}<span>${sign === 'none' ? null : markup`<b>${signs[sign].letter}</b> `}<b>${signs[sign].word}</b> ${signs[sign].description}</span></li>`,
    ),
    ...explanations(map).map(
      ({ sample, text }) =>
        markup`<li><svg xmlns="http://www.w3.org/2000/svg" width="46" height="20" viewBox="0 -14 46 20" aria-hidden="true" font-family="${fontStack}">${sample}</svg><span>${text}</span></li>`,
    ),
  ];
}

function signSample(style: SignStyle): Markup {
  return markup`<svg xmlns="http://www.w3.org/2000/svg" width="106" height="22" viewBox="0 0 106 22" aria-hidden="true">${marker(style, 12, 11, 8.5, null)}<path d="M28 11h36" stroke="${style.color}" stroke-width="3.2" fill="none"${dashOf(style, 3.2)}/><rect x="72" y="3" width="32" height="16" fill="url(#${hatchId(style.sign)})" stroke="${style.color}" stroke-width="2"${dashOf(style, 2)}/></svg>`;
}

function factsOf({ overlays, frame }: Inspection, { source, chassis, madeAt }: PageOptions): Markup[] {
  const { map } = overlays;
  const at = (key: string) => (map !== null && Object.hasOwn(map, key) ? map[key] : undefined);
  const text = (value: unknown) =>
    typeof value === 'string' || typeof value === 'number' ? oneLine(String(value), 60) : null;
  const versions = [
    ['map', text(at('map_version'))],
    ['overlays', text(at('overlays_version'))],
  ].flatMap(([what, version]) => (version == null ? [] : [`${what} ${version}`]));
  const size =
    frame?.width == null || frame.height === null
      ? null
      : `${figure(frame.width * frame.resolutionM, 2)} m × ${figure(frame.height * frame.resolutionM, 2)} m, ${frame.resolutionM} m per pixel`;
  const rows: readonly (readonly [string, string | null])[] = [
    ['Source', oneLine(source, 120)],
    [
      'Chassis',
      chassis === null
        ? 'not named by the source'
        : `${oneLine(chassis.serial, 60)}${chassis.software === null ? '' : `, software ${oneLine(chassis.software, 60)}`}`,
    ],
    ['Map', text(at('map_name'))],
    ['uid', text(at('uid'))],
    ['Versions', versions.length === 0 ? null : versions.join(', ')],
    ['Picture', size],
    ['Read', momentOf(madeAt)],
  ];
  return rows.flatMap(([word, value]) =>
    value === null ? [] : [markup`<div><dt>${word}</dt><dd>${value}</dd></div>`],
  );
}

/** To the minute, in UTC. */
function momentOf(iso: string): string {
  return oneLine(iso.replace(/T(\d\d:\d\d):\d\d(\.\d+)?Z$/, ' $1 UTC'), 40);
}

function contents({ selected, findings, survey }: Inspection): Markup[] {
  const has = (kind: string) => selected.some((feature) => feature.kind === kind);
  const entries: readonly (readonly [boolean, string, string])[] = [
    [true, 'findings', `Findings (${findings.length})`],
    [true, 'chargers', 'Charging stations'],
    [has('point'), 'points', 'Points'],
    [has('zone'), 'zones', 'Zones'],
    [has('lane'), 'lanes', 'Lanes'],
    [has('other'), 'others', 'Other'],
    [true, 'numbers', 'Numbers'],
    [true, 'unknown', 'Open questions'],
    [true, 'known', 'Known'],
    [survey.carried.length > 0, 'carried', 'Carried through'],
  ];
  return entries.flatMap(([isShown, id, word]) => (isShown ? [markup`<a href="#${id}">${word}</a>`] : []));
}
