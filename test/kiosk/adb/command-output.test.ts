import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import * as parsers from '../../../src/lib/kiosk/adb/command-output.ts';
import { runs } from '../../properties.ts';

const { parseAddresses, parseDensity, parseDeviceOwner, parseDigest, parseFreeBytes, parseFrontActivity } = parsers;
const { parseLockTaskMode, parsePackages, parseProperties, parseSetting, parseSsid, parseVolume } = parsers;
const { parseInteger, comparePage, fullComponent } = parsers;

const parseFunctions = Object.entries(parsers).filter(([name]) => name.startsWith('parse')) as [
  string,
  (text: string) => unknown,
][];

it.each(parseFunctions)('every parser of command output %s ends with long hostile text', (_name, parse) => {
  const hostile = '[| |1 |package:|Intent {|a: b inet |\n|Device Owner:\n|dat=|[a]: [\n|1: a'.split('|');
  for (const text of hostile) parse(text.repeat(50_000));
});

describe('properties', () => {
  it('may contain brackets, line ends, or be empty', () => {
    const found = parseProperties('[a]: [x]\r\n[b]: []\n[c]: [one\ntwo]\n[d]: [[1]]\n');
    expect([...found]).toEqual([
      ['a', 'x'],
      ['b', ''],
      ['c', 'one\ntwo'],
      ['d', '[1]'],
    ]);
  });
});

describe('settings and numbers', () => {
  it('returns null for an unset or empty setting', () => {
    expect(parseSetting('null\n')).toBeNull();
    expect(parseSetting('\n')).toBeNull();
    expect(parseSetting('120\r\n')).toBe('120');
  });

  it('accepts decimal integers only', { tags: 'property' }, () => {
    fc.assert(fc.property(fc.integer(), (n) => void expect(parseInteger(` ${n}\n`)).toBe(n)));
    for (const text of ['', 'null', '1.5', '0x10', '1e3', '12a', null, undefined])
      expect(parseInteger(text)).toBeNull();
  });
});

describe('packages', () => {
  it('are parsed with their version codes', () => {
    const { packages, unread } = parsePackages('package:a.b versionCode:12\r\npackage:c.d_e\n\n');
    expect([Object.fromEntries(packages), unread]).toEqual([{ 'a.b': 12, 'c.d_e': null }, null]);
  });

  it('are not known whole where a line is none', () => {
    const error = parsePackages('Error: java.lang.SecurityException\n  at com.android');
    expect([error.packages.size, error.unread]).toEqual([0, 'Error: java.lang.SecurityException']);
    for (const line of [
      'package:/data/app/x.apk=a.b versionCode:1',
      'package:a.b versionCode:1x',
      'package:',
      'WARNING: linker',
    ]) {
      expect(parsePackages(`package:c.d versionCode:2\n${line}\n`).unread).toBe(line);
    }
  });

  it('and lines that are none are all there is', { tags: 'property' }, () => {
    const line = fc.oneof(
      fc.constantFrom('package:a.b', 'package:c.d versionCode:3', '', 'x'),
      fc.string({ maxLength: 12 }),
    );
    fc.assert(
      fc.property(fc.array(line, { maxLength: 6 }), (lines) => {
        const { packages, unread } = parsePackages(lines.join('\n'));
        const rows = lines
          .join('\n')
          .split(/\r?\n/)
          .filter((row) => row.trim() !== '');
        expect(unread === null).toBe(
          rows.every((row) => [...packages.keys()].some((name) => row.startsWith(`package:${name}`))),
        );
      }),
      { numRuns: runs(300) },
    );
  });
});

describe('density, volume, free space and digests', () => {
  it('parses the effective density', () => {
    expect(parseDensity('Physical density: 320\n')).toBe(320);
    expect(parseDensity('Physical density: 320\nOverride density: 240\n')).toBe(240);
    expect(parseDensity('cmd: Can not find service: window')).toBeNull();
  });

  it('parses the volume between other output', () => {
    const text = '[V] will control stream=3 (STREAM_MUSIC)\n[V] will get volume\n[V] volume is 5 in range [0..15]\n';
    expect(parseVolume(text)).toEqual({ index: 5, max: 15 });
    expect(parseVolume('volume is 5 in range [0..0]')).toBeNull();
    expect(parseVolume('/system/bin/sh: media: not found')).toBeNull();
  });

  it('parses the free space, also when a long name wraps the line', () => {
    const head = 'Filesystem      1K-blocks    Used Available Use% Mounted on\n';
    expect(parseFreeBytes(`${head}/dev/block/dm-5  52428800 1234567  51194233   3% /data\n`)).toBe(51_194_233 * 1024);
    const long = `${head}/dev/block/by-name/a-very-long-name-of-a-partition\n   52428800 1234567  1000   3% /data/user/0\n`;
    expect(parseFreeBytes(long)).toBe(1_024_000);
    expect(parseFreeBytes('df: /data: No such file or directory')).toBeNull();
  });

  it('parses a digest, and nothing else', () => {
    const digest = '0123456789abcdef'.repeat(4);
    expect(parseDigest(`${digest}  /data/local/tmp/x.apk\n`)).toBe(digest);
    expect(parseDigest(`${digest}0  x`)).toBeNull();
    expect(parseDigest('sha256sum: x: No such file or directory')).toBeNull();
  });
});

