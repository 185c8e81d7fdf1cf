import { readFile, writeFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { kioskProfileSchema, loadKioskProfile } from '../../src/lib/kiosk/index.ts';
import { folderOfEach } from '../lifecycle/folder.ts';

const dir = folderOfEach();

async function load(text: string | Uint8Array) {
  const path = dir.at('kiosk.yaml');
  await writeFile(path, text);
  return await loadKioskProfile(path);
}

const minimal = `schema: gw/kiosk/1
name: Kiosk
app: { name: com.example.kiosk, versionCode: 12, activity: .Main }
startPage: http://192.0.2.2:5173/
`;

describe('a kiosk profile', () => {
  it('needs only the shell and its page, and leaves other settings undefined', async () => {
    const app = { name: 'com.example.kiosk', versionCode: 12, activity: '.Main' };
    expect(await load(minimal)).toEqual({
      ...{
        schema: 'gw/kiosk/1',
        name: 'Kiosk',
        app,
        startPage: 'http://192.0.2.2:5173/',
        path: dir.at('kiosk.yaml'),
      },
      ...{ tablet: { minSdk: 26 }, lockTask: false, screen: {}, sound: {}, hidePackages: [], network: {} },
    });
  });

  it('resolves the package file relative to its own folder', async () => {
    const text = minimal.replace('activity', `file: apk/kiosk.apk, sha256: ${'ab'.repeat(32)}, activity`);
    expect((await load(text)).app.file).toBe(dir.at('apk/kiosk.apk'));
  });

  it.each([
    ['a file without its SHA-256', minimal.replace('activity', 'file: a.apk, activity'), /app\.sha256/],
    ['lock task mode without an owner', `${minimal}lockTask: true\n`, /deviceOwner/],
    ['the shell among the hidden', `${minimal}hidePackages: [com.example.kiosk]\n`, /other than the kiosk shell/],
    ['a package twice', `${minimal}hidePackages: [a.b, a.b]\n`, /each package once/],
    ['a shell command for a package', `${minimal}hidePackages: ['a.b; reboot']\n`, /package name/],
    ['a shell command for an activity', minimal.replace('.Main', `'.Main; reboot'`), /class name/],
    ['another kind of page', minimal.replace('http:', 'intent:'), /http/],
    ['a page with a space', minimal.replace('5173/', '5173/ x'), /http/],
    ['an invalid range', `${minimal}network: { segment: 300.0.0.0/8 }\n`, /range/],
    ['an unknown key', `${minimal}screne: {}\n`, /screen/],
    ['an Android too old for gw', `${minimal}tablet: { minSdk: 19 }\n`, /26/],
  ])('is refused with its line: %s', async (_name, text, message) => {
    await expect(load(text)).rejects.toMatchObject({ code: 'KIOSK_PROFILE_INVALID', message });
  });

  it('has the serial number of the site file, and is refused with another one', async () => {
    await load(minimal);
    const path = dir.at('kiosk.yaml');
    expect((await loadKioskProfile(path, 'TAB1')).tablet).toEqual({ minSdk: 26, serial: 'TAB1' });
    await load(`${minimal}tablet: { serial: TAB1 }\n`);
    expect((await loadKioskProfile(path, 'TAB1')).tablet.serial).toBe('TAB1');
    await expect(loadKioskProfile(path, 'TAB2')).rejects.toMatchObject({
      code: 'KIOSK_PROFILE_INVALID',
      message: expect.stringContaining('TAB2, as tablet.serial of the site file'),
    });
  });

  it('that does not exist is named', async () => {
    const path = dir.at('none.yaml');
    const refusal = { code: 'KIOSK_PROFILE_INVALID', message: expect.stringContaining(path) };
    await expect(loadKioskProfile(path)).rejects.toMatchObject(refusal);
  });
});

it('docs/kiosk.md names every key', async () => {
  const page = await readFile(new URL('../../docs/kiosk.md', import.meta.url), 'utf8');
  const keys = Object.entries(kioskProfileSchema.shape).flatMap(([key, schema]) => {
    const inner = schema instanceof z.ZodPrefault ? schema.unwrap() : schema;
    return inner instanceof z.ZodObject ? Object.keys(inner.shape).map((name) => `${key}.${name}`) : [key];
  });
  expect(keys.length).toBeGreaterThan(20);
  expect(keys.filter((key) => !page.includes(`\`${key}\``))).toEqual([]);
});
