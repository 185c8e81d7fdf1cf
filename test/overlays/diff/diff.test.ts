import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import Flatbush from 'flatbush';
import { describe, expect, it, vi } from 'vitest';
import { diffOverlays, diffOverlaysTexts } from '../../../src/lib/overlays/diff/diff.ts';
import { readOverlays } from '../../../src/lib/overlays/read/read.ts';
import type { OverlaysDiff } from '../../../src/lib/overlays/schemas.ts';
import { isFull, runs } from '../../properties.ts';
import { anyValue, choices, oddCollection, plainCollection, writeJson } from '../arbitrary.ts';
import { places } from '../places.ts';

interface Feature {
  id?: unknown;
  geometry?: unknown;
  properties?: Record<string, unknown>;
  [key: string]: unknown;
}

const point = (x: number, y: number) => ({ type: 'Point', coordinates: [x, y] });
const feature = (id: string | null, geometry: unknown, properties: Record<string, unknown> = {}): Feature => ({
  ...(id === null ? {} : { id }),
  type: 'Feature',
  geometry,
  properties,
});
const collection = (...features: unknown[]) => JSON.stringify({ type: 'FeatureCollection', features });
const diff = (a: string, b: string) => diffOverlays(readOverlays(a), readOverlays(b));

describe('two equal collections', () => {
  it('have no difference in any notation', { tags: 'property' }, () => {
    const both = fc.tuple(fc.oneof(oddCollection(), plainCollection()), choices(), choices());
    fc.assert(
      fc.property(both, ([value, one, other]) => {
        const [a, b] = [writeJson(value, one), writeJson(value, other)];
        const found = diff(a, b);
        expect(found).toMatchObject({ same: true, changed: [], added: [], removed: [], reordered: [], members: [] });
        expect(found.sameText).toBe(a === b);
        expect(diffOverlaysTexts(a, b).same).toBe(true);
      }),
    );
  });

  it('may write a number in two ways, which is reported', () => {
    const a = '{"type":"FeatureCollection","scale":1.0,"features":[{"properties":{"z":[1.0,{"w":1e2}],"n":7}}]}';
    const b = '{"type":"FeatureCollection","scale":1,"features":[{"properties":{"z":[1,{"w":100}],"n":7}}]}';
    const found = diff(a, b);
    expect(found.same).toBe(true);
    expect(found.notation).toEqual({
      numbers: 3,
      examples: [
        { index: null, path: 'scale', fromJson: '1.0', toJson: '1' },
        { index: 0, path: 'properties/z/0', fromJson: '1.0', toJson: '1' },
        { index: 0, path: 'properties/z/1/w', fromJson: '1e2', toJson: '100' },
      ],
    });
  });

  it('reports the first numbers of many, and their count', () => {
    const many = (one: string) =>
      `{"type":"FeatureCollection","features":[${Array.from({ length: 300 }, (_, i) => `{"id":"${i}","n":${one}}`)}]}`;
    const { notation } = diff(many('2.0'), many('2'));
    expect(notation.numbers).toBe(300);
    expect(notation.examples).toHaveLength(50);
  });
});