describe('the device owner', () => {
  it('is parsed as an expanded component', () => {
    const text = `Current Device Policy Manager state:
  Device Owner:
    admin=ComponentInfo{com.example.kiosk/.AdminReceiver}
    name=
    package=com.example.kiosk
`;
    expect(parseDeviceOwner(text)).toBe('com.example.kiosk/com.example.kiosk.AdminReceiver');
  });

  it('is null in an output without one, and undefined in a foreign text', () => {
    expect(parseDeviceOwner('Current Device Policy Manager state:\n  Enabled Device Admins (User 0):\n')).toBeNull();
    expect(parseDeviceOwner("Can't find service: device_policy")).toBeUndefined();
    expect(parseDeviceOwner('Device Policy Manager\n Device Owner:\n  something new\n')).toBeUndefined();
  });
});

describe('the foreground activity', () => {
  const dump = (resumed: string) => `ACTIVITY MANAGER ACTIVITIES (dumpsys activity activities)
Display #0 (activities from top to bottom):
  * Task{1f #5 type=standard}
      * Hist #1: ActivityRecord{aaaa u0 com.example.kiosk/.Main t5}
          packageName=com.example.kiosk processName=com.example.kiosk
          Intent { act=android.intent.action.VIEW dat=http://192.0.2.2:5173/ flg=0x10000000 cmp=com.example.kiosk/.Main }
      * Hist #0: ActivityRecord{bbbb u0 com.example.kiosk/.Other t5}
          Intent { act=android.intent.action.MAIN cmp=com.example.kiosk/.Other }
  ${resumed}
  mLockTaskModeState=LOCKED
`;

  it.each(['mResumedActivity: ', 'topResumedActivity=', 'ResumedActivity: '])('is parsed from %j', (key) => {
    expect(parseFrontActivity(dump(`${key}ActivityRecord{aaaa u0 com.example.kiosk/.Main t5}`))).toEqual({
      component: 'com.example.kiosk/com.example.kiosk.Main',
      data: 'http://192.0.2.2:5173/',
    });
  });

  it('has the URL of its own intent only', () => {
    expect(parseFrontActivity(dump('mResumedActivity: ActivityRecord{bbbb u0 com.example.kiosk/.Other t5}'))).toEqual({
      component: 'com.example.kiosk/com.example.kiosk.Other',
      data: null,
    });
  });

  it('is null when the screen is off', () => {
    expect(parseFrontActivity(dump('mResumedActivity: null'))).toBeNull();
  });

  it('has a lock task mode, and null for an unknown one', () => {
    for (const mode of ['LOCKED', 'PINNED', 'NONE'])
      expect(parseLockTaskMode(`LockTaskController:\n  mLockTaskModeState=${mode}\n`)).toBe(mode);
    expect(parseLockTaskMode('mLockTaskModeState=LOCKED_DOWN')).toBeNull();
    expect(parseLockTaskMode('')).toBeNull();
  });

  it('a page without its path in the output matches as a prefix', () => {
    expect(comparePage('http://h:1/a', 'http://h:1/a')).toBe('same');
    expect(comparePage('http://h:1/...', 'http://h:1/a?b')).toBe('prefix');
    expect(comparePage('http://h:2/...', 'http://h:1/a')).toBe('other');
    expect(comparePage('...', 'http://h:1/a')).toBe('other');
  });

  it('short class names are expanded', () => {
    expect(fullComponent('a.b/.C')).toBe('a.b/a.b.C');
    expect(fullComponent('a.b/c.D')).toBe('a.b/c.D');
  });
});

describe('the network of the tablet', () => {
  it('has addresses with their interface', () => {
    const text = `1: lo    inet 127.0.0.1/8 scope host lo\\       valid_lft forever
23: wlan0    inet 192.0.2.5/28 brd 192.0.2.15 scope global wlan0\\       valid_lft forever
`;
    expect(parseAddresses(text)).toEqual([{ name: 'wlan0', address: '192.0.2.5' }]);
    expect(parseAddresses('9: wlan0    inet 999.0.2.5/28')).toEqual([]);
  });

  it('has an SSID, none, or is not reported', () => {
    expect(parseSsid('Wifi is enabled\nWifi is connected to "Robot 7"\nWifiInfo: SSID: "Robot 7"')).toBe('Robot 7');
    expect(parseSsid('Wifi is enabled\nWifi is not connected\n')).toBeNull();
    expect(parseSsid('Unknown command: status')).toBeUndefined();
  });
});
