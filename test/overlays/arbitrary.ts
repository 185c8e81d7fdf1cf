import fc from 'fast-check';
import { anyCharacter } from '../text/units.ts';
import { places } from './places.ts';

/**
 * Collections as from a chassis, a map editor or an attacker. All values can result from JSON.parse: `__proto__` is an own key, there is no -0 and no Infinity, and the keys of an object differ.
 */

const absent = Symbol('absent');

/** An object of arbitraries, each of which may be missing. Own keys only, with any names. */
function partial(members: Readonly<Record<string, fc.Arbitrary<unknown>>>, odds = 3): fc.Arbitrary<object> {
  const entries = Object.entries(members).map(([key, value]) =>
    fc
      .oneof({ weight: odds, arbitrary: value }, { weight: 1, arbitrary: fc.constant<unknown>(absent) })
      .map((it) => [key, it]),
  );
  return fc.tuple(...entries).map((all) => Object.fromEntries(all.filter(([, it]) => it !== absent)));
}

/** Merges two objects; the second wins. Own keys stay own keys. */
function together(a: fc.Arbitrary<object>, b: fc.Arbitrary<object>): fc.Arbitrary<object> {
  return fc.tuple(a, b).map(([one, two]) => Object.fromEntries([...Object.entries(one), ...Object.entries(two)]));
}

/** Finite numbers: ordinary metres, and the limits of the number range. */
export function oddNumber(): fc.Arbitrary<number> {
  return fc.oneof(
    { weight: 4, arbitrary: fc.integer({ min: -4000, max: 4000 }).map((n) => n / 100) },
    { weight: 2, arbitrary: fc.double({ noNaN: true, noDefaultInfinity: true }).map((n) => n + 0) },
    {
      weight: 1,
      arbitrary: fc.constantFrom(0, 5e-324, 1e-7, 1e21, 1e300, -1e308, Number.MAX_VALUE, 2 ** 53, 1.5708, 0.1 + 0.2),
    },
  );
}

/** Names and other texts: plain, German, HTML, formulas of a spreadsheet, control characters, all of Unicode. */
export function oddText(): fc.Arbitrary<string> {
  return fc.oneof(
    fc.constantFrom(
      ...[
        'Station A',
        'Zimmer 101',
        'Küche & Bar',
        '<script>alert(1)</script>',
        '"><img src=x onerror=alert(1)>',
        "'; --",
      ],
      ...[
        '=HYPERLINK("http://example.invalid")',
        '+1',
        '-1',
        '@x',
        'a,b;c\td',
        'line\r\nbreak',
        '\u001b[31mred\u001b[0m',
      ],
      ...['\u0000\u0007\u009b', '\u202Eleft', '\u2028\u2029', '\ufeffmarked', '電梯', '🤖👩‍🚀', '\ud800', ']]>', '-->'],
      ...['{{x}}', 'x'.repeat(300), '', ' '],
    ),
    fc.string({ maxLength: 12 }),
    fc.string({ maxLength: 12, unit: anyCharacter }),
  );
}

/** Any JSON value, small. */
export function anyValue(): fc.Arbitrary<unknown> {
  return fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom<unknown>(null, true, false, {}, [], [null], { a: [1, '1'] }) },
    { weight: 2, arbitrary: oddNumber() },
    { weight: 2, arbitrary: oddText() },
    { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 2 }).map((it) => JSON.parse(JSON.stringify(it)) as unknown) },
  );
}

