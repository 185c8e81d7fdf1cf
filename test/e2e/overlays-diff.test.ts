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
  it('ends with 0 when the features are the same and with 1 when they differ, in text and in JSON', async () => {
    const same = await diff('old.json', 'old.json');
    expect(same).toMatchObject({ code: 0, stderr: '' });
    expect(same.stdout).toMatch(/^The features are the same: 1 feature, to the last character\.\n/);
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

  it('prints a picture and nothing else, or writes it to a file', async () => {
    const { code, stdout } = await diff('old.json', 'new.json', '--format', 'svg');
    expect(code).toBe(1);
    expect(stdout).toMatch(/^<svg [\s\S]*<\/svg>\n$/);
    const written = await diff('old.json', 'new.json', '--format', 'html', '--out', 'diff.html');
    expect(written.stdout).toMatch(/^The features differ: .*\nhtml written to diff\.html \([\d,]+ bytes\)\.\n$/);
    expect(readFileSync(join(folder, 'diff.html'), 'utf8')).toMatch(/^<!DOCTYPE html>/);
    const again = await diff('old.json', 'new.json', '--format', 'html', '--out', 'diff.html');
    expect(again.code).toBe(2);
  });

  it('ends with 2 on flags that do not fit together and on names that name nothing', async () => {
    expect(await diff('old.json', 'new.json', '--out', 'x.txt')).toMatchObject({ code: 2, stdout: '' });
    const both = await diff('old.json', 'new.json', '--json', '--format', 'svg');
    expect(both.code).toBe(2);
    expect(JSON.parse(both.stdout)).toMatchObject({ ok: false, data: null, error: { code: 'USAGE' } });
    expect((await diff('old.json', 'live:')).stderr).toContain('names no features');
    expect((await diff('old.json', 'nowhere.json')).stderr).toContain('File not found: nowhere.json.');
  });
});
