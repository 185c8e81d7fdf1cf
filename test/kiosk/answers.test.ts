import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import * as answers from '../../src/lib/kiosk/answers.ts';

const {
  readAddresses,
  readDensity,
  readDeviceOwner,
  readDigest,
  readFreeBytes,
  readFrontActivity,
  readLockTaskMode,
  readPackages,
  readProperties,
  readSetting,
  readSsid,
  readVolume,
  readWhole,
  showsPage,
  wholeComponent,
} = answers;

const readers = Object.entries(answers).filter(([name]) => name.startsWith('read')) as [
  string,
  (text: string) => unknown,
][];

/** Texts made of the pieces that the readers look for, so that half of an answer is among them. */
const pieces = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        '[',
        ']: [',
        ']\n',
        'package:',
        ' versionCode:',
        'Device Owner:\n',
        'admin=ComponentInfo{',
        '}',
        'mResumedActivity: ActivityRecord{',
        ' u0 ',
        'a.b/.C',
        '* Hist #0: ActivityRecord{',
        'Intent {',
        ' dat=',
        'volume is ',
        ' in range [0..',
        '1K-blocks\n',
        ' 10% /',
        'Physical density: ',
        'Wifi is connected to "',
        '12: wlan0    inet ',
        '\n',
        ' ',
        '999999999999999999999',
      ),
      fc.string({ maxLength: 12 }),
      fc.nat().map(String),
    ),
    { maxLength: 40 },
  )
  .map((parts) => parts.join(''));

describe('every reader of what the tablet answers', () => {
  it.each(readers)('%s takes any text without a throw', (_name, read) => {
    fc.assert(
      fc.property(fc.oneof(pieces, fc.string({ unit: 'binary' })), (text) => {
        read(text);
      }),
    );
  });

  it.each(readers)('%s is quick with long hostile text', (_name, read) => {
    for (const text of [
      '[',
      ' ',
      '1 ',
      'package:',
      'Intent {',
      'a: b inet ',
      '\n',
      'Device Owner:\n',
      'dat=',
      '[a]: [\n',
      '1: a',
    ]) {
      read(text.repeat(50_000));
    }
  });
});

describe('properties', () => {
  const key = fc.stringMatching(/^[a-z][a-z0-9._]{0,20}$/);
  const value = fc.stringMatching(/^[A-Za-z0-9 .:/_-]{0,20}$/);

  it('are read as they were printed', () => {
    fc.assert(
      fc.property(fc.dictionary(key, value), (all) => {
        const text = Object.entries(all)
          .map(([name, word]) => `[${name}]: [${word}]\n`)
          .join('');
        expect(Object.fromEntries(readProperties(text))).toEqual(Object.fromEntries(Object.entries(all)));
      }),
    );
  });

  it('may have brackets, line ends and nothing in them', () => {
    const found = readProperties('[a]: [x]\r\n[b]: []\n[c]: [one\ntwo]\n[d]: [[1]]\n');
    expect([...found]).toEqual([
      ['a', 'x'],
      ['b', ''],
      ['c', 'one\ntwo'],
      ['d', '[1]'],
    ]);
  });
});

describe('settings and numbers', () => {
  it('knows unset from empty from a value', () => {
    expect(readSetting('null\n')).toBeNull();
    expect(readSetting('\n')).toBeNull();
    expect(readSetting('120\r\n')).toBe('120');
  });

  it('takes whole numbers and nothing else for numbers', () => {
    fc.assert(
      fc.property(fc.integer(), (n) => {
        expect(
          readWhole(` ${n}
`),
        ).toBe(n);
      }),
    );
    for (const text of ['', 'null', '1.5', '0x10', '1e3', '12a', null, undefined]) expect(readWhole(text)).toBeNull();
  });
});

describe('packages', () => {
  const name = fc.stringMatching(/^[a-z][a-z0-9_]{0,8}(\.[a-z][a-z0-9_]{0,8}){1,3}$/);

  it('are read with their version codes', () => {
    fc.assert(
      fc.property(fc.dictionary(name, fc.option(fc.nat())), (all) => {
        const lines = Object.entries(all).map(([pkg, code]) =>
          code === null ? `package:${pkg}` : `package:${pkg} versionCode:${code}`,
        );
        expect(Object.fromEntries(readPackages(lines.join('\n')))).toEqual(Object.fromEntries(Object.entries(all)));
      }),
    );
  });

  it('are none in an error text', () => {
    expect(readPackages('Error: java.lang.SecurityException\n  at com.android').size).toBe(0);
  });
});