describe('equality', () => {
  it('is that of the values, their JSON types, their order and every member', { tags: 'property' }, () => {
    fc.assert(
      fc.property(nearlyTheSame(), choices(), choices(), ([one, other], handA, handB) => {
        const found = diff(writeJson(one, handA), writeJson(other, handB));
        expect(found.same).toBe(isDeepStrictEqual(parsed(one), parsed(other)));
        expect(isEmpty(found)).toBe(found.same);
      }),
      { numRuns: runs(500) },
    );
  });

  it.each([
    ['a code as text and as number', '{"properties":{"type":"11"}}', '{"properties":{"type":11}}'],
    ['null and nothing', '{"properties":{"a":null}}', '{"properties":{}}'],
    ['an empty text and nothing', '{"id":""}', '{}'],
    ['false and 0', '{"x":false}', '{"x":0}'],
    ['true and false', '{"x":true}', '{"x":false}'],
    ['an empty list and an empty object', '{"x":[]}', '{"x":{}}'],
    ['the order of a list', '{"x":[1,2]}', '{"x":[2,1]}'],
    ['a deep value', '{"properties":{"a":{"b":[{"c":1}]}}}', '{"properties":{"a":{"b":[{"c":2}]}}}'],
    [
      'a third coordinate',
      '{"geometry":{"type":"Point","coordinates":[1,2,3]}}',
      '{"geometry":{"type":"Point","coordinates":[1,2]}}',
    ],
    ['a key that is a prototype elsewhere', '{"properties":{"__proto__":{"a":1}}}', '{"properties":{}}'],
    ['a value of such a key', '{"__proto__":{"a":1}}', '{"__proto__":{"a":2}}'],
    ['large whole numbers in their last digit', '{"x":12345678901234567890}', '{"x":12345678901234567891}'],
    ['a large whole number that went through a parser', '{"x":12345678901234567890}', '{"x":1.2345678901234567e19}'],
    ['numbers beyond all', '{"x":1e400}', '{"x":1e500}'],
    ['an entry that is not a feature', '3', '4'],
    ['no feature and a feature', 'null', '{}'],
  ])('does not hold for %s', (_, one, other) => {
    const of = (entry: string) => `{"type":"FeatureCollection","features":[${entry}]}`;
    const found = diff(of(one), of(other));
    expect(found.same).toBe(false);
    expect(isEmpty(found)).toBe(false);
  });

  it.each([
    ['the same text with other escapes', '"A\\u00e4\\/"', '"Aä/"'],
    ['a large whole number with an exponent', '12345678901234567890', '12345678901234567890e0'],
    ['zero with a sign', '0', '-0'],
    ['the nearest of two spellings of one number', '0.1', '0.1000000000000000055511151231257827'],
    ['numbers beyond all that are one', '1e400', '10e399'],
  ])('holds for %s', (_, one, other) => {
    const of = (value: string) => `{"type":"FeatureCollection","features":[{"id":"a","x":${value}}]}`;
    expect(diff(of(one), of(other)).same).toBe(true);
  });

  it('does not hold where one of two duplicate keys is removed, which a parser does not notice', () => {
    const padding = 'x'.repeat(2 * 1024 * 1024);
    const of = (members: string) =>
      `{"type":"FeatureCollection","note":"${padding}","features":[{"id":"a",${members}}]}`;
    const found = diff(of('"x":1,"x":2'), of('"x":2'));
    expect(found.same).toBe(false);
    const value = { in: 'feature', name: 'x', change: 'duplicate-key', fromJson: '2', toJson: '2' };
    expect(found.changed[0]?.values).toEqual([value]);
  });

  it('includes the members of the collection', () => {
    const of = (members: object) => JSON.stringify({ type: 'FeatureCollection', features: [], ...members });
    const [before, after] = [of({ properties: { rack: 1 }, gone: 1, v: '1' }), { properties: { rack: 2 } }];
    const found = diff(before, of({ ...after, v: 1, come: null }));
    expect(found.members).toEqual([
      { in: 'collection', name: 'properties', change: 'value', fromJson: '{"rack":1}', toJson: '{"rack":2}' },
      { in: 'collection', name: 'gone', change: 'removed', fromJson: '1', toJson: null },
      { in: 'collection', name: 'v', change: 'type', fromJson: '"1"', toJson: '1' },
      { in: 'collection', name: 'come', change: 'added', fromJson: null, toJson: 'null' },
    ]);
    expect(found.same).toBe(false);
  });

  it('distinguishes an empty collection from a map without overlays', () => {
    const none = JSON.stringify({ id: 1, grid_resolution: 0.05, overlays: null });
    const found = diffOverlays(readOverlays(none), readOverlays(collection()));
    expect(found.same).toBe(false);
    expect(found.members).toMatchObject([{ name: 'type', change: 'added', toJson: '"FeatureCollection"' }]);
    expect(diffOverlays(readOverlays(none), readOverlays(none)).same).toBe(true);
  });
});

describe('counts', () => {
  it('are complete: applying the differences to the old side yields the new one', { tags: 'property' }, () => {
    fc.assert(
      fc.property(nearlyTheSame(), ([one, other]) => {
        const found = diff(JSON.stringify(one), JSON.stringify(other));
        const gone = new Set([...found.removed, ...found.changed.map(({ from }) => from)].map(({ index }) => index));
        const come = [...found.added, ...found.changed.map(({ to }) => to)].map(({ index }) => index);
        const kept = one.features.filter((_, index) => !gone.has(index));
        const made = [...kept, ...come.map((index) => other.features[index])];
        expect(made.map(inOrder).sort()).toEqual(other.features.map(inOrder).sort());
      }),
      { numRuns: runs(300) },
    );
  });
});

