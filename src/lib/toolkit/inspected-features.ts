import { withElementTexts } from '../json/index.ts';
import {
  boundsOf,
  type Code,
  type Drawing,
  type FeaturePlaces,
  featurePlaces,
  type Inspection,
  onOneLine,
} from '../overlays/index.ts';
import type { InspectedFeature } from './overlays-inspect.result.ts';

type FeatureCode = InspectedFeature['codes'][number];

/**
 * The selected drawings as a result has them. For JSON each brings its text along, in which the drawing stands as it
 * came: that keeps every digit of its numbers, and a large map is not written anew.
 */
export function featuresOf(inspection: Inspection): InspectedFeature[] {
  const { overlays, selected, codeBook } = inspection;
  const codes = new Map<Code, FeatureCode>();
  // Codes that are written alike share one object, as they do in the collection.
  const codeOf = (code: Code): FeatureCode => {
    const before = codes.get(code);
    if (before !== undefined) return before;
    const { field, number } = code;
    const mark = number === null ? 'OFFEN' : codeBook.meaning(field, number).mark;
    const made: FeatureCode = { field, number, mark };
    codes.set(code, made);
    return made;
  };
  const features = selected.map((drawing) => featureOf(drawing, codeOf));
  const texts = featurePlaces(overlays);
  if (texts === null) return features;
  return withElementTexts(features, (between) => textsOf(features, overlays.drawings, texts, between));
}

function featureOf(drawing: Drawing, codeOf: (code: Code) => FeatureCode): InspectedFeature {
  const { index, id, kind, name, shape, yaw, iconYaw, codes, raw } = drawing;
  const bounds = shape.kind === 'point' ? null : boundsOf(shape);
  return {
    index,
    id,
    kind,
    name,
    xM: shape.kind === 'point' ? shape.at[0] : null,
    yM: shape.kind === 'point' ? shape.at[1] : null,
    extentM: bounds === null ? null : [bounds.minXM, bounds.minYM, bounds.maxXM, bounds.maxYM],
    yawDeg: yaw?.deg ?? null,
    iconYawDeg: iconYaw?.deg ?? null,
    codes: codes.map(codeOf),
    feature: raw as InspectedFeature['feature'],
  };
}

/** Bytes of one piece of text; a drawing that takes more has a piece of its own. */
const PIECE = 256 * 1024;
/** The most bytes that one unit of a text takes in UTF-8. */
const WIDEST = 3;
const BRACE = 0x7d;

/** Both lists are in the order of the collection. */
function* textsOf(
  features: readonly InspectedFeature[],
  drawings: readonly Drawing[],
  { bytes, bounds }: FeaturePlaces,
  between: string,
): Generator<Uint8Array> {
  const codes = new Map<FeatureCode, string>();
  const hasLines = bytes.includes('\n') || bytes.includes('\r');
  const piece = Buffer.allocUnsafe(PIECE);
  let end = 0;
  let position = 0;
  let lead = '';
  for (const feature of features) {
    while (drawings[position]?.index !== feature.index) position += 1;
    const own = `${lead}${ownText(feature, codes)},"feature":`;
    let source = bytes;
    let from = bounds[position * 2] ?? 0;
    let to = bounds[position * 2 + 1] ?? 0;
    if (hasLines) {
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

/**
 * Everything but the drawing as it came; the brace stays open. Put together by hand, since JSON.stringify takes twice
 * as long for a hundred thousand of them; every number here is finite.
 */
function ownText(feature: InspectedFeature, codes: Map<FeatureCode, string>): string {
  const { index, id, kind, name, xM, yM, extentM, yawDeg, iconYawDeg } = feature;
  let codesText = '';
  for (const code of feature.codes) {
    let text = codes.get(code);
    if (text === undefined) {
      text = JSON.stringify(code);
      codes.set(code, text);
    }
    codesText += codesText === '' ? text : `,${text}`;
  }
  const extent = extentM === null ? 'null' : `[${extentM[0]},${extentM[1]},${extentM[2]},${extentM[3]}]`;
  return `{"index":${index},"id":${JSON.stringify(id)},"kind":"${kind}","name":${JSON.stringify(name)},"xM":${xM},"yM":${yM},"extentM":${extent},"yawDeg":${yawDeg},"iconYawDeg":${iconYawDeg},"codes":[${codesText}]`;
}
