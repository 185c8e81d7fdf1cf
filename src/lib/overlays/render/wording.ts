import type { Basis, Mark } from '../../evidence/index.ts';
import { onlyPlaceOf, placesOf } from '../geometry.ts';
import type { Code, CodeBook, CodeMeaning, Feature, Inspection, Reading } from '../model.ts';
import { widthOf } from './figure/lettering.ts';
import { figure, isolated, nameLines, nameText, oneLine } from './lines.ts';
import { type Sign, signs } from './marks.ts';
import type { PageTexts } from './page/texts/catalogue.ts';
import { pageEn } from './page/texts/page.en.ts';

/** A piece of text in one style. */
export interface Span {
  readonly text: string;
  readonly size: number;
  readonly color: string;
  readonly isBold: boolean;
  /** A foreign name with its own writing direction, which must not affect its surroundings. */
  readonly isName?: boolean;
}

export type LabelLines = readonly (readonly Span[])[];

export const kindWords = { point: 'Point', zone: 'Zone', lane: 'Lane', other: 'Other feature' } as const;
const INK = '#111111';
const QUIET = '#555555';
const SMALL = 10.5;
/** Characters of one line of a label. */
const MAX_LABEL_CHARS = 26;

interface ReadingText {
  readonly sign: Mark;
  readonly basis: Basis;
  readonly text: string;
}

/** The readings with a meaning, in short; 'meaning unknown' without any. */
export function readingTexts(meaning: CodeMeaning): readonly ReadingText[] {
  const named = meaning.readings.filter((reading) => reading.meaning !== null);
  if (named.length === 0) return [{ sign: 'OFFEN', basis: 'not-shown', text: 'meaning unknown' }];
  return named.map((reading) => ({ sign: reading.mark, basis: reading.basis, text: readingText(reading) }));
}

export function readingText({ meaning, basis, here }: Reading): string {
  const words = oneLine(meaning ?? 'meaning unknown', 60);
  // A sign does not show the basis of its mark, and a simulator is not a device.
  const text = basis === 'simulated' ? `${words} (on a simulator)` : words;
  return here?.verdict === 'contradicted' ? `${text} (contradicted on this device)` : text;
}

/** The mark of the feature's own number; 'none' when it has no number. */
export function signOf({ code }: Feature, codeBook: CodeBook): Sign {
  return code === null || code.number === null ? 'none' : codeBook.meaning(code.field, code.number).mark;
}

/**
 * The label variants of a feature, longest first. Every variant has its `#`, by which the tables list it.
 * `isCodeShown`: the marker of the point shows its number already.
 */
export function labelsOf(feature: Feature, codeBook: CodeBook, isCodeShown: boolean): readonly LabelLines[] {
  const number = `#${feature.index}`;
  const bare: LabelLines = [[span(number, 9.5, QUIET, true)]];
  const full = meaningLines(feature, codeBook, true, isCodeShown);
  const short = meaningLines(feature, codeBook, false, isCodeShown).flat();
  if (feature.name === null) {
    const head = [span(number, 11, QUIET, true)];
    return short.length === 0 ? [bare] : [[head, ...full], [[...head, span(' ', 10.5, QUIET), ...short]], bare];
  }
  const [whole, cut] = namesOf(feature.name, number);
  const heads = cut === null ? [whole] : [whole, cut];
  return [...heads.map((head) => [...head, ...full]), ...heads.map((head) => [...head, short]), ...heads, bare].filter(
    (lines) => lines.every((line) => line.length > 0),
  );
}

/** A name in bold followed by the index of the feature: on several lines, and truncated to one. */
export function namesOf(name: string, number: string): readonly [LabelLines, LabelLines | null] {
  const tail = span(` ${number}`, 9.5, QUIET);
  const bold = (text: string): Span => ({ ...span(text, 13, INK, true), isName: true });
  const lines = nameLines(name, MAX_LABEL_CHARS);
  const whole = lines.map((line, at) => (at === lines.length - 1 ? [bold(line), tail] : [bold(line)]));
  return [whole, lines.length === 1 ? null : [[bold(nameText(name, MAX_LABEL_CHARS)), tail]]];
}

