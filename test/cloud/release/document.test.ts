import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readDocument } from '../../../src/lib/cloud/release/job/document.ts';
import { compareVersions, isVersion } from '../../../src/lib/cloud/release/version.ts';

const document = {
  schema: 'gw/release-job/1',
  version: '1.2.3',
  package: { url: 'https://storage.example.com/a?b=%20c', bytes: 10, sha256: 'ab'.repeat(32) },
};

const problemsOf = (value: unknown) => {
  const reading = readDocument(value);
  return reading.ok ? [] : reading.problems;
};

describe('the document of a release job', () => {
  it('is accepted with and without its optional fields, and the stage is passed through', () => {
    expect(readDocument(document)).toEqual({ ok: true, document });
    const all = { ...document, allowDowngrade: true, stage: 4 };
    expect(readDocument(all)).toEqual({ ok: true, document: all });
  });

  it.each([1, 2, 3, 4, 0, 5, -1, 2.5, 1e9, '2', null, true])('has one of four stages: %j', (stage) => {
    const refused = [expect.stringContaining('"stage": expected a whole number')];
    expect(problemsOf({ ...document, stage })).toEqual(
      [1, 2, 3, 4].includes(Number(stage)) && typeof stage === 'number' ? [] : refused,
    );
  });

  it('is accepted with documentParameters of every shape, which are kept as they came', { tags: 'property' }, () => {
    // Their shape is not shown; a placeholder among them stands in no field that is used.
    const placeholder = `\${${'gw:parameters:site'}}`;
    const nested = [{}, { site: 'A', url: placeholder }, { [placeholder]: [1, { a: null }] }];
    for (const documentParameters of [...nested, [], null, 'text', 7]) {
      expect(readDocument({ ...document, documentParameters })).toEqual({
        ok: true,
        document: { ...document, documentParameters },
      });
    }
    fc.assert(
      fc.property(fc.jsonValue(), (documentParameters) => {
        expect(readDocument({ ...document, documentParameters }).ok).toBe(true);
      }),
    );
  });

  it('substitutes nothing: a placeholder stays unresolved beside a parameter of its name', () => {
    const placeholder = `\${${'site'}}`;
    const url = `https://storage.example.com/${placeholder}`;
    const placed = { ...document, package: { ...document.package, url }, documentParameters: { site: 'A' } };
    expect(problemsOf(placed)).toEqual([`unresolved placeholder "${placeholder}" in "package.url"`]);
  });

  it('has documentParameters nowhere else', () => {
    expect(problemsOf({ ...document, package: { ...document.package, documentParameters: {} } })).toEqual([
      'unknown field "package.documentParameters"',
    ]);
    expect(problemsOf({ ...document, documentparameters: {} })).toEqual(['unknown field "documentparameters"']);
  });

  it('names every problem at once', () => {
    const bad = {
      schema: 'gw/release-job/1',
      version: '1.2',
      package: { url: 'http://storage.example.com/a', bytes: 0, sha256: 'AB'.repeat(32), etag: 1 },
      stage: 5,
      force: true,
      'other\nfield': 1,
    };
    expect(problemsOf(bad)).toEqual([
      expect.stringContaining('"version": expected a version'),
      expect.stringContaining('"package.url": expected an https:// URL'),
      expect.stringContaining('"package.bytes"'),
      expect.stringContaining('"package.sha256": expected 64 lower-case'),
      'unknown field "package.etag"',
      expect.stringContaining('"stage"'),
      'unknown field "force"',
      'unknown field "other\\nfield"',
    ]);
  });

  it.each([undefined, null, 'text', 7, [], [document]])('refuses %j', (value) => {
    expect(problemsOf(value)).not.toEqual([]);
  });

  it('names unresolved placeholders wherever they stand, also in field names and in fields that are unknown', () => {
    const [path, two, field, open] = ['aws:x:path', 'two', 'field', 'never closed'].map((name) => `\${${name}}`);
    const unclosed = String(open).slice(0, -1);
    const placed = {
      ...document,
      package: { ...document.package, url: `https://storage.example.com/${path}/${two}` },
      [String(field)]: 1,
      more: [{ deep: `a ${unclosed}` }],
    };
    expect(problemsOf(placed).filter((text) => text.startsWith('unresolved'))).toEqual([
      `unresolved placeholder "${path}" in "package.url"`,
      `unresolved placeholder "${two}" in "package.url"`,
      `unresolved placeholder "${field}" in "a field name"`,
      'unresolved placeholder "${never…" in "more.0.deep"',
    ]);
    expect(problemsOf(two)[0]).toBe(`unresolved placeholder "${two}" in the document`);
  });

  it.each([20, 21])('names at most 20 placeholders of %d, and how many more there are', (count) => {
    const placed = Object.fromEntries(Array.from({ length: count }, (_, nth) => [`f${nth}`, `\${${`n${nth}`}}`]));
    const named = problemsOf({ ...document, more: placed }).filter((text) => text.includes('placeholder'));
    expect(named).toHaveLength(count);
    expect(named.at(-1)).toMatch(count > 20 ? /^and 1 more/ : /^unresolved/);
  });

  it('names an unresolved placeholder in a pre-signed URL without the rest of it', () => {
    const signature = '0123456789abcdef'.repeat(4);
    const query = `X-Signature=${signature}`;
    const starts = ['gw:path', 'gw:path}', '', 'gw:signed-url:https://storage.example.com/a', 'a~b'].map(
      (name) => `\${${name}`,
    );
    for (const start of starts) {
      for (const url of [
        `https://storage.example.com/${start}?${query}`,
        `https://storage.example.com/a?${query}&k=${start}&more=1`,
      ]) {
        const problems = problemsOf({ ...document, package: { ...document.package, url } });
        expect(problems, url).toEqual([expect.stringMatching(/^unresolved placeholder "\$\{.*" in "package.url"$/)]);
        expect(problems.join(), url).not.toContain(signature.slice(0, 8));
        expect(problems.join(), url).not.toContain('more');
      }
    }
    // As the name, the start of a signature that follows without a separator is limited.
    const long = `\${${signature.repeat(10)}}`;
    expect(
      String(problemsOf({ ...document, package: { ...document.package, url: `https://a.example.com/${long}` } }))
        .length,
    ).toBeLessThan(140);
  });

  it('is never accepted with a placeholder, and never throws', { tags: 'property' }, () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        readDocument(value);
      }),
    );
    fc.assert(
      fc.property(fc.string(), fc.constantFrom('version', 'url', 'sha256', 'schema'), (name, at) => {
        const text = `\${${name}}`;
        const changed =
          at === 'url' || at === 'sha256'
            ? { ...document, package: { ...document.package, [at]: `${document.package[at]}${text}` } }
            : { ...document, [at]: text };
        expect(problemsOf(changed).some((problem) => problem.startsWith('unresolved placeholder'))).toBe(true);
      }),
    );
  });
});

describe('versions', () => {
  it('are ordered as semver.org says', () => {
    const ordered = [
      ...['0.9.0', '1.0.0-alpha', '1.0.0-alpha.1', '1.0.0-alpha.beta', '1.0.0-beta', '1.0.0-beta.2', '1.0.0-beta.11'],
      ...['1.0.0-rc.1', '1.0.0', '1.0.1', '1.9.0', '1.10.0', '99999999999999999999.0.0'],
    ];
    for (const [a, one] of ordered.entries()) {
      expect(isVersion(one)).toBe(true);
      for (const [b, other] of ordered.entries()) {
        expect(Math.sign(compareVersions(one, other)), `${one} ${other}`).toBe(Math.sign(a - b));
      }
    }
    expect(compareVersions('1.0.0+a', '1.0.0+b')).toBe(0);
    for (const text of ['1', '1.2', 'v1.2.3', '1.2.3-', '01.2.3', '1.2.3-01', '1.2.3_2', '1.2.3\n', ''])
      expect(isVersion(text), text).toBe(false);
  });
});
