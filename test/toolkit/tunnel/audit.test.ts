import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { beforeEach, describe, expect, it } from 'vitest';
import { renderTunnelAudit } from '../../../src/cli/render/tunnel.ts';
import { auditTexts, checkText, findingText } from '../../../src/lib/report/index.ts';
import { auditSessions, type TunnelAuditOptions } from '../../../src/lib/toolkit/tunnel/audit.ts';
import { tunnelAuditSchema } from '../../../src/lib/tunnel/audit/audit.result.ts';
import { refusalReasons } from '../../../src/lib/tunnel/index.ts';
import { elementsOf, readMarkup, textOf } from '../../overlays/render/markup-reader.ts';
import { fontsDir, readPdf } from '../../report/pdf-reader.ts';
import { headOf, recordFolder, rotatedFiles } from '../../tunnel/audit/folder.ts';
import { endOf, idOf, linesOf, refusedOf, startOf } from '../../tunnel/records/bodies.ts';
import { ownFolder } from '../kit.ts';

const checkShape = tunnelAuditSchema.shape.checks.element.shape;
const [checkIds, checkDetails] = [checkShape.id.options, checkShape.detail.options];
const findingCodes = tunnelAuditSchema.shape.findings.element.shape.code.options;

let dir: string;
const now = () => new Date('2026-06-01T12:00:00.000Z');
const lines = linesOf([startOf(1), endOf(1), refusedOf(1), startOf(2), endOf(2)]);
const site = (more = '') => `
name: Lobby
chassis: { host: 127.0.0.1, serial: SN-1 }
stateDir: state
cloud:
  mqtt: { host: mqtt.example.com, alpn: x-example-mqtt-ca }
${more}`;
const withTunnel = '  tunnel: { host: tunnel.example.com, maxMinutes: 60 }\n';

function place(content: readonly string[] = lines, head: object | null = headOf(lines)) {
  const folder = join(dir, 'state', 'support');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'sessions.jsonl'), content.join(''));
  if (head !== null) writeFileSync(join(folder, 'head.json'), JSON.stringify(head));
  return folder;
}
const audit = async (more: Partial<TunnelAuditOptions> = {}) => {
  const data = await auditSessions({ sitePath: join(dir, 'site.yaml'), lang: 'en', now, ...more });
  expect(tunnelAuditSchema.parse(data)).toEqual(data);
  return data;
};
const shown = (data: Awaited<ReturnType<typeof audit>>) => stripVTControlCharacters(renderTunnelAudit(data));
const firstLine = (data: Awaited<ReturnType<typeof audit>>) => shown(data).split('\n')[0];

beforeEach(() => {
  dir = ownFolder();
  writeFileSync(join(dir, 'site.yaml'), site(withTunnel));
});