/** Keys that break careless copies of objects, names like a speed limit, and unknown names. */
function unknownMembers(): fc.Arbitrary<object> {
  const key = fc.constantFrom(
    ...['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'valueOf', 'speedLimit', 'max_velocity'],
    ...['limit', 'barcodeId', 'landmarkId', 'ref', 'note', '', '0', 'Größe', '<b>key</b>'],
  );
  return fc
    .array(fc.tuple(fc.oneof({ weight: 4, arbitrary: key }, { weight: 1, arbitrary: oddText() }), anyValue()), {
      maxLength: 3,
    })
    .map((entries) => Object.fromEntries(entries));
}

/** A code in either JSON type, seldom an invalid one. */
function oddCode(most = 40): fc.Arbitrary<unknown> {
  const number = fc.oneof(fc.integer({ min: 0, max: most }), fc.constantFrom(1, 2, 3, 9, 11, 24, 36, 99, -1, 100000));
  return fc.oneof(
    { weight: 4, arbitrary: number },
    { weight: 4, arbitrary: number.map(String) },
    {
      weight: 1,
      arbitrary: fc.constantFrom<unknown>('', ' 11 ', '11.0', '0x1f', '1e1', 'eleven', 1.5, '2.5', true, null),
    },
    { weight: 1, arbitrary: anyValue() },
  );
}

/** Degrees, usually as a string; also likely radians, values beyond a turn, and values that are not numbers. */
function oddYaw(): fc.Arbitrary<unknown> {
  const whole = fc.integer({ min: -360, max: 360 });
  return fc.oneof(
    { weight: 4, arbitrary: whole.map(String) },
    { weight: 2, arbitrary: whole },
    { weight: 1, arbitrary: fc.double({ min: -360, max: 360, noNaN: true }).map((n) => n + 0) },
    {
      weight: 2,
      arbitrary: fc.constantFrom<unknown>(
        ...[1.5708, '1.5708', -1.5708, 900, '-720', 'north', '', ' 90 ', '9,5', null, [90]],
      ),
    },
    { weight: 1, arbitrary: anyValue() },
  );
}

/** Ids from a small set, so that many are duplicate; and invalid ids. */
function oddId(): fc.Arbitrary<unknown> {
  return fc.oneof(
    { weight: 5, arbitrary: fc.constantFrom('a', 'b', 'c', 'd1', 'd2', '5f0c00000000000000000001') },
    { weight: 2, arbitrary: fc.uuid() },
    { weight: 2, arbitrary: fc.constantFrom<unknown>('', ' ', 0, 7, 1.5, null, true, {}, '__proto__', 'constructor') },
    { weight: 1, arbitrary: oddText() },
  );
}

/** A place within a floor of 40 m. */
export function place(): fc.Arbitrary<[number, number]> {
  const metres = fc.integer({ min: -2000, max: 2000 }).map((n) => n / 100);
  return fc.tuple(metres, metres);
}

const oddPlace = (): fc.Arbitrary<unknown> =>
  fc.oneof(
    { weight: 6, arbitrary: place() },
    { weight: 2, arbitrary: fc.tuple(oddNumber(), oddNumber()) },
    { weight: 1, arbitrary: fc.tuple(oddNumber(), oddNumber(), oddNumber()) },
  );

/** Invalid positions. */
const describeInvalidPlace = (): fc.Arbitrary<unknown> =>
  fc.oneof(fc.constantFrom<unknown>(null, [], [1], ['1', '2'], [null, 0], [[1, 2]], {}, 'x', 3), anyValue());

const ring = (): fc.Arbitrary<unknown[]> =>
  fc
    .array(oddPlace(), { minLength: 3, maxLength: 7 })
    .chain((corners) => fc.constantFrom(corners, [...corners, corners[0]]));

/** A geometry: mostly a point, a lane or a zone (closed and unclosed), also unknown kinds, broken ones and none. */
function oddGeometry(): fc.Arbitrary<unknown> {
  const of = (type: string, coordinates: fc.Arbitrary<unknown>) => coordinates.map((it) => ({ type, coordinates: it }));
  return fc.oneof(
    { weight: 5, arbitrary: of('Point', oddPlace()) },
    { weight: 3, arbitrary: of('LineString', fc.array(oddPlace(), { minLength: 2, maxLength: 5 })) },
    { weight: 4, arbitrary: of('Polygon', fc.array(ring(), { minLength: 1, maxLength: 3 })) },
    {
      weight: 2,
      arbitrary: fc.oneof(
        of('MultiPoint', fc.array(oddPlace(), { maxLength: 4 })),
        of('MultiLineString', fc.array(fc.array(oddPlace(), { minLength: 1, maxLength: 4 }), { maxLength: 3 })),
        of('MultiPolygon', fc.array(fc.array(ring(), { minLength: 1, maxLength: 3 }), { maxLength: 3 })),
      ),
    },
    {
      weight: 2,
      arbitrary: fc.oneof(
        of('Point', describeInvalidPlace()),
        of('LineString', fc.array(fc.oneof(oddPlace(), describeInvalidPlace()), { maxLength: 3 })),
        of(
          'Polygon',
          fc.array(fc.oneof(ring(), fc.array(oddPlace(), { maxLength: 2 }), describeInvalidPlace()), { maxLength: 2 }),
        ),
      ),
    },
    {
      weight: 1,
      arbitrary: fc.constantFrom<unknown>(
        null,
        {},
        [],
        'Point',
        { type: 'Point' },
        { type: 7, coordinates: [1, 2] },
        { type: 'point', coordinates: [1, 2] },
        { type: 'GeometryCollection', geometries: [{ type: 'Point', coordinates: [1, 2] }] },
        { type: '__proto__', coordinates: [] },
        { type: 'constructor', coordinates: [] },
      ),
    },
  );
}

function oddProperties(): fc.Arbitrary<object> {
  const known = partial(
    {
      type: oddCode(),
      lineType: oddCode(4),
      regionType: oddCode(24),
      direction: oddCode(4),
      startType: oddCode(4),
      endType: oddCode(4),
      yaw: oddYaw(),
      iconYaw: oddYaw(),
      name: fc.oneof({ weight: 4, arbitrary: oddText() }, { weight: 1, arbitrary: anyValue() }),
      dockingPointId: oddId(),
      deviceIds: fc.constantFrom<unknown>(['SN0001'], [], 'SN0001', null),
      mac: fc.constantFrom<unknown>('30:AE:A4:00:00:01', '', null),
      mapOverlay: fc.constantFrom<unknown>(true, 'true'),
      blocked: fc.constantFrom<unknown>(false, 0),
    },
    1,
  );
  return together(known, unknownMembers());
}

/** One entry of `features`, with all anomalies. */
function oddFeature(): fc.Arbitrary<object> {
  return together(
    partial(
      {
        id: oddId(),
        type: fc.oneof({ weight: 9, arbitrary: fc.constant('Feature') }, { weight: 1, arbitrary: anyValue() }),
        geometry: oddGeometry(),
        properties: fc.oneof(
          { weight: 9, arbitrary: oddProperties() },
          { weight: 1, arbitrary: fc.constantFrom<unknown>(null, [], 'x', 3) },
        ),
      },
      8,
    ),
    fc.oneof({ weight: 4, arbitrary: fc.constant({}) }, { weight: 1, arbitrary: unknownMembers() }),
  );
}

/** A FeatureCollection with all kinds of features, some of them invalid. */
export function oddCollection(): fc.Arbitrary<object> {
  const entry = fc.oneof(
    { weight: 15, arbitrary: oddFeature() as fc.Arbitrary<unknown> },
    { weight: 1, arbitrary: fc.constantFrom<unknown>(null, 3, 'x', [], [1], true) },
  );
  return together(
    fc.oneof({ weight: 2, arbitrary: fc.constant({}) }, { weight: 1, arbitrary: unknownMembers() }),
    fc.array(entry, { maxLength: 12 }).map((features) => ({ type: 'FeatureCollection', features })),
  );
}

/** A FeatureCollection as the vendor and the specification describe it, valid apart from its size. */
export function plainCollection(): fc.Arbitrary<object> {
  const whole = (min: number, max: number) =>
    fc.tuple(fc.integer({ min, max }), fc.boolean()).map(([n, asText]) => (asText ? String(n) : n));
  const yaw = fc.integer({ min: -180, max: 180 }).map(String);
  const name = fc.constantFrom('Station A', 'Küche', 'Flur 2', 'Aufzug');
  const featureOf = (geometry: fc.Arbitrary<object>, properties: fc.Arbitrary<object>) =>
    fc.record({ type: fc.constant('Feature'), geometry, properties });
  const corner = fc.tuple(
    place(),
    fc.integer({ min: 20, max: 500 }).map((n) => n / 100),
  );
  const feature = fc.oneof(
    featureOf(
      place().map((coordinates) => ({ type: 'Point', coordinates })),
      fc.record({ type: whole(1, 39), name, yaw, iconYaw: yaw, mapOverlay: fc.constant(true) }),
    ),
    featureOf(
      fc.tuple(place(), place(), place()).map((coordinates) => ({ type: 'LineString', coordinates })),
      fc.record({ lineType: whole(1, 4), direction: fc.constant(3) }),
    ),
    featureOf(
      corner.map(([[x, y], side]) => ({
        type: 'Polygon',
        coordinates: [places('0,0 1,0 1,1 0,1 0,0').map(([dx, dy]) => [x + dx * side, y + dy * side])],
      })),
      fc.record({ regionType: whole(0, 17), name, blocked: fc.constant(false) }),
    ),
  );
  return fc.array(feature, { maxLength: 12 }).map((features) => ({
    type: 'FeatureCollection',
    features: features.map((it, index) => ({ id: `feature-${index}`, ...it })),
  }));
}

/**
 * The same value as JSON text in another notation: whitespace, order of keys, escapes and notation of numbers vary with
 * the numbers given. JSON.parse returns an equal value.
 */
export function writeJson(value: unknown, choices: readonly number[]): string {
  let next = 0;
  const choose = (of: number) => (choices[next++ % Math.max(choices.length, 1)] ?? 0) % of;
  const space = () => ['', '', '', ' ', '\n', '\r\n  ', '\t'][choose(7)] ?? '';
  const character = (it: string) => {
    const code = it.charCodeAt(0);
    const escaped = `\\u${code.toString(16).padStart(4, '0')}`;
    if (code < 0x20 || (code >= 0xd800 && code <= 0xdfff)) return escaped;
    if (it === '"' || it === '\\') return choose(2) === 0 ? `\\${it}` : escaped;
    if (it === '/') return choose(2) === 0 ? '\\/' : it;
    return choose(16) === 0 ? escaped : it;
  };
  const text = (it: string) => `"${it.split('').map(character).join('')}"`;
  const number = (it: number) => {
    const plain = JSON.stringify(it);
    if (plain.includes('e')) return choose(2) === 0 ? plain : plain.replace('e', 'E');
    return [plain, plain, `${plain}e0`, plain.includes('.') ? `${plain}0` : `${plain}.0`][choose(4)] ?? plain;
  };
  const write = (it: unknown): string => {
    if (typeof it === 'string') return text(it);
    if (typeof it === 'number') return number(it);
    if (Array.isArray(it)) return `[${space()}${it.map((inner) => write(inner) + space()).join(`,${space()}`)}]`;
    if (typeof it !== 'object' || it === null) return JSON.stringify(it);
    const entries = Object.entries(it);
    const turned = choose(Math.max(entries.length, 1));
    const members = [...entries.slice(turned), ...entries.slice(0, turned)].map(
      ([key, inner]) => `${space()}${text(key)}${space()}:${space()}${write(inner)}${space()}`,
    );
    return `{${members.length === 0 ? space() : members.join(',')}}`;
  };
  return `${space()}${write(value)}${space()}`;
}

/** Choices for `writeJson`. */
export function choices(): fc.Arbitrary<number[]> {
  return fc.array(fc.nat(1000), { minLength: 1, maxLength: 97 });
}

/** JSON text of a collection, odd or plain, in any notation. */
export function collectionText(): fc.Arbitrary<string> {
  return fc
    .tuple(fc.oneof(oddCollection(), plainCollection()), choices())
    .map(([collection, hand]) => writeJson(collection, hand));
}
