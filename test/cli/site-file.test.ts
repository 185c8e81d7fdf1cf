import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { searchSiteFile, withSiteFileSource } from '../../src/cli/site-file.ts';
import { GwError } from '../../src/lib/error/index.ts';
import { runGw } from '../e2e/gw.ts';

/** Folders and files by their owner; the root is that of its own file system. */
function tree(owners: Readonly<Record<string, number>>, devices: Readonly<Record<string, number>> = {}) {
  return (path: string) => {
    const uid = owners[path];
    return uid === undefined ? null : { uid, dev: devices[path] ?? 1 };
  };
}

describe('the search for site.yaml', () => {
  const me = 1000;
  const folders = { '/': 0, '/people': 0, '/people/me': me, '/people/me/robot': me, '/people/me/robot/maps': me };
  const from = '/people/me/robot/maps';
  const search = (files: Record<string, number>, more: Parameters<typeof searchSiteFile>[1] = {}, folder = from) =>
    searchSiteFile(folder, { stat: tree({ ...folders, ...files }), uid: me, home: '/people/me', ...more });

  it('takes that of this folder, then that of the nearest folder above', () => {
    const both = { '/people/me/robot/site.yaml': me, '/people/me/robot/maps/site.yaml': me };
    expect(search(both)).toMatchObject({ path: 'site.yaml', foundIn: from });
    const above = { path: '../site.yaml', foundIn: '/people/me/robot' };
    expect(search({ '/people/me/robot/site.yaml': me })).toMatchObject(above);
    expect(search({ '/people/me/site.yaml': me })).toMatchObject({ path: '../../site.yaml' });
  });

  it('ends at the home folder', () => {
    const searched = [from, '/people/me/robot', '/people/me'];
    expect(search({ '/people/site.yaml': 0 })).toEqual({ path: 'site.yaml', foundIn: null, searched });
  });

  it('ends at a folder of another person and at the root of a file system', () => {
    const other = { '/people/me/robot': 1001, '/people/me/robot/site.yaml': me };
    expect(search(other).foundIn).toBeNull();
    const devices = { '/people/me/robot': 2, '/people/me/robot/maps': 2 };
    const stat = tree({ ...folders, '/people/me/site.yaml': me }, devices);
    expect(search({}, { stat }).searched).toEqual([from, '/people/me/robot']);
  });

  it('passes over a file of another person above, and takes one that lies here', () => {
    expect(search({ '/people/me/robot/site.yaml': 1001 }).foundIn).toBeNull();
    expect(search({ [`${from}/site.yaml`]: 1001 }).foundIn).toBe(from);
  });

  it('comes to an end in a folder that is gone', () => {
    expect(searchSiteFile('/gone/for/good', { stat: () => null }).foundIn).toBeNull();
  });
});

describe('an error of the site file', () => {
  const missing = new GwError('SITE_FILE_NOT_FOUND', 'File not found: x.');

  it('says where the file comes from, unless the command line names it', () => {
    expect(withSiteFileSource(missing, ['--site', 'x'], {}).message).toBe('File not found: x.');
    expect(withSiteFileSource(missing, ['-sx'], {}).message).toBe('File not found: x.');
    expect(withSiteFileSource(missing, ['--json'], { GW_SITE: 'x' }).message).toContain('The variable GW_SITE names');
    const other = new GwError('USAGE', 'Other.');
    expect(withSiteFileSource(other, [], { GW_SITE: 'x' })).toBe(other);
  });
});

describe('every command', () => {
  let dir = '';
  beforeAll(() => {
    dir = realpathSync(mkdtempSync(join(tmpdir(), 'gw-site-file-')));
    mkdirSync(join(dir, 'robot', 'maps'), { recursive: true });
    writeFileSync(join(dir, 'robot', 'site.yaml'), 'name: Above\nchassis: { host: 127.0.0.1, serial: SN-ABOVE }\n');
    writeFileSync(join(dir, 'other.yaml'), 'name: Other\nchassis: { host: 127.0.0.1, serial: SN-OTHER }\n');
  });
  afterAll(() => rmSync(dir, { recursive: true, force: true }));
  const serial = async (args: readonly string[], env: Record<string, string> = {}) => {
    const { stdout } = await runGw(['network', 'request', '--json', ...args], { cwd: join(dir, 'robot', 'maps'), env });
    return JSON.parse(stdout).data.facts.serial;
  };

  it('takes GW_SITE before the file above', async () => {
    expect(await serial([], { GW_SITE: join(dir, 'other.yaml') })).toBe('SN-OTHER');
  });

  it('takes --site before GW_SITE, and without both the file above', { tags: 'large' }, async () => {
    expect(await serial([])).toBe('SN-ABOVE');
    expect(await serial(['--site', '../site.yaml'], { GW_SITE: join(dir, 'other.yaml') })).toBe('SN-ABOVE');
  });

  it('names the folders where none is', async () => {
    const { stderr, code } = await runGw(['site', 'check'], { cwd: dir, env: { HOME: dirname(dir) } });
    expect(code).toBe(2);
    expect(stderr).toContain(`No site.yaml in ${dir} and the folders above it, up to ${dirname(dir)}.`);
  });
});