describe('gw tunnel audit', () => {
  it('reads the state folder of the site file, and says first what the verdict does not cover', async () => {
    const folder = place();
    const data = await audit();
    expect(firstLine(data)).toBe(
      `Not decided: 2 support sessions, no finding, records 1 to 5; 2 of 11 checks not made: no log file was given. Not compared with the copy of the cloud: a complete rewriting would not show. Robot SN-1, ${folder}.`,
    );
    expect(shown(data)).toContain(
      '--   Local records and copy of the cloud are the same: no copy of the cloud was given',
    );
    expect(shown(data)).toContain('- Refused requests: other region 1.');
  });

  it('does not say that nothing was refused when a record could not be judged, or when there is none', async () => {
    const folder = place(lines.with(2, 'damaged\n'));
    const text = shown(await audit());
    expect(text).toContain(
      '- Numbers of sessions and refusals count only the records that could be judged. A start or an end that seems to be missing may be one of the others.',
    );
    expect(text).not.toContain('No request was refused');
    rmSync(folder, { recursive: true });
    place([], null);
    expect(shown(await audit())).not.toContain('No request was refused');
    place(linesOf([startOf(1), endOf(1)]));
    expect(shown(await audit())).toContain('No request was refused');
  });

  it('with the same copy of the cloud says so', async () => {
    place();
    const cloud = join(dir, 'cloud.jsonl');
    writeFileSync(cloud, lines.join(''));
    expect(firstLine(await audit({ cloud }))).toContain(
      'records 1 to 5; 1 of 11 checks not made: no log file was given. The copy of the cloud is the same. Robot SN-1',
    );
    const log = join(dir, 'gw.log');
    writeFileSync(log, 'nothing secret\n');
    const whole = await audit({ cloud, logs: [log] });
    expect(whole.verdict).toBe('ok');
    expect(firstLine(whole)).toContain('records 1 to 5. The copy of the cloud is the same. Robot SN-1');
  });

  it.each<[string, { logs?: string[]; added?: boolean; cloud?: string }, string]>([
    ['a log that is no text', { logs: ['gw.log.gz'] }, 'could not be searched completely'],
    ['a record after head.json', { added: true }, 'record 6 is not confirmed by head.json'],
    ['a copy without the newest records', { cloud: 'cloud.jsonl' }, '2 newest records are not in the copy'],
  ])('with %s names it in the first line', async (_name, { logs = [], added = false, cloud }, reason) => {
    const more = linesOf([refusedOf(2)], { seq: 6, prev: headOf(lines).hash });
    place(added ? [...lines, ...more] : lines);
    writeFileSync(join(dir, 'gw.log.gz'), Buffer.from([0x1f, 0x8b, 8, 0, 0, 0]));
    writeFileSync(join(dir, 'cloud.jsonl'), lines.slice(0, 3).join(''));
    const given = cloud === undefined ? {} : { cloud: join(dir, cloud) };
    const data = await audit({ logs: logs.map((name) => join(dir, name)), ...given });
    expect(data).toMatchObject({ verdict: 'not-decided', local: 'not-decided' });
    expect(firstLine(data)).toContain(reason);
    expect(firstLine(data)).not.toContain('is the same');
  });

  it('names the first broken line, and every finding in a table with what to do', async () => {
    place(lines.toSpliced(1, 1));
    const data = await audit();
    expect(data.verdict).toBe('findings');
    expect(firstLine(data)).toBe(
      `FAILED: 1 finding. First broken line of the chain: sessions.jsonl:2. Robot SN-1, ${data.recordsPath}.`,
    );
    const text = shown(data);
    expect(text).toMatch(/sessions\.jsonl:2 +3 +-- +Record 2 is missing before this line\./);
    const overlapping = linesOf([startOf(1), startOf(2), endOf(1), endOf(2)]);
    place(overlapping, headOf(overlapping));
    expect(shown(await audit())).toMatch(
      new RegExp(`sessions\\.jsonl:2 +2 +${idOf(2)} +The session started while ${idOf(1)} was running`),
    );
    expect(text).toContain('do next: Keep the files as they are.');
  });

  it.each([
    [
      'no head.json',
      lines,
      null,
      'Not decided: 2 support sessions, no finding, records 1 to 5; 3 of 11 checks not made: the end of the chain was not checked: there is no head.json; no log',
    ],
    ['an empty folder', [], null, 'Not decided: no finding; 11 of 11 checks not made: there are no records; '],
  ])('with %s is not decided', async (_name, content, head, expected) => {
    place(content, head);
    const data = await audit();
    expect(data.verdict).toBe('not-decided');
    expect(firstLine(data)).toContain(expected);
  });

  it('a session that may be running is named with the time until which it may', async () => {
    const running = linesOf([startOf(1)], { at: '2026-06-01T11:30:00.000Z' });
    place(running, headOf(running));
    expect(firstLine(await audit())).toBe(
      `Not decided: 1 support session, no finding, records 1 to 1; 3 of 11 checks not made: session ${idOf(1)} of 2026-06-01T11:30:00.000Z has no end yet; by its own clock it may run until 2026-06-01T12:30:10.000Z; no log file was given. Not compared with the copy of the cloud: a complete rewriting would not show. Robot SN-1, ${join(dir, 'state', 'support')}.`,
    );
  });

  it('records before a rotation are not claimed to be present', async () => {
    using folder = recordFolder(rotatedFiles(linesOf(Array.from({ length: 24 }, (_, n) => refusedOf(n))).slice(2)));
    expect(firstLine(await audit({ records: folder.dir }))).toContain(
      'records 3 to 24, earlier ones are not present; 3 of 11 checks not made: records before 3 are not present: removed by rotation, by head.json; no log',
    );
  });

  it('without cloud.tunnel in the site file, or without a site file, limits are not checked', async () => {
    const folder = place();
    writeFileSync(join(dir, 'site.yaml'), site());
    for (const more of [{}, { records: folder, sitePath: undefined }]) {
      const data = await audit(more);
      const open = data.checks.filter(({ verdict }) => verdict === 'not-checked').map(({ id }) => id);
      expect(open).toEqual(['configured', 'scope', 'tokens-logs', 'cloud']);
    }
    await expect(audit({ sitePath: undefined })).rejects.toMatchObject({ code: 'USAGE' });
  });

  it('uses the limits of the site file', async () => {
    place();
    writeFileSync(
      join(dir, 'site.yaml'),
      site('  tunnel: { host: t.example.com, maxMinutes: 30, services: [other] }\n'),
    );
    const data = await audit();
    expect(data.counts).toEqual([
      { code: 'service-not-in-list', count: 2 },
      { code: 'beyond-configured', count: 2 },
    ]);
  });

  it('writes no report over a file without --force', async () => {
    place();
    const report = { path: join(dir, 'audit.html'), format: 'html', fontsDir } as const;
    writeFileSync(report.path, 'mine');
    await expect(audit({ report })).rejects.toMatchObject({ code: 'FILE_EXISTS' });
    expect(readFileSync(report.path, 'utf8')).toBe('mine');
    expect((await audit({ report, force: true })).report).toMatchObject({ format: 'html', lang: 'en' });
  });
});

