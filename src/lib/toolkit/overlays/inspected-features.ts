import type { ListTexts } from '../../json/index.ts';
import {
  type Code,
  type CodeBook,
  type Drawing,
  type FeaturePlaces,
  featurePlaces,
  type Inspection,
  onOneLine,
} from '../../overlays/index.ts';
import type { InspectedFeature } from './inspect.result.ts';

/** The selected drawings as a result has them. */
export function featuresOf({ overlays, selected, codeBook }: Inspection): InspectedFeature[] {
  return selected.map((drawing) => ({
    index: drawing.index,
    id: drawing.id,
    kind: drawing.kind,
    name: drawing.name,
    xM: drawing.shape.kind === 'point' ? drawing.shape.at[0] : null,
    yM: drawing.shape.kind === 'point' ? drawing.shape.at[1] : null,
    yawDeg: drawing.yaw?.deg ?? null,
    iconYawDeg: drawing.iconYaw?.deg ?? null,
    codes: drawing.codes.map((code) => featureCode(code, codeBook)),
    feature: overlays.rawOf(drawing),
  }));
}

/**
 * The same as JSON, each with the drawing as it came: that keeps every digit of its numbers, and a large map is not
 * written anew. null where there are none, or where they cannot be taken from the text.
 */
export function featureListTexts(inspection: Inspection): ListTexts | null {
  if (inspection.selected.length === 0) return null;
  const places = featurePlaces(inspection.overlays);
  return places === null ? null : (between) => textsOf(inspection, places, between);
}

function featureCode({ field, number }: Code, codeBook: CodeBook): InspectedFeature['codes'][number] {
  if (number === null) return { field, number, mark: 'OFFEN', basis: 'not-shown' };
  const { mark, basis } = codeBook.meaning(field, number);
  return { field, number, mark, basis };
}

/** Bytes of one piece of text; a drawing that takes more has a piece of its own. */
const PIECE = 256 * 1024;
/** The most bytes that one unit of a text takes in UTF-8. */
const WIDEST = 3;
const BRACE = 0x7d;

/** Both lists are in the order of the collection. */
function* textsOf(
  { selected, overlays: { drawings }, codeBook }: Inspection,
  { bytes, bounds }: FeaturePlaces,
  between: string,
): Generator<Uint8Array> {
  const codesText = codesWriter(codeBook);
  const hasLineBreak = lineBreakFinder(bytes);
  const piece = Buffer.allocUnsafe(PIECE);
  let end = 0;
  let position = 0;
  let lead = '';
  for (const drawing of selected) {
    while (drawings[position] !== drawing) position += 1;
    const own = `${lead}${ownText(drawing, codesText)},"feature":`;
    let source = bytes;
    let from = bounds[position * 2] ?? 0;
    let to = bounds[position * 2 + 1] ?? 0;
    if (hasLineBreak(from, to)) {
      source = Buffer.from(onOneLine(bytes.toString('utf8', from, to)));
      [from, to] = [0, source.length];
    }
    const room = own.length * WIDEST + to - from + 1;
    if (end + room > PIECE && end > 0) {
      yield piece.subarray(0, end);
      end = 0;
    }
    if (room > PIECE) yield Buffer.concat([Buffer.from(own), source.subarray(from, to), Buffer.from('}')]);
    else {
      end += piece.write(own, end);
      end += source.copy(piece, end, from, to);
      piece[end] = BRACE;
      end += 1;
    }
    lead = between;
  }
  yield piece.subarray(0, end);
}

/** Asked for one stretch after the other, it goes through the bytes once. */
function lineBreakFinder(bytes: Buffer): (from: number, to: number) => boolean {
  const next = (byte: number) => {
    let at = -1;
    return (from: number) => {
      if (at < from) at = bytes.indexOf(byte, from);
      if (at === -1) at = bytes.length;
      return at;
    };
  };
  const [lineFeed, carriageReturn] = [next(0x0a), next(0x0d)];
  return (from, to) => lineFeed(from) < to || carriageReturn(from) < to;
}

/** Drawings with the same codes share one list of them, so that there are as many texts as lists. */
function codesWriter(codeBook: CodeBook): (codes: readonly Code[]) => string {
  const texts = new Map<readonly Code[], string>();
  return (codes) => {
    let text = texts.get(codes);
    if (text === undefined) {
      text = JSON.stringify(codes.map((code) => featureCode(code, codeBook)));
      texts.set(codes, text);
    }
    return text;
  };
}

/**
 * Everything but the drawing as it came; the brace stays open. Put together by hand, since JSON.stringify takes twice
 * as long for a hundred thousand of them; every number here is finite.
 */
function ownText(drawing: Drawing, codesText: (codes: readonly Code[]) => string): string {
  const { index, id, kind, name, shape, yaw, iconYaw, codes } = drawing;
  const isPoint = shape.kind === 'point';
  const xM = isPoint ? figure(shape.at[0]) : null;
  const yM = isPoint ? figure(shape.at[1]) : null;
  return `{"index":${index},"id":${quoted(id)},"kind":"${kind}","name":${quoted(name)},"xM":${xM},"yM":${yM},"yawDeg":${yaw?.deg ?? null},"iconYawDeg":${iconYaw?.deg ?? null},"codes":${codesText(codes)}`;
}

/** Letters that JSON writes as they are end below the halves of surrogate pairs. */
const FIRST_SURROGATE = 0xd800;

/** As JSON.stringify writes it. Nearly every text needs no escape, and seeing that is quicker than calling it. */
export function quoted(text: string | null): string {
  if (text === null) return 'null';
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit < 0x20 || unit === 0x22 || unit === 0x5c || unit >= FIRST_SURROGATE) return JSON.stringify(text);
  }
  return `"${text}"`;
}

const THOUSAND = 1000;
/** Of thousandths: as far as whole numbers are quick to write. */
const MOST_QUICK = 1e9;

/**
 * As JSON.stringify writes it. Most figures of a map are whole millimetres, and finding the shortest decimal that
 * reads as a given number takes long; here it is at hand. A quotient of whole numbers is rounded as a decimal is read,
 * so equal means that it reads the same.
 */
export function figure(value: number): string {
  const thousandths = Math.round(value * THOUSAND);
  if (!(Math.abs(thousandths) < MOST_QUICK) || thousandths / THOUSAND !== value) return JSON.stringify(value);
  const size = Math.abs(thousandths);
  const whole = Math.floor(size / THOUSAND);
  const rest = size - whole * THOUSAND;
  const sign = thousandths < 0 ? '-' : '';
  if (rest === 0) return `${sign}${whole}`;
  if (rest % 100 === 0) return `${sign}${whole}.${rest / 100}`;
  if (rest % 10 === 0) return `${sign}${whole}.${rest < 100 ? '0' : ''}${rest / 10}`;
  return `${sign}${whole}.${rest < 10 ? '00' : rest < 100 ? '0' : ''}${rest}`;
}