describe('the match of two features', () => {
  it('is by an id that is unique on both sides, at any place', () => {
    const a = collection(feature('a', point(0, 0)), feature('b', point(5, 5)));
    const b = collection(feature('b', point(0, 0)), feature('a', point(5, 5)));
    const found = diff(a, b);
    expect(found.changed.map(({ from, to, pairedBy }) => `${from.id} ${to.id} ${pairedBy}`)).toEqual([
      'a a id',
      'b b id',
    ]);
    expect(found.reordered).toHaveLength(1);
  });

  it('is by geometry where ids are missing, duplicate, or new', () => {
    const withIds = (...ids: (string | null)[]) =>
      collection(...ids.map((id, nth) => feature(id, point(nth, nth), nth === 0 ? { name: 'none' } : {})));
    const found = diff(withIds(null, 'twice', 'twice', 'old'), withIds('x1', 'x2', 'x3', 'x4'));
    expect(found.changed.map(({ pairedBy }) => pairedBy)).toEqual(Array(4).fill('geometry'));
    expect(found.changed.map(({ to }) => to.id)).toEqual(['x1', 'x2', 'x3', 'x4']);
    const added = { in: 'feature', name: 'id', change: 'added', fromJson: null, toJson: '"x1"' };
    expect(found.changed[0]?.values).toEqual([added]);
    expect(found.changed[3]?.values[0]).toMatchObject({ name: 'id', fromJson: '"old"', toJson: '"x4"' });
  });

  it('among several at one place is by the most in common', () => {
    const at = (properties: Record<string, unknown>) => feature(null, point(1, 1), properties);
    const [lift, b] = [at({ type: '6', name: 'lift' }), at({ type: '11', name: 'B' })];
    const found = diff(
      collection(lift, at({ type: '11', name: 'A', extra: 1 }), b),
      collection(b, at({ type: 11, name: 'A', extra: 2 }), lift),
    );
    expect(found.counts).toMatchObject({ unchanged: 2, changed: 1, added: 0, removed: 0, reordered: 2 });
    expect(found.changed[0]).toMatchObject({ from: { index: 1, name: 'A' }, to: { index: 1, name: 'A' } });
  });

  it('is a guess within 1 m for the same kind and code, reported as such; beyond that there is none', () => {
    const at = (x: number, y: number, type: unknown) => feature(null, point(x, y), { type });
    const found = diff(
      collection(at(0, 0, '11'), at(10, 0, '11'), at(20, 0, '11')),
      collection(at(0.3, 0.4, 11), at(11.2, 0, '11'), at(20.1, 0, '9')),
    );
    expect(found.changed).toHaveLength(1);
    expect(found.changed[0]).toMatchObject({ pairedBy: 'nearness', shape: { movedM: 0.5, largestShiftM: 0.5 } });
    expect(found.removed.map(({ index }) => index)).toEqual([1, 2]);
    expect(found.added.map(({ index, xM, yM }) => `${index}: ${xM}, ${yM}`)).toEqual(['1: 11.2, 0', '2: 20.1, 0']);
  });

  it('is made for the nearest pair first', () => {
    const a = collection(feature(null, point(0, 0)), feature(null, point(0.6, 0)));
    const b = collection(feature(null, point(0.5, 0)), feature(null, point(1.2, 0)));
    const moved = diff(a, b).changed.map(({ from, to }) => [from.index, to.index]);
    expect(moved).toEqual([[1, 0]]);
  });

  it('is not guessed for features without a place', () => {
    const a = collection(feature(null, null, { name: 'x' }), feature(null, null, { name: 'y' }));
    const b = collection(feature(null, null, { name: 'y' }), feature(null, null, { name: 'z' }));
    expect(diff(a, b).counts).toMatchObject({ unchanged: 1, changed: 0, added: 1, removed: 1 });
  });

  it('is bounded in its work for many in one spot', { tags: 'property' }, () => {
    const count = isFull ? 20_000 : 500;
    const heap = (offset: number) =>
      collection(
        ...Array.from({ length: count }, (_, i) => feature(null, point((i % 141) / 1000 + offset, i / 200_000))),
      );
    using searches = vi.spyOn(Flatbush.prototype, 'neighbors');
    const { counts } = diff(heap(0), heap(0.0001));
    const candidates = searches.mock.results.map(({ value }) => (value as number[]).length);
    // Eight from each side in each of four rounds, however close the features are.
    expect(candidates.reduce((sum, found) => sum + found, 0)).toBeLessThanOrEqual(8 * 2 * 4 * count);
    expect(counts.changed + counts.removed).toBe(count);
    expect(counts.changed + counts.added).toBe(count);
  });
});