describe('the report', () => {
  async function reportOf(
    lang: 'de' | 'en',
    name: `${string}.${'html' | 'pdf'}`,
    more: Partial<TunnelAuditOptions> = {},
  ) {
    const path = join(dir, name);
    const format = name.endsWith('.pdf') ? 'pdf' : 'html';
    const data = await audit({ report: { path, format, fontsDir }, lang, ...more });
    return { data, bytes: readFileSync(path) };
  }
  const mainOf = (bytes: Buffer) => {
    const main = [...elementsOf(readMarkup(bytes.toString()))].find(({ name }) => name === 'main');
    return main === undefined ? '' : textOf(main);
  };

  it.each(['de', 'en'] as const)('in %s shows verdict, checks, findings and what was not compared', async (lang) => {
    const wrong = linesOf([startOf(1), endOf(1), refusedOf(1), startOf(2), endOf(2), endOf(3)]);
    place(wrong.with(2, (wrong[2] ?? '').replace('us-east-1', 'us-east-2')), headOf(wrong));
    const texts = auditTexts[lang];
    const { bytes, data } = await reportOf(lang, 'audit.html');
    const text = mainOf(bytes);
    expect(data.verdict).toBe('findings');
    expect(text).toContain(texts.firstBroken('sessions.jsonl', 3));
    expect(text).toContain(texts.notCompared);
    expect(text).toContain(texts.sentence['changed-line']);
    expect(text).toContain(texts.sentence['end-without-start']);
    for (const id of checkIds) expect(text).toContain(texts.check[id]);
    for (const line of texts.meaning) expect(text).toContain(line);
  });

  it.each([
    ['de', /\b(the|is|are|and|of|with|this|that|by|from|to|session|record|records|checked|refused)\b/i],
    ['en', /\b(der|die|das|ist|und|mit|nicht|kein|von|Sitzung|Eintrag|gepr.ft|abgelehnt|Uhr)\b/i],
  ] as const)(
    'has no word of the other language in %s, and its times in the time zone of the site',
    async (lang, other) => {
      writeFileSync(
        join(dir, 'site.yaml'),
        site(withTunnel).replace('name: Lobby', 'name: Lobby\ntimeZone: Europe/Berlin'),
      );
      const wrong = linesOf([startOf(1), endOf(1), refusedOf(1), startOf(2), endOf(2), endOf(3), startOf(4)]);
      place(wrong.with(2, (wrong[2] ?? '').replace('us-east-1', 'us-east-2')), headOf(wrong));
      const read = async () => mainOf((await reportOf(lang, 'audit.html', { force: true })).bytes);
      // What must be typed, and a folder of the tests.
      const proper = (text: string) => text.replaceAll(/`[^`]*`|\/\S+|sessions\S*|head\.json/g, '');
      const text = await read();
      expect(other.exec(proper(text))?.[0]).toBeUndefined();
      expect(text.replace(/\s+/g, ' ')).toContain(lang === 'de' ? '01.06.2026, 14:00 MESZ' : '01/06/2026, 14:00 CEST');
      place();
      expect(other.exec(proper(await read()))?.[0]).toBeUndefined();
    },
  );

  it('is green only when every check was made, and names the comparison with the cloud as not checked', async () => {
    place();
    const first = (await reportOf('de', 'a.html')).bytes.toString();
    expect(first).toContain('class="banner open"');
    expect(first).not.toContain('class="banner good"');
    expect(mainOf(Buffer.from(first))).toContain('NICHT VERGLICHEN');
    expect(mainOf(Buffer.from(first))).toMatch(/Kopie der Cloud sind gleich\s*nicht geprüft/);
    const cloud = join(dir, 'cloud.jsonl');
    writeFileSync(cloud, lines.join(''));
    const log = join(dir, 'gw.log');
    writeFileSync(log, 'nothing secret\n');
    expect((await reportOf('de', 'b1.html', { cloud })).bytes.toString()).toContain('class="banner open"');
    const compared = (await reportOf('de', 'b.html', { cloud, logs: [log] })).bytes;
    expect(compared.toString()).toContain('class="banner good"');
    expect(mainOf(compared)).not.toContain('NICHT VERGLICHEN');
    expect(mainOf(compared)).toContain(auditTexts.de.compared);
    writeFileSync(cloud, lines.slice(0, 3).join(''));
    expect((await reportOf('de', 'c.html', { cloud })).bytes.toString()).toContain('class="banner open"');
    rmSync(join(dir, 'state', 'support', 'head.json'));
    expect((await reportOf('de', 'd.html')).bytes.toString()).toContain('class="banner open"');
  });

  it('has every text in both languages, and none of them is the same', () => {
    const values = { from: 1, to: 2, what: 'x', count: 2, files: 0, first: 2, newer: 1, unknown: 1 };
    for (const code of findingCodes) {
      const [de, en] = [auditTexts.de, auditTexts.en].map((texts) => findingText({ code, values }, texts));
      expect(de?.sentence).not.toBe(en?.sentence);
      expect(de?.remedy).not.toBe(en?.remedy);
      expect(en?.title.length).toBeGreaterThan(3);
    }
    for (const reason of refusalReasons) {
      expect(auditTexts.de.refusal[reason]).not.toBe(auditTexts.en.refusal[reason] ?? auditTexts.de.refusal[reason]);
    }
    for (const id of checkIds) expect(auditTexts.de.check[id]).not.toBe(auditTexts.en.check[id]);
    for (const detail of checkDetails) {
      if (detail !== 'done')
        expect(checkText({ detail, values }, auditTexts.de)).not.toBe(checkText({ detail, values }, auditTexts.en));
    }
  });

  it('is a PDF with the same texts, and without active content', async () => {
    place(lines.toSpliced(1, 1));
    const { bytes } = await reportOf('de', 'audit.pdf');
    const pdf = readPdf(bytes);
    expect(pdf.pages.join(' ').replace(/\s+/g, ' ')).toContain(auditTexts.de.finding['missing-records']);
    expect(pdf.active).toEqual([]);
  });

  it('escapes what a record says', async () => {
    const forged = linesOf([startOf(1, { region: '<script>alert(1)</script>' }), endOf(1)]);
    place(forged, headOf(forged));
    const { bytes } = await reportOf('de', 'x.html');
    expect(bytes.toString()).not.toContain('<script>alert');
    expect(mainOf(bytes)).toContain('<script>alert(1)</script>');
    expect(existsSync(join(dir, 'x.html'))).toBe(true);
  });
});