/** One line per reading, since two readings are a disagreement; other numbers follow the last one. */
function meaningLines(feature: Feature, codeBook: CodeBook, isFull: boolean, isCodeShown: boolean): Span[][] {
  const lines: Span[][] = [];
  for (const code of feature.codes) {
    // `startType` and `endType` have no known meaning and are shown in the table only.
    if (code.number === null || code.field === 'startType' || code.field === 'endType') continue;
    const isOwn = code.field === feature.code?.field;
    const meaning = codeBook.meaning(code.field, code.number);
    if (isOwn) {
      const lead = isCodeShown ? [] : [span(`${code.number} `, SMALL, INK, true)];
      const texts = isFull ? readingTexts(meaning).slice(0, 3) : [{ sign: meaning.mark, text: '' }];
      for (const [at, { sign, text }] of texts.entries()) {
        const { letter, color } = signs[sign];
        const tail = text === '' ? [] : [span(` ${oneLine(text, 32)}`, SMALL, color)];
        lines.push([...(at === 0 ? lead : []), span(letter, SMALL, color, true), ...tail]);
      }
    } else {
      const { letter, color } = signs[meaning.mark];
      const more = [span(`${code.field} ${code.number} `, SMALL, QUIET), span(letter, SMALL, color, true)];
      const last = lines.at(-1);
      if (last) last.push(span('   ', SMALL, QUIET), ...more);
      else lines.push(more);
    }
  }
  return lines;
}

function span(text: string, size: number, color: string, isBold = false): Span {
  return { text, size, color, isBold };
}

export function sizeOf(lines: LabelLines): { width: number; height: number } {
  let width = 0;
  let height = 0;
  for (const line of lines) {
    width = Math.max(
      width,
      line.reduce((sum, { text, size, isBold }) => sum + widthOf(text, size, isBold), 0),
    );
    height += lineHeight(line);
  }
  return { width: width + 4, height: height + 2 };
}

export function lineHeight(line: readonly Span[]): number {
  return Math.max(...line.map(({ size }) => size)) * 1.18;
}

/** The tooltip of a feature: everything in one line. */
export function tooltipOf(feature: Feature, codeBook: CodeBook): string {
  const parts = [
    `#${feature.index} ${kindWords[feature.kind]}${feature.name === null ? '' : ` ${isolated(nameText(feature.name))}`}`,
  ];
  if (feature.id !== null) parts.push(`id ${isolated(oneLine(feature.id, 60))}`);
  for (const code of feature.codes) parts.push(codeLine(code, codeBook));
  const place = onlyPlaceOf(feature.shape);
  if (place !== null) parts.push(`x ${figure(place[0], 3)} m, y ${figure(place[1], 3)} m`);
  else if (feature.shape.kind === 'point') parts.push(`${placesOf(feature.shape).length} places`);
  if (feature.yaw) parts.push(feature.yaw.deg === null ? 'yaw is not a number' : `yaw ${figure(feature.yaw.deg, 2)}°`);
  return parts.join(' · ');
}

/** `type 11: V Delivery Point, H table number`. */
function codeLine(code: Code, codeBook: CodeBook): string {
  if (code.number === null) return `${code.field} is not a whole number`;
  const texts = readingTexts(codeBook.meaning(code.field, code.number)).map(
    ({ sign, text }) => `${signs[sign].letter} ${text}`,
  );
  return `${code.field} ${code.number}: ${texts.join(', ')}`;
}

/** The first line of every output: counts of features and findings. */
export function countLine({ selected, overlays, findings }: Inspection, t: PageTexts = pageEn): string {
  const count = (kind: string) => selected.filter((feature) => feature.kind === kind).length;
  const parts = (['point', 'zone', 'lane'] as const).map((kind) => t.count[kind](count(kind)));
  if (count('other') > 0) parts.push(t.others(count('other')));
  const of = selected.length < overlays.features.length ? t.filtered(overlays.features.length) : '';
  const countOf = (severity: string) => findings.filter((finding) => finding.severity === severity).length;
  const severities = (['wrong', 'warning', 'note', 'not-checked'] as const)
    .filter((severity) => countOf(severity) > 0)
    .map((severity) => t.severities[severity](countOf(severity)));
  const found = findings.length === 0 ? t.noFindings : `${t.count.findings(findings.length)}: ${severities.join(', ')}`;
  return `${parts.join(', ')}${of} — ${found}`;
}
