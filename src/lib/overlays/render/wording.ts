import type { Basis, Mark } from '../../evidence/index.ts';
import { plural } from '../../text/index.ts';
import type { Code, CodeBook, CodeMeaning, Feature, Inspection, Reading } from '../model.ts';
import { widthOf } from './lettering.ts';
import { figure, isolated, nameLines, nameText, oneLine } from './lines.ts';
import { type Sign, signs } from './marks.ts';

/** A piece of text in one style. */
export interface Span {
  readonly text: string;
  readonly size: number;
  readonly color: string;
  readonly isBold: boolean;
  /** A foreign text in its own direction of writing, which must not turn what stands beside it. */
  readonly isName?: boolean;
}

export type LabelLines = readonly (readonly Span[])[];

export const kindWords = { point: 'Point', zone: 'Zone', lane: 'Lane', other: 'Other feature' } as const;
const INK = '#111111';
const QUIET = '#555555';
const SMALL = 10.5;
/** Of one line of a label. */
const MOST_LABEL_CHARS = 26;

interface Said {
  readonly sign: Mark;
  readonly basis: Basis;
  readonly text: string;
}

/** The readings that say something, as short as they go. With none: that nobody knows. */
export function sayings(meaning: CodeMeaning): readonly Said[] {
  const named = meaning.readings.filter((reading) => reading.meaning !== null);
  if (named.length === 0) return [{ sign: 'OFFEN', basis: 'not-shown', text: 'meaning unknown' }];
  return named.map((reading) => ({ sign: reading.mark, basis: reading.basis, text: sayingOf(reading) }));
}

export function sayingOf({ meaning, basis, here }: Reading): string {
  const said = oneLine(meaning ?? 'meaning unknown', 60);
  // A sign has no room for what its mark rests on, and a simulator is no device.
  const text = basis === 'simulated' ? `${said} (on a simulator)` : said;
  return here?.verdict === 'contradicted' ? `${text} (contradicted on this device)` : text;
}

/** How well the meaning of the feature's own number is known; 'none' when it has no number. */
export function signOf({ code }: Feature, codeBook: CodeBook): Sign {
  return code === null || code.number === null ? 'none' : codeBook.meaning(code.field, code.number).mark;
}

/**
 * What stands beside a feature, the richest first. Every wording names its `#`, by which the tables list it.
 * `isCodeShown`: the marker of the point holds its number already.
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

/** A name in bold with what tells the features apart behind it: on as many lines as it needs, and cut to one. */
export function namesOf(name: string, number: string): readonly [LabelLines, LabelLines | null] {
  const tail = span(` ${number}`, 9.5, QUIET);
  const bold = (text: string): Span => ({ ...span(text, 13, INK, true), isName: true });
  const lines = nameLines(name, MOST_LABEL_CHARS);
  const whole = lines.map((line, at) => (at === lines.length - 1 ? [bold(line), tail] : [bold(line)]));
  return [whole, lines.length === 1 ? null : [[bold(nameText(name, MOST_LABEL_CHARS)), tail]]];
}

/** One line a reading, since two readings stand for a disagreement; other numbers go behind the last one. */
function meaningLines(feature: Feature, codeBook: CodeBook, isFull: boolean, isCodeShown: boolean): Span[][] {
  const lines: Span[][] = [];
  for (const code of feature.codes) {
    // Where a route begins and ends is for the table: nobody knows what these numbers say.
    if (code.number === null || code.field === 'startType' || code.field === 'endType') continue;
    const isOwn = code.field === feature.code?.field;
    const meaning = codeBook.meaning(code.field, code.number);
    if (isOwn) {
      const lead = isCodeShown ? [] : [span(`${code.number} `, SMALL, INK, true)];
      const said = isFull ? sayings(meaning).slice(0, 3) : [{ sign: meaning.mark, text: '' }];
      for (const [at, { sign, text }] of said.entries()) {
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

/** What a pointer over a feature tells: everything in one line. */
export function tellingOf(feature: Feature, codeBook: CodeBook): string {
  const parts = [
    `#${feature.index} ${kindWords[feature.kind]}${feature.name === null ? '' : ` ${isolated(nameText(feature.name))}`}`,
  ];
  if (feature.id !== null) parts.push(`id ${isolated(oneLine(feature.id, 60))}`);
  for (const code of feature.codes) parts.push(codeLine(code, codeBook));
  if (feature.shape.kind === 'point')
    parts.push(`x ${figure(feature.shape.at[0], 3)} m, y ${figure(feature.shape.at[1], 3)} m`);
  if (feature.yaw) parts.push(feature.yaw.deg === null ? 'yaw is no number' : `yaw ${figure(feature.yaw.deg, 2)}°`);
  return parts.join(' · ');
}

/** `type 11: V Delivery Point, H table number`. */
function codeLine(code: Code, codeBook: CodeBook): string {
  if (code.number === null) return `${code.field} is no whole number`;
  const said = sayings(codeBook.meaning(code.field, code.number)).map(
    ({ sign, text }) => `${signs[sign].letter} ${text}`,
  );
  return `${code.field} ${code.number}: ${said.join(', ')}`;
}

/** How many of what, and how many findings: what the first line of every output says. */
export function countLine({ selected, overlays, findings }: Inspection): string {
  const count = (kind: string) => selected.filter((feature) => feature.kind === kind).length;
  const parts = (['point', 'zone', 'lane'] as const).map((kind) => plural(count(kind), kind));
  if (count('other') > 0) parts.push(`${count('other')} other`);
  const of = selected.length < overlays.features.length ? ` (of ${overlays.features.length} features)` : '';
  const worst = (severity: string) => findings.filter((finding) => finding.severity === severity).length;
  const told = (['wrong', 'warning', 'note', 'not-checked'] as const)
    .filter((severity) => worst(severity) > 0)
    .map(
      (severity) =>
        `${worst(severity)} ${severity === 'not-checked' ? 'not checked' : severity === 'wrong' ? 'wrong' : plural(worst(severity), severity).replace(/^\d+ /, '')}`,
    );
  const found = findings.length === 0 ? 'no findings' : `${plural(findings.length, 'finding')}: ${told.join(', ')}`;
  return `${parts.join(', ')}${of} — ${found}`;
}
