import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { visible } from '../../../src/lib/markup/index.ts';
import { csvColumns, toCsv } from '../../../src/lib/overlays/render/index.ts';
import { oddCollection } from '../arbitrary.ts';
import { collectionOf, lookAt, lookAtCollection, pointAt } from './rendered.ts';

/** Reads a table strictly after RFC 4180: CRLF between records, quotes escaped by doubling, no quote in a bare cell. */
function readCsv(text: string): string[][] {
  const records: string[][] = [];
  let record: string[] = [];
  let at = 0;
  while (at < text.length) {
    let cell = '';
    if (text[at] === '"') {
      for (at += 1; ; at += 1) {
        if (at >= text.length) throw new Error('a quote is never closed');
        if (text[at] !== '"') cell += text[at];
        else if (text[at + 1] === '"') {
          cell += '"';
          at += 1;
        } else break;
      }
      at += 1;
    } else {
      const bare = /^[^,"\r\n]*/.exec(text.slice(at))?.[0] ?? '';
      cell = bare;
      at += bare.length;
    }
    record.push(cell);
    if (text[at] === ',') at += 1;
    else if (text.startsWith('\r\n', at)) {
      records.push(record);
      record = [];
      at += 2;
      continue;
    } else throw new Error(`a cell ends in ${JSON.stringify(text.slice(at, at + 10))}`);
    if (at === text.length || text.startsWith('\r\n', at)) {
      record.push('');
      records.push(record);
      record = [];
      at += 2;
    }
  }
  return records;
}

const cellsOf = (text: string) => {
  const [heads = [], ...rows] = readCsv(text);
  return rows.map((row) => Object.fromEntries(heads.map((head, at) => [head, row[at]])));
};

describe('toCsv', () => {
  it('writes one line per feature, with units in the column names', () => {
    const { inspection } = lookAt('floor');
    const rows = cellsOf(toCsv(inspection));
    expect(rows).toHaveLength(15);
    expect(rows[1]).toMatchObject({
      index: '1',
      kind: 'point',
      id: '5f0c0000000000000000000b',
      name: 'B',
      xM: '0.2',
      yM: '1.6',
      yawDeg: '180',
      yawAsWritten: '"180"',
      iconYawDeg: '98',
      codeField: 'type',
      code: '11',
      codeAsWritten: '11',
      mark: 'VORSICHT',
      otherCodes: 'startType 1 (OFFEN: meaning unknown); endType 2 (OFFEN: meaning unknown)',
    });
    expect(rows[1]?.readings).toContain('VORSICHT: Delivery Point');
    expect(rows[1]?.readings).toContain('HINWEIS: table number');
    expect(rows[9]).toMatchObject({ kind: 'zone', areaM2: '1.4', corners: '4', xM: '' });
    expect(rows[13]).toMatchObject({ kind: 'lane', lengthM: '5.8', corners: '2' });
  });

  it('writes the header only for an empty collection', () => {
    expect(toCsv(lookAtCollection(collectionOf()))).toBe(`${csvColumns.join(',')}\r\n`);
  });

  it.each([
    '=1+1',
    '+49 30 1',
    '-cmd',
    '@SUM(A1)',
    '\t=1',
    ' =1',
    '\r=1',
    '\n=1',
    '＝1+1',
    '=HYPERLINK("http://a.invalid","x")',
  ])('makes %j harmless for a spreadsheet', (name) => {
    const [row] = cellsOf(toCsv(lookAtCollection(collectionOf(pointAt(0, 0, { name })))));
    expect(row?.name).toBe(`'${name}`);
  });

  it('keeps negative numbers, which no spreadsheet evaluates', () => {
    const [row] = cellsOf(toCsv(lookAtCollection(collectionOf(pointAt(-1.5, -2, { name: '-12', yaw: -90 })))));
    expect(row).toMatchObject({ xM: '-1.5', yM: '-2', name: '-12', yawDeg: '-90', yawAsWritten: '-90' });
  });

  it('is a table of equal lines with every name and id, for any content', { tags: 'property' }, () => {
    fc.assert(
      fc.property(oddCollection(), (collection) => {
        const inspection = lookAtCollection(collection);
        const [heads, ...rows] = readCsv(toCsv(inspection));
        expect(heads).toEqual([...csvColumns]);
        expect(rows).toHaveLength(inspection.selected.length);
        for (const [at, row] of rows.entries()) {
          expect(row).toHaveLength(csvColumns.length);
          const feature = inspection.selected[at];
          const bare = (cell: string | undefined) => (cell?.startsWith("'") ? cell.slice(1) : cell);
          const asIs = (text: string | null | undefined) => visible(text ?? '');
          expect([asIs(feature?.name), `'${asIs(feature?.name)}`]).toContain(row[3]);
          expect(bare(row[2])).toBe(bare(asIs(feature?.id)));
          for (const cell of row) expect(/^[=@]|^[+-](?!\d)/.test(cell)).toBe(false);
        }
      }),
    );
  });
});
