import { type Degrees, turnBetween } from '../../angle/index.ts';
import { codeFields } from '../kinds.ts';
import type { Code, Feature, FeatureAngle } from '../model.ts';
import { jsonOf, kindOf, type Members, membersOf, type Span, sameTokens, sameValues } from '../read/json-source.ts';
import type {
  ChangedFeature,
  CodeChange,
  FeatureRef,
  NumberNotation,
  ShapeChange,
  TurnChange,
  ValueChange,
} from '../schemas.ts';
import type { Entry, Pair } from './pairing.ts';
import { cornersOf, middleOf, shapeChange } from './shape-change.ts';

/** Collects equal numbers in different notation. */
export interface NotationNotes {
  numbers: number;
  readonly examples: NumberNotation[];
}

const MAX_EXAMPLES = 50;

/** The difference between the two features of a pair; null when they are equal. */
export function changeOf({ a, b, by }: Pair, notes: NotationNotes): ChangedFeature | null {
  if (sameTokens(a.span, b.span)) return null;
  const place = { index: a.index, path: [] };
  const [ours, theirs] = [membersOf(a.span), membersOf(b.span)];
  const members = differing(ours ?? a.span, theirs ?? b.span, 'feature', place, notes);
  if (members.length === 0) return null;

  const values: ValueChange[] = [];
  const turns: TurnChange[] = [];
  const codes: CodeChange[] = [];
  let shape: ShapeChange | null = null;
  for (const member of members) {
    const within = member.change === 'value' ? objectsAt(member.name, ours, theirs) : null;
    if (member.name === 'geometry' && member.change !== 'duplicate-key') {
      shape = shapeChange(
        { feature: a.feature, span: ours?.members.get('geometry') },
        { feature: b.feature, span: theirs?.members.get('geometry') },
      );
    } else if (member.name === 'properties' && within !== null) {
      for (const value of differing(...within, 'properties', { ...place, path: ['properties'] }, notes)) {
        const code = codeChange(value, a.feature, b.feature);
        const turn = turnChange(value, a.feature, b.feature);
        if (code !== null) codes.push(code);
        else if (turn !== null) turns.push(turn);
        else values.push(value);
      }
    } else {
      values.push(member);
    }
  }
  return { from: refOf(a), to: refOf(b), pairedBy: by, shape, turns, codes, values };
}

function objectsAt(name: string, ours: Members | null, theirs: Members | null): [Members, Members] | null {
  const [from, to] = [ours?.members.get(name), theirs?.members.get(name)];
  const [one, other] = [from && membersOf(from), to && membersOf(to)];
  return one && other ? [one, other] : null;
}

interface ChangePlace {
  readonly index: number | null;
  readonly path: readonly string[];
}

/** The members of two objects that differ; values of other types differ as a whole, under the name ''. */
export function differing(
  from: Members | Span,
  to: Members | Span,
  where: ValueChange['in'],
  place: ChangePlace,
  notes: NotationNotes,
  except?: string,
): ValueChange[] {
  const [one, other] = [wholeOf(from), wholeOf(to)];
  if (!('members' in from && 'members' in to)) {
    return isSame(one, other, place, notes) ? [] : [valueChange(where, '', one, other)];
  }
  const duplicateKey = from.duplicateKey ?? to.duplicateKey;
  if (duplicateKey !== null) {
    if (sameTokens(one, other)) return [];
    const change = valueChange(where, duplicateKey, from.members.get(duplicateKey), to.members.get(duplicateKey));
    return [{ ...change, change: 'duplicate-key' }];
  }
  const changes: ValueChange[] = [];
  for (const [name, was] of from.members) {
    const is = to.members.get(name);
    if (name === except) continue;
    if (
      is !== undefined &&
      (jsonOf(was) === jsonOf(is) || isSame(was, is, { ...place, path: [...place.path, name] }, notes))
    )
      continue;
    changes.push(valueChange(where, name, was, is));
  }
  for (const [name, is] of to.members) {
    if (name !== except && !from.members.has(name)) changes.push(valueChange(where, name, undefined, is));
  }
  return changes;
}

function wholeOf(value: Members | Span): Span {
  return 'members' in value ? value.whole : value;
}

/** Number notations are collected only where the value as a whole is equal. */
function isSame(from: Span, to: Span, { index, path }: ChangePlace, notes: NotationNotes): boolean {
  let numbers = 0;
  const examples: NumberNotation[] = [];
  const same = sameValues(from, to, (inner, was, is) => {
    numbers += 1;
    if (notes.examples.length + examples.length >= MAX_EXAMPLES) return;
    examples.push({ index, path: [...path, ...inner].join('/'), fromJson: jsonOf(was), toJson: jsonOf(is) });
  });
  if (same) {
    notes.numbers += numbers;
    notes.examples.push(...examples);
  }
  return same;
}

function valueChange(where: ValueChange['in'], name: string, from?: Span, to?: Span): ValueChange {
  const fromJson = from === undefined ? null : jsonOf(from);
  const toJson = to === undefined ? null : jsonOf(to);
  return { in: where, name, change: howChanged(from, to), fromJson, toJson };
}

function howChanged(from?: Span, to?: Span): ValueChange['change'] {
  if (from === undefined) return 'added';
  if (to === undefined) return 'removed';
  return kindOf(from) === kindOf(to) ? 'value' : 'type';
}

function codeChange(value: ValueChange, from: Feature | null, to: Feature | null): CodeChange | null {
  if (value.change === 'duplicate-key' || !(codeFields as readonly string[]).includes(value.name)) return null;
  const was = codeIn(from, value.name);
  const is = codeIn(to, value.name);
  const field = (was ?? is)?.field;
  if (field === undefined) return null;
  return {
    field,
    from: was?.number ?? null,
    to: is?.number ?? null,
    fromJson: value.fromJson,
    toJson: value.toJson,
  };
}

function codeIn(feature: Feature | null, field: string): Code | undefined {
  return feature?.codes.find((code) => code.field === field);
}

function turnChange(value: ValueChange, from: Feature | null, to: Feature | null): TurnChange | null {
  const field = value.name;
  if (value.change === 'duplicate-key' || (field !== 'yaw' && field !== 'iconYaw')) return null;
  const fromDeg = degreesOf(from?.[field]);
  const toDeg = degreesOf(to?.[field]);
  const turnedDeg = fromDeg === null || toDeg === null ? null : turnBetween(fromDeg, toDeg);
  return { field, fromDeg, toDeg, turnedDeg, fromJson: value.fromJson, toJson: value.toJson };
}

function degreesOf(angle: FeatureAngle | null | undefined): Degrees | null {
  return angle?.deg ?? null;
}

export function refOf({ index, feature }: Entry): FeatureRef {
  const middle = feature === null ? null : middleOf(cornersOf(feature.shape));
  return {
    index,
    id: feature?.id ?? null,
    name: feature?.name ?? null,
    kind: feature?.kind ?? 'no-feature',
    xM: middle?.[0] ?? null,
    yM: middle?.[1] ?? null,
  };
}
