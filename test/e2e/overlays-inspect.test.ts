import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { gwBinary, runGw } from './gw.ts';

const folder = mkdtempSync(join(tmpdir(), 'gw-e2e-inspect-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const pointAt = (at: number, properties: object) => ({
  id: `p${at}`,
  type: 'Feature',
  geometry: { type: 'Point', coordinates: [at, 0] },
  properties,
});
const collectionOf = (features: readonly object[]) => JSON.stringify({ type: 'FeatureCollection', features });
const fine = collectionOf([pointAt(0, { type: '9', yaw: '90', dockingPointId: 'p1' }), pointAt(1, { type: 36 })]);
writeFileSync(join(folder, 'fine.json'), fine);
writeFileSync(join(folder, 'broken.json'), collectionOf([pointAt(0, { type: 11, yaw: 'north' })]));
const many = Array.from({ length: 30_000 }, (_, at) => pointAt(at, { type: 11, name: `Station ${at}` }));
writeFileSync(join(folder, 'many.json'), collectionOf(many));
const inspect = (...args: string[]) => runGw(['overlays', 'inspect', ...args], { cwd: folder });

describe('gw overlays inspect', () => {
  it('exits with 1 on a finding of severity wrong or not checked, in text and in JSON', async () => {
    // Without a picture one rule is not checked.
    const good = await inspect('--file', 'fine.json');
    expect(good).toMatchObject({ code: 1, stderr: '' });
    const accepted = await inspect('--file', 'fine.json', '--accept-undecided');
    expect(accepted).toMatchObject({ code: 0, stdout: good.stdout });
    expect(accepted.stderr).toContain('accepted by --accept-undecided');
    expect(good.stdout).toMatch(/^2 features \(2 points, 0 zones, 0 lanes, 1 charger among them\), 1 finding /);
    const bad = await inspect('--file', 'broken.json');
    expect(bad.code).toBe(1);
    expect(bad.stdout).toContain('WRONG yaw-not-a-number #0');
    for (const flag of ['--json', '--format=json']) {
      const { code, stdout, stderr } = await inspect('--file', 'broken.json', flag, '--accept-undecided');
      expect({ code, stderr }).toEqual({ code: 1, stderr: '' });
      expect(JSON.parse(stdout)).toMatchObject({
        schema: 'gw/overlays-inspect/1',
        ok: false,
        data: { summary: { features: 1, findings: { wrong: 1 } }, features: [{ index: 0, yawDeg: null }] },
        error: null,
      });
    }
  });

  it('writes every feature of a large map as JSON, and ends quietly when the pipe is closed', async () => {
    const { stdout } = await inspect('--file', 'many.json', '--json');
    const { data } = JSON.parse(stdout) as { data: { features: { feature: unknown }[] } };
    expect(data.features.map(({ feature }) => feature)).toEqual(many);
    const child = spawn(process.execPath, [gwBinary, 'overlays', 'inspect', '--file', 'many.json', '--json'], {
      cwd: folder,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let stderr = '';
    child.stderr.on('data', (chunk) => (stderr += chunk));
    child.stdout.once('data', () => child.stdout.destroy());
    expect(await once(child, 'close')).toEqual([1, null]);
    expect(stderr).toBe('');
  });

  it('prints a document only, or writes it to a file', async () => {
    const { code, stdout } = await inspect('--file', 'fine.json', '--format', 'geojson', '--accept-undecided');
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ type: 'FeatureCollection', features: [{ id: 'p0' }, { id: 'p1' }] });
    const written = await inspect('--file', 'fine.json', '--format', 'html', '--out', 'fine.html');
    expect(written.stdout).toMatch(/^2 features .*\nhtml written to fine\.html \([\d,]+ bytes\)\.\n$/);
    expect(readFileSync(join(folder, 'fine.html'), 'utf8')).toMatch(/^<!DOCTYPE html>/);
    expect((await inspect('--file', 'fine.json', '--format', 'html', '--out', 'fine.html')).code).toBe(2);
  });

  it('applies filters, and exits with 2 on invalid or conflicting flags', async () => {
    const near = await inspect('--file', 'fine.json', '--near', '0.9,0,0.5', '--kind', 'charger,zone');
    expect(near.stdout).toMatch(/^1 of 2 features /);
    for (const flags of [
      ['--near', '1,2'],
      ['--kind', 'pint'],
      ['--mark', 'SICHER'],
      ['--out', 'x.txt'],
      ['--json', '--format', 'svg'],
      ['--current'],
      ['--force'],
    ]) {
      expect(await inspect('--file', 'fine.json', ...flags), flags.join(' ')).toMatchObject({ code: 2 });
    }
    expect((await inspect('--file', 'nowhere.json')).stderr).toContain('File not found: nowhere.json.');
  });
});