describe('density, loudness, room and digests', () => {
  it('reads the density in use', () => {
    expect(readDensity('Physical density: 320\n')).toBe(320);
    expect(readDensity('Physical density: 320\nOverride density: 240\n')).toBe(240);
    expect(readDensity('cmd: Can not find service: window')).toBeNull();
  });

  it('reads the loudness out of the talk around it', () => {
    const text = '[V] will control stream=3 (STREAM_MUSIC)\n[V] will get volume\n[V] volume is 5 in range [0..15]\n';
    expect(readVolume(text)).toEqual({ index: 5, most: 15 });
    expect(readVolume('volume is 5 in range [0..0]')).toBeNull();
    expect(readVolume('/system/bin/sh: media: not found')).toBeNull();
  });

  it('reads the room that is left, also when a long name breaks the line', () => {
    const head = 'Filesystem      1K-blocks    Used Available Use% Mounted on\n';
    expect(readFreeBytes(`${head}/dev/block/dm-5  52428800 1234567  51194233   3% /data\n`)).toBe(51_194_233 * 1024);
    const long = `${head}/dev/block/by-name/a-very-long-name-of-a-partition\n   52428800 1234567  1000   3% /data/user/0\n`;
    expect(readFreeBytes(long)).toBe(1_024_000);
    expect(readFreeBytes('df: /data: No such file or directory')).toBeNull();
  });

  it('reads a digest, and nothing that is none', () => {
    const digest = '0123456789abcdef'.repeat(4);
    expect(readDigest(`${digest}  /data/local/tmp/x.apk\n`)).toBe(digest);
    expect(readDigest(`${digest}0  x`)).toBeNull();
    expect(readDigest('sha256sum: x: No such file or directory')).toBeNull();
  });
});

describe('the device owner', () => {
  it('is read as a whole component', () => {
    const text = `Current Device Policy Manager state:
  Immutable state:
    mHasFeature=true
  Device Owner:
    admin=ComponentInfo{com.example.kiosk/.AdminReceiver}
    name=
    package=com.example.kiosk
    User ID: 0
`;
    expect(readDeviceOwner(text)).toBe('com.example.kiosk/com.example.kiosk.AdminReceiver');
  });

  it('is none in a text without one, and unknown in a foreign text', () => {
    expect(readDeviceOwner('Current Device Policy Manager state:\n  Enabled Device Admins (User 0):\n')).toBeNull();
    expect(readDeviceOwner("Can't find service: device_policy")).toBeUndefined();
    expect(readDeviceOwner('Device Policy Manager\n Device Owner:\n  something new\n')).toBeUndefined();
  });
});

describe('what is in front', () => {
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

  it.each(['mResumedActivity: ', 'topResumedActivity=', 'ResumedActivity: '])('is read from %j', (key) => {
    expect(readFrontActivity(dump(`${key}ActivityRecord{aaaa u0 com.example.kiosk/.Main t5}`))).toEqual({
      component: 'com.example.kiosk/com.example.kiosk.Main',
      data: 'http://192.0.2.2:5173/',
    });
  });

  it('has the address of its own intent and of no other', () => {
    expect(readFrontActivity(dump('mResumedActivity: ActivityRecord{bbbb u0 com.example.kiosk/.Other t5}'))).toEqual({
      component: 'com.example.kiosk/com.example.kiosk.Other',
      data: null,
    });
  });

  it('is nothing when the screen is off', () => {
    expect(readFrontActivity(dump('mResumedActivity: null'))).toBeNull();
  });

  it.each(['LOCKED', 'PINNED', 'NONE'] as const)('lock task mode %s is read', (mode) => {
    expect(readLockTaskMode(`LockTaskController:\n  mLockTaskModeState=${mode}\n`)).toBe(mode);
  });

  it('lock task mode of another kind is unknown', () => {
    expect(readLockTaskMode('mLockTaskModeState=LOCKED_DOWN')).toBeNull();
    expect(readLockTaskMode('')).toBeNull();
  });

  it('a page that Android cuts fits as far as it is shown', () => {
    expect(showsPage('http://h:1/a', 'http://h:1/a')).toBe('same');
    expect(showsPage('http://h:1/...', 'http://h:1/a?b')).toBe('as-far-as-shown');
    expect(showsPage('http://h:2/...', 'http://h:1/a')).toBe('other');
    expect(showsPage('...', 'http://h:1/a')).toBe('other');
  });

  it('short class names are made whole', () => {
    expect(wholeComponent('a.b/.C')).toBe('a.b/a.b.C');
    expect(wholeComponent('a.b/c.D')).toBe('a.b/c.D');
  });
});

describe('the network of the tablet', () => {
  it('has addresses by interface', () => {
    const text = `1: lo    inet 127.0.0.1/8 scope host lo\\       valid_lft forever
23: wlan0    inet 192.0.2.5/28 brd 192.0.2.15 scope global wlan0\\       valid_lft forever
`;
    expect(readAddresses(text)).toEqual([{ name: 'wlan0', address: '192.0.2.5' }]);
    expect(readAddresses('9: wlan0    inet 999.0.2.5/28')).toEqual([]);
  });

  it('has a WLAN, none, or does not tell', () => {
    expect(readSsid('Wifi is enabled\nWifi is connected to "Robot 7"\nWifiInfo: SSID: "Robot 7"')).toBe('Robot 7');
    expect(readSsid('Wifi is enabled\nWifi is not connected\n')).toBeNull();
    expect(readSsid('Unknown command: status')).toBeUndefined();
  });
});