describe('overlays that are not a FeatureCollection', () => {
  const one = '{"type":"Feature","id":"a","geometry":{"type":"Point","coordinates":[1,2]},"properties":{"type":9}}';
  const forms = {
    untyped: `{"map_uid":"u","features":[${one}]}`,
    list: `[${one}]`,
    single: one,
    typed: `{"type":"FeatureCollection","features":[${one}]}`,
  };

  it('equal themselves in other notation and wrapping', () => {
    for (const text of Object.values(forms)) {
      const otherwise = JSON.stringify(JSON.parse(text), null, 1);
      expect(diffOverlaysTexts(text, otherwise)).toMatchObject({ same: true, sameText: false });
      const packed = JSON.stringify({ overlays: text });
      expect(diffOverlaysTexts(packed, JSON.stringify({ overlays: otherwise }))).toMatchObject({ same: true });
    }
  });

  it('differ in a feature that was moved, added or removed', () => {
    for (const text of Object.values(forms)) {
      const moved = diffOverlaysTexts(text, text.replace('[1,2]', '[1,3]'));
      expect(moved).toMatchObject({ same: false, counts: { from: 1, to: 1, moved: 1 }, members: [] });
    }
    expect(diffOverlaysTexts(forms.list, `[${one},{"id":"b"}]`)).toMatchObject({ same: false, counts: { added: 1 } });
    expect(diffOverlaysTexts(forms.untyped, '{"map_uid":"u","features":[]}')).toMatchObject({ counts: { removed: 1 } });
    expect(diffOverlaysTexts(forms.untyped, forms.untyped.replace('"u"', '"v"'))).toMatchObject({
      same: false,
      members: [{ in: 'collection', name: 'map_uid' }],
    });
  });

  it('differ from each other, for any content', () => {
    for (const [from, a] of Object.entries(forms)) {
      for (const [to, b] of Object.entries(forms)) {
        const found = diffOverlaysTexts(a, b);
        expect({ from, to, same: found.same }).toEqual({ from, to, same: from === to });
        expect(found.counts).toMatchObject({ changed: 0, added: 0, removed: 0 });
        expect(found.members.length > 0).toBe(from !== to);
      }
    }
  });
});

