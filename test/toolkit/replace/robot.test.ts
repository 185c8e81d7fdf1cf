import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { editSiteFile, parseSite } from '../../../src/lib/site/index.ts';
import { editsOf } from '../../../src/lib/toolkit/replace/chassis-robot.ts';
import { unitOf } from '../../../src/lib/toolkit/replace/read-robot.ts';

const dir = mkdtempSync(join(tmpdir(), 'gw-replace-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

describe('the site file of a replaced chassis', () => {
  const text = [
    'name: Lobby # of the hotel',
    'chassis:',
    '  host: 127.0.0.1 # reserved',
    '  serial: SN1 # on the label',
    '  mac: 02:00:00:00:00:01 # of the label',
    '# both robots',
    'fleet:',
    '  keyFile: key',
    '  robots: [SN9, SN1]',
    '',
  ].join('\n');

  it('names the new one with its addresses, in its own list too, and keeps every comment and the order', async () => {
    const path = join(dir, 'site.yaml');
    writeFileSync(path, text);
    const edits = editsOf(parseSite(text, path), {
      from: 'SN1',
      to: 'SN2',
      host: '127.0.0.2',
      mac: '02:00:00:00:00:02',
    });
    await editSiteFile({ path }, edits);
    const wanted = text
      .replaceAll('SN1', 'SN2')
      .replace('127.0.0.1', '127.0.0.2')
      .replace('00:01', '00:02')
      .replace('[SN9, SN2]', '[ SN9, SN2 ]');
    expect(readFileSync(path, 'utf8')).toBe(wanted);
    // Digits alone are a serial number too, and stay a text.
    await editSiteFile(
      { path },
      editsOf(parseSite(wanted, path), { from: 'SN2', to: '0034', host: undefined, mac: undefined }),
    );
    expect(parseSite(readFileSync(path, 'utf8'), path)).toMatchObject({
      chassis: { serial: '0034' },
      fleet: { robots: ['SN9', '0034'] },
    });
    const again = parseSite(wanted, path);
    expect(editsOf(again, { from: 'SN1', to: 'SN2', host: undefined, mac: '02:00:00:00:00:02' })).toEqual([]);
  });
});

describe('the unit of systemd', () => {
  const shown = (
    load: string,
    active: string,
    environment: string,
    start = 'path=/bin/sh ; argv[]=/bin/sh launch.sh serve',
  ) => `LoadState=${load}\nActiveState=${active}\nEnvironment=${environment}\nExecStart={ ${start} ; }\n`;

  it.each([
    ['runs', 'active', shown('loaded', 'active', 'GW_SITE=/etc/gw/site.yaml')],
    ['is stopped', 'inactive', shown('loaded', 'inactive', 'A=b GW_SITE=/etc/gw/site.yaml')],
    ['has failed', 'inactive', shown('loaded', 'failed', 'GW_SITE=/etc/gw/site.yaml')],
    [
      'names the file as an argument',
      'active',
      shown('loaded', 'active', '', 'argv[]=gw serve --site /etc/gw/site.yaml'),
    ],
    ['is of another robot', 'not-known', shown('loaded', 'active', 'GW_SITE=/etc/gw/other.yaml')],
    ['is of a file with a longer name', 'not-known', shown('loaded', 'active', 'GW_SITE=/etc/gw/site.yaml.old')],
    ['is starting', 'not-known', shown('loaded', 'activating', 'GW_SITE=/etc/gw/site.yaml')],
    ['is masked', 'not-known', shown('masked', 'inactive', 'GW_SITE=/etc/gw/site.yaml')],
    ['is not installed', 'none', shown('not-found', 'inactive', '')],
    ['is not read', 'not-known', ''],
  ])('that %s is %s', (_what, wanted, text) => {
    expect(unitOf(text, '/etc/gw/site.yaml')).toBe(wanted);
  });
});
