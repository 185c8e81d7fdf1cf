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
import { english } from './page-tables.ts';
import { type PageLanguage, type PageTexts, pageTextsOf } from './texts/catalogue.ts';

export interface PageOptions extends PictureOptions {
  /** Source of the overlays: `live:7` at an address, or a file. */
  readonly source: string;
  /** The chassis of the overlays; null when the source does not name it. */
  readonly chassis: { readonly serial: string; readonly software: string | null } | null;
  /** When the page was made: UTC, ISO. */
  readonly madeAt: string;
  /** Default: English. */
  readonly lang?: PageLanguage | undefined;
}

/**
 * The whole inspection as one HTML file for the tablet and for paper: the map, its legend, findings, every feature,
 * every reading of a number, and the open questions. It has no script and loads nothing: its own policy forbids both.
 */
export function renderPage(inspection: Inspection, options: PageOptions): string {
  const { title, image, madeAt, lang = 'en' } = options;
  const t = pageTextsOf(lang);
  const rowsOf = featureRows(inspection);
  const rows = new Set([...rowsOf.values()].flatMap((features) => features.map(({ index }) => index)));
  const map = renderFigure(inspection, image, rows);
  const sections: Part = [
    findingsSection(inspection, rows, t),
    pairsSection(inspection, map.shapes, t),
    featureSections(inspection, rowsOf, map.shapes, t),
    numbersSection(inspection, t),
    knownSections(inspection, t),
    carriedSection(inspection, t),
  ];
  const body = markup`<div class="front">
<header>
<h1>${oneLine(title, 120)}</h1>
<p class="count">${countLine(inspection, t)}</p>
<dl class="facts">${factsOf(inspection, options, t)}</dl>
</header>
${sheetMarkup(map, t.zoom)}
<div class="key">
<ul class="legend">${legend(map, t)}</ul>
${map.notes.map((note) => markup`<p class="notes">${english(note, t)}</p>`)}
</div>
</div>
<nav>${contents(inspection, t)}</nav>
<main>
${sections}
</main>
<p class="notes">${t.madeBy(momentOf(madeAt))}${t.technical === null ? null : ` ${t.technical}`}</p>`;
  return pageDocument(title, map, body, lang);
}

function legend(map: Figure, t: PageTexts): Markup[] {
  return [
    ...signsOf(map).map(
      (sign) =>
        markup`<li>${signSample(signs[sign])}<span>${sign === 'none' ? null : markup`<b>${signs[sign].letter}</b> `}<b>${sign === 'none' ? t.noNumberSign : signs[sign].word}</b> ${t.sign[sign]}</span></li>`,
    ),
    ...explanations(map, t).map(
      ({ sample, text }) =>
        markup`<li><svg xmlns="http://www.w3.org/2000/svg" width="46" height="20" viewBox="0 -14 46 20" aria-hidden="true" font-family="${fontStack}">${sample}</svg><span>${text}</span></li>`,
    ),
  ];
}

function signSample(style: SignStyle): Markup {
  return markup`<svg xmlns="http://www.w3.org/2000/svg" width="106" height="22" viewBox="0 0 106 22" aria-hidden="true">${marker(style, 12, 11, 8.5, null)}<path d="M28 11h36" stroke="${style.color}" stroke-width="3.2" fill="none"${dashOf(style, 3.2)}/><rect x="72" y="3" width="32" height="16" fill="url(#${hatchId(style.sign)})" stroke="${style.color}" stroke-width="2"${dashOf(style, 2)}/></svg>`;
}

function factsOf({ overlays, frame }: Inspection, { source, chassis, madeAt }: PageOptions, t: PageTexts): Markup[] {
  const { map } = overlays;
  const at = (key: string) => (map !== null && Object.hasOwn(map, key) ? map[key] : undefined);
  const text = (value: unknown) =>
    typeof value === 'string' || typeof value === 'number' ? oneLine(String(value), 60) : null;
  const versions = [
    [t.versionOf.map, text(at('map_version'))],
    [t.versionOf.overlays, text(at('overlays_version'))],
  ].flatMap(([what, version]) => (version == null ? [] : [`${what} ${version}`]));
  const size =
    frame?.width == null || frame.height === null
      ? null
      : t.size(
          figure(frame.width * frame.resolutionM, 2),
          figure(frame.height * frame.resolutionM, 2),
          frame.resolutionM,
        );
  const rows: readonly (readonly [string, Part])[] = [
    [t.facts.source, english(oneLine(source, 120), t)],
    [
      t.facts.chassis,
      chassis === null
        ? t.noChassis
        : t.chassis(oneLine(chassis.serial, 60), chassis.software === null ? null : oneLine(chassis.software, 60)),
    ],
    [t.facts.map, text(at('map_name'))],
    [t.facts.uid, text(at('uid'))],
    [t.facts.versions, versions.length === 0 ? null : versions.join(', ')],
    [t.facts.picture, size],
    [t.facts.read, momentOf(madeAt)],
  ];
  return rows.flatMap(([word, value]) =>
    value === null ? [] : [markup`<div><dt>${word}</dt><dd>${value}</dd></div>`],
  );
}

/** To the minute, in UTC. */
function momentOf(iso: string): string {
  return oneLine(iso.replace(/T(\d\d:\d\d):\d\d(\.\d+)?Z$/, ' $1 UTC'), 40);
}

function contents({ selected, findings, survey }: Inspection, { contents: words }: PageTexts): Markup[] {
  const has = (kind: string) => selected.some((feature) => feature.kind === kind);
  const entries: readonly (readonly [boolean, string, string])[] = [
    [true, 'findings', words.findings(findings.length)],
    [true, 'chargers', words.chargers],
    [has('point'), 'points', words.points],
    [has('zone'), 'zones', words.zones],
    [has('lane'), 'lanes', words.lanes],
    [has('other'), 'others', words.others],
    [true, 'numbers', words.numbers],
    [true, 'unknown', words.unknown],
    [true, 'known', words.known],
    [survey.carried.length > 0, 'carried', words.carried],
  ];
  return entries.flatMap(([isShown, id, word]) => (isShown ? [markup`<a href="#${id}">${word}</a>`] : []));
}