describe('a change', () => {
  const changeOf = (from: Feature, to: Feature) => diff(collection(from), collection(to)).changed[0];

  it('has the displacement of a point, in metres', () => {
    expect(changeOf(feature('a', point(1, 2)), feature('a', point(4, 6)))?.shape).toMatchObject({
      ...{ isMovedAsWhole: true, fromType: 'Point', toType: 'Point' },
      ...{ movedM: 5, largestShiftM: 5, fromCorners: 1, toCorners: 1 },
    });
  });

  it('has the displacement of the middle of a zone and of its corners, with closed and unclosed ring', () => {
    const zone = (coordinates: unknown) => feature('z', { type: 'Polygon', coordinates });
    const closed = zone([places('0,0 2,0 2,2 0,2 0,0')]);
    for (const [coordinates, change] of [
      [[places('0,0 2,0 2,2 0,2')], { movedM: 0, largestShiftM: 0, fromCorners: 4, toCorners: 4 }],
      [[places('0,0 2,0 4,2 0,2 0,0')], { movedM: 0.5, largestShiftM: 2 }],
      [[places('0,0 2,0 2,2 1,3 0,2')], { largestShiftM: null, toCorners: 5 }],
      ['x', { movedM: null, largestShiftM: null, toCorners: null }],
    ] as const) {
      expect(changeOf(closed, zone(coordinates))?.shape).toMatchObject(change);
    }
  });

  it('has the smaller rotation, with the written values', () => {
    const yaw = (value: unknown, icon: unknown) => feature('a', point(0, 0), { yaw: value, iconYaw: icon });
    expect(changeOf(yaw('350', '10'), yaw('10', '350'))?.turns).toEqual([
      { field: 'yaw', fromDeg: 350, toDeg: 10, turnedDeg: 20, fromJson: '"350"', toJson: '"10"' },
      { field: 'iconYaw', fromDeg: 10, toDeg: 350, turnedDeg: -20, fromJson: '"10"', toJson: '"350"' },
    ]);
    expect(changeOf(yaw('90', 0), yaw(90, 'north'))?.turns).toEqual([
      { field: 'yaw', fromDeg: 90, toDeg: 90, turnedDeg: 0, fromJson: '"90"', toJson: '90' },
      { field: 'iconYaw', fromDeg: 0, toDeg: null, turnedDeg: null, fromJson: '0', toJson: '"north"' },
    ]);
  });

  it('may be another code, or the same one in another JSON type', () => {
    const from = feature('a', point(0, 0), { type: '11', startType: 1, endType: '2', direction: 3 });
    const to = feature('a', point(0, 0), { type: 11, startType: 2, direction: 'x', lineType: 4 });
    expect(changeOf(from, to)).toMatchObject({
      codes: [
        { field: 'type', from: 11, to: 11, fromJson: '"11"', toJson: '11' },
        { field: 'startType', from: 1, to: 2, fromJson: '1', toJson: '2' },
        { field: 'endType', from: 2, to: null, fromJson: '"2"', toJson: null },
        { field: 'direction', from: 3, to: null, fromJson: '3', toJson: '"x"' },
      ],
      turns: [],
      // On a point it is an ordinary property.
      values: [{ in: 'properties', name: 'lineType', change: 'added', fromJson: null, toJson: '4' }],
      shape: null,
    });
  });

  it('may be any other member, with the written values', () => {
    const from =
      '{"type":"FeatureCollection","features":[{"id":"a","bbox":[ 1 ],"properties":{"big":12345678901234567890}}]}';
    const to =
      '{"type":"FeatureCollection","features":[{"id":"a","type":"Feature","properties":{"big":12345678901234567000,"new":{"__proto__":1}}}]}';
    const big = { in: 'properties', name: 'big', change: 'value' };
    expect(diff(from, to).changed[0]?.values).toEqual([
      { in: 'feature', name: 'bbox', change: 'removed', fromJson: '[ 1 ]', toJson: null },
      { ...big, fromJson: '12345678901234567890', toJson: '12345678901234567000' },
      { in: 'properties', name: 'new', change: 'added', fromJson: null, toJson: '{"__proto__":1}' },
      { in: 'feature', name: 'type', change: 'added', fromJson: null, toJson: '"Feature"' },
    ]);
  });

  it('is that of all properties where they are not an object on one side', () => {
    const from = { id: 'a', properties: null } as unknown as Feature;
    const change = { in: 'feature', name: 'properties', change: 'type', fromJson: 'null', toJson: '{"x":1}' };
    expect(changeOf(from, feature('a', undefined, { x: 1 }))?.values).toContainEqual(change);
  });

  it('may be the order: the smallest set of features out of order', () => {
    const all = ['a', 'b', 'c', 'd', 'e'].map((id, i) => feature(id, point(i * 5, 0)));
    const [a, b, c, d, e] = all;
    const found = diff(collection(...all), collection(d, a, b, c, e));
    expect(found.reordered.map(({ from, to }) => [from.id, from.index, to.index])).toEqual([['d', 3, 0]]);
    expect(found.same).toBe(false);
    expect(found.counts).toMatchObject({ unchanged: 5, changed: 0, reordered: 1 });
    expect(diff(collection(...all), collection(b, c, d, e)).reordered).toEqual([]);
  });
});

