import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { runGw } from './gw.ts';

const folder = mkdtempSync(join(tmpdir(), 'gw-e2e-diff-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const features = (x: number) => {
  const feature = { id: 'a', type: 'Feature', geometry: { type: 'Point', coordinates: [x, 0] }, properties: {} };
  return JSON.stringify({ type: 'FeatureCollection', features: [feature] });
};
writeFileSync(join(folder, 'old.json'), features(0));
writeFileSync(join(folder, 'new.json'), features(2));
const diff = (...args: string[]) => runGw(['overlays', 'diff', ...args], { cwd: folder });

describe('gw overlays diff', () => {
  it('exits with 0 when the overlays are the same and with 1 when they differ, in text and in JSON', async () => {
    const same = await diff('old.json', 'old.json');
    expect(same).toMatchObject({ code: 0, stderr: '' });
    expect(same.stdout).toMatch(/^The overlays are the same: 1 feature, identical text\.\n/);
    const differs = await diff('old.json', 'new.json');
    expect(differs.code).toBe(1);
    expect(differs.stdout).toContain('moved 2 m');
    for (const flag of ['--json', '--format=json']) {
      const { code, stdout } = await diff('old.json', 'new.json', flag);
      expect(code).toBe(1);
      expect(JSON.parse(stdout)).toMatchObject({
        schema: 'gw/overlays-diff/1',
        ok: false,
        data: { diff: { same: false, changed: [{ shape: { movedM: 2 } }] } },
        error: null,
      });
    }
  });

  it('prints a picture only, or writes it to a file', async () => {
    const { code, stdout } = await diff('old.json', 'new.json', '--format', 'svg');
    expect(code).toBe(1);
    expect(stdout).toMatch(/^<svg [\s\S]*<\/svg>\n$/);
    const written = await diff('old.json', 'new.json', '--format', 'html', '--out', 'diff.html');
    expect(written.stdout).toMatch(/^The overlays differ: .*\nhtml written to diff\.html \([\d,]+ bytes\)\.\n$/);
    expect(readFileSync(join(folder, 'diff.html'), 'utf8')).toMatch(/^<!DOCTYPE html>/);
    const again = await diff('old.json', 'new.json', '--format', 'html', '--out', 'diff.html');
    expect(again.code).toBe(2);
  });

  it('exits with 2 on conflicting flags and on invalid sources', async () => {
    expect(await diff('old.json', 'new.json', '--out', 'x.txt')).toMatchObject({ code: 2, stdout: '' });
    const both = await diff('old.json', 'new.json', '--json', '--format', 'svg');
    expect(both.code).toBe(2);
    expect(JSON.parse(both.stdout)).toMatchObject({ ok: false, data: null, error: { code: 'USAGE' } });
    expect((await diff('old.json', 'live:')).stderr).toContain('is not a source of overlays');
    expect((await diff('old.json', 'nowhere.json')).stderr).toContain('File not found: nowhere.json.');
  });
});
