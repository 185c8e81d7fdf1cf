import { describe, expect, it } from 'vitest';
import { openPointLines, renderNetworkRequest } from '../../src/cli/render/network.ts';
import { renderRecordDiff, renderRecordReport, renderRecordVerify, reportNotes } from '../../src/cli/render/record.ts';
import type { CheckRecord } from '../../src/lib/checklist/index.ts';
import { networkRequestFacts } from '../../src/lib/report/index.ts';
import { parseSite } from '../../src/lib/site/index.ts';
import type { RecordReport, RecordVerify } from '../../src/lib/toolkit/checklist/checklist.result.ts';
import { diffRecords } from '../../src/lib/toolkit/checklist/diff.ts';
import { subjectOf } from '../../src/lib/toolkit/checklist/verify.ts';
import type { NetworkRequest } from '../../src/lib/toolkit/network/network.result.ts';
import { deviantStep, measuredStep, recordOf, robotOf, stepOf, wrongStep } from '../report/records.ts';
import { firstLine, plain } from './shown.ts';

describe('gw network request', () => {
  const facts = networkRequestFacts(parseSite('name: Lobby\nchassis: { host: 192.0.2.3, serial: S }\n', 's.yaml'));
  const written = { path: 'request.pdf', bytes: 9000, pages: 3, replacedCharacters: 1 };
  const data: NetworkRequest = { lang: 'de', format: 'pdf', facts, complete: false, document: null, written };

  it('is the letter itself, or names its file and its open points', () => {
    expect(renderNetworkRequest({ ...data, document: '# Letter\n', written: null })).toBe('# Letter\n');
    const text = plain(renderNetworkRequest(data));
    expect(firstLine(text)).toBe('Letter for Lobby written to request.pdf (German, 9000 bytes, 3 pages).');
    expect(text).toContain('1 character replaced, missing in the PDF fonts');
    expect(text).toMatch(/network\.robotSegment +the address range of the robot segment +the customer's IT/);
    expect(text).toMatch(/chassis\.mac +the MAC address of the chassis +you/);
  });

  it('states when no point is open', () => {
    const closed = { ...data, complete: true, facts: { ...facts, open: [] } };
    expect(openPointLines(closed)).toEqual(['No open points in the letter.']);
  });
});

const good = recordOf([robotOf([stepOf(), measuredStep])]);

function verified(record: CheckRecord, state: RecordVerify['state']): RecordVerify {
  return {
    path: 'record.json',
    state,
    signedBy: state === 'not-signed' ? null : 'SN0007',
    findings: [{ id: 'chain', title: 'A known authority issued it', verdict: 'not-checked', detail: 'none is named' }],
    subject: subjectOf(record),
  };
}

describe('gw checklist verify', () => {
  it('states the verdict in its first line, never verified where it is not', () => {
    expect(firstLine(renderRecordVerify(verified(good, 'verified')))).toBe('VERIFIED  record.json, signed by SN0007.');
    for (const [state, word] of [
      ['not-verified', 'NOT VERIFIED'],
      ['wrong', 'INVALID'],
      ['not-signed', 'NOT SIGNED'],
    ] as const) {
      const text = plain(renderRecordVerify(verified(good, state)));
      expect(firstLine(text)?.startsWith(word)).toBe(true);
      expect(text).toContain('Verdict of the record: all ok (2 ok).');
    }
  });

  it('names the flag for the CA when the chain was not checked', () => {
    expect(plain(renderRecordVerify(verified(good, 'not-verified')))).toContain('--ca-file FILE');
    expect(plain(renderRecordVerify(verified(good, 'not-signed')))).not.toContain('--ca-file FILE');
  });

  it('passes no escape sequence of a file', () => {
    const odd = recordOf([robotOf([stepOf()], { site: '\u001b[31mred' })]);
    expect(plain(renderRecordVerify({ ...verified(odd, 'wrong'), path: 'a\u001b[0m.json' }))).not.toContain('\u001b');
  });
});

describe('gw checklist report', () => {
  const about = { path: 'record.json', lang: 'de', format: 'pdf', subject: subjectOf(good) } as const;
  const report = (state: RecordReport['state'], written: RecordReport['written']): RecordReport => ({
    ...{ ...about, state, document: written === null ? '<html/>' : null, written },
  });

  it('is the document, or names its file and that it is not verified', () => {
    expect(renderRecordReport(report('verified', null))).toBe('<html/>');
    const written = { path: 'a.pdf', bytes: 1, pages: 1, replacedCharacters: 2 };
    const text = plain(renderRecordReport(report('not-signed', written)));
    expect(firstLine(text)).toBe('Report written to a.pdf (pdf, 1 bytes, 1 page).');
    expect(text).toContain('The record is not signed, as the report states.');
    expect(text).toContain('2 characters missing in the PDF fonts replaced');
    expect(reportNotes({ state: 'verified' })).toEqual([]);
  });
});

describe('gw checklist diff', () => {
  const side = (record: CheckRecord, path: string) => ({ path, state: 'verified', record }) as const;
  const show = (from: CheckRecord, to: CheckRecord) =>
    plain(renderRecordDiff(diffRecords(side(from, 'old.json'), side(to, 'new.json'))));

  it('states in its first line whether a step got worse', () => {
    const worse = recordOf([robotOf([wrongStep, measuredStep])]);
    expect(firstLine(show(good, good))).toBe('No difference between the two visits.');
    expect(firstLine(show(good, worse))).toBe('WORSE  1 newly wrong, 1 no longer ok.');
    expect(firstLine(show(worse, good))).toBe('No worse: see below.');
  });

  it('lists steps, values with their difference, deviations and versions', () => {
    const values = [{ name: 'height', value: 15, unit: 'mm', mark: 'HINWEIS', source: 's' }] as const;
    const moved = stepOf({ ...measuredStep, values: [...values] });
    const text = show(
      recordOf([robotOf([stepOf(), measuredStep, { ...deviantStep, deviation: null }])]),
      recordOf([robotOf([stepOf({ verdict: 'wrong', why: 'gone' }), moved, deviantStep])], { gw: '0.2.0' }),
    );
    expect(text).toContain('gw 0.1.0 -> 0.2.0');
    expect(text).toContain('newly wrong  The chassis answers where the site file says (ok -> wrong): gone');
    expect(text).toMatch(/The ramp at the lift +height +12 mm +15 mm +\+3 +BELEGT -> HINWEIS/);
    expect(text).toContain('deviation accepted  MQTT on 8883: 443 is enough here; by K. Muster');
  });

  it('reports a missing robot and two different checklists', () => {
    const other = recordOf([robotOf([stepOf()], { serial: 'SN0008' })], {
      checklist: { ...good.checklist, name: 'premises' },
    });
    const text = show(good, other);
    expect(text).toContain("Two different checklists: 'site' and 'premises'.");
    expect(text).toContain('is missing in the new record');
    expect(text).toContain('is only in the new record');
  });
});