describe('two texts of overlays', () => {
  const collection = { type: 'FeatureCollection', features: [feature('a', point(0, 0))] };
  const wrapped = (more: object, inner: object = collection) =>
    JSON.stringify({ ...more, overlays: JSON.stringify(inner) });

  it('are compared with the content around the collection', () => {
    expect(diffOverlaysTexts(wrapped({ v: 1 }), wrapped({ v: 1 }))).toMatchObject({ same: true, sameText: true });
    const members = [{ in: 'document', name: 'v', change: 'value', fromJson: '1', toJson: '2' }];
    expect(diffOverlaysTexts(wrapped({ v: 1 }), wrapped({ v: 2 }))).toMatchObject({ same: false, members });
    const { type, features } = collection;
    const otherwise = diffOverlaysTexts(wrapped({ v: 1 }), wrapped({ v: 1 }, { features, type }));
    expect(otherwise).toMatchObject({ same: true, sameText: false });
    expect(diffOverlaysTexts(JSON.stringify(wrapped({ v: 1 })), JSON.stringify(wrapped({ v: 2 }))).same).toBe(false);
  });

  it('differ where the collection is wrapped differently', () => {
    const packed = { overlays: collection };
    const found = diffOverlaysTexts(wrapped({}), JSON.stringify(packed));
    expect(found.same).toBe(false);
    expect(found.members).toMatchObject([{ in: 'document', change: 'type' }]);
    expect(diffOverlaysTexts(JSON.stringify(collection), wrapped({})).same).toBe(false);
  });

  it('are refused where one holds no overlays', () => {
    expect(() => diffOverlaysTexts(JSON.stringify(collection), '[]')).toThrow(
      expect.objectContaining({ code: 'OVERLAYS_INVALID' }),
    );
  });
});

function isEmpty({ changed, added, removed, reordered, members }: OverlaysDiff): boolean {
  return [changed, added, removed, reordered, members].every((list) => list.length === 0);
}

/** As from JSON.parse: some generated objects have no prototype, which does not matter here. */
function parsed(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}

/** The same for the same value: keys sorted. */
function inOrder(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(inOrder)}]`;
  const entries = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return `{${entries.map(([key, inner]) => `${JSON.stringify(key)}:${inOrder(inner)}`)}}`;
}

interface Collection {
  readonly features: readonly unknown[];
}

/** A collection before and after a few edits, or none. */
function nearlyTheSame(): fc.Arbitrary<[Collection, Collection]> {
  const edit = fc.record({
    kind: fc.constantFrom('none', 'drop', 'double', 'swap', 'reverse', 'replace', 'set', 'unset', 'member', 'retype'),
    at: fc.nat(11),
    to: fc.nat(11),
    value: anyValue(),
  });
  return fc
    .tuple(fc.oneof(oddCollection(), plainCollection()) as fc.Arbitrary<object>, fc.array(edit, { maxLength: 3 }))
    .map(([value, edits]) => {
      const one = value as Collection;
      let features = [...one.features];
      let members = Object.entries(one).filter(([key]) => key !== 'features');
      for (const { kind, at, to, value: given } of edits) {
        if (kind === 'drop') features = features.filter((_, index) => index !== at);
        else if (kind === 'double' && at < features.length) features.splice(to, 0, features[at]);
        else if (kind === 'reverse') features.reverse();
        else if (kind === 'replace' && at < features.length) features[at] = given;
        else if (kind === 'swap' && at < features.length && to < features.length) {
          [features[at], features[to]] = [features[to], features[at]];
        } else if (kind === 'member') {
          members = [...members.filter(([key]) => key !== 'extra'), ['extra', given]];
        } else {
          features = features.map((it, index) => (index === at ? edited(it, kind, given) : it));
        }
      }
      return [one, Object.fromEntries([...members, ['features', features]]) as unknown as Collection];
    });
}

function edited(it: unknown, kind: string, given: unknown): unknown {
  if (typeof it !== 'object' || it === null || Array.isArray(it)) return it;
  const properties = (it as Feature).properties;
  if (typeof properties !== 'object' || properties === null) return it;
  const entries = Object.entries(properties);
  const changed =
    kind === 'set'
      ? [...entries.filter(([key]) => key !== 'yaw'), ['yaw', given] as const]
      : kind === 'unset'
        ? entries.slice(1)
        : kind === 'retype'
          ? entries.map(([key, value]) => [key, typeof value === 'number' ? String(value) : value] as const)
          : entries;
  const rest = Object.entries(it).filter(([key]) => key !== 'properties');
  return Object.fromEntries([...rest, ['properties', Object.fromEntries(changed)]]);
}
