import { type Duplex, PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import type { GwError } from '../../../src/lib/error/index.ts';
import { newTabletRecord, type TabletRecord } from '../../../src/lib/kiosk/index.ts';
import { systemClock } from '../../../src/lib/lifecycle/index.ts';
import { DialError, type Dialer, type Ssh } from '../../../src/lib/net/index.ts';
import { findTablet, type SearchOptions } from '../../../src/lib/toolkit/kiosk/find.ts';
import type { Toolkit } from '../../../src/lib/toolkit/toolkit.ts';

const MAC = '02:00:00:00:00:03';
const OTHER = '02:00:00:00:00:99';

interface Segment {
  readonly range?: string | null;
  /** What is at each address; all others are silent. */
  readonly at?: Readonly<Record<string, 'open' | 'closed'>>;
  /** Its MAC addresses, as the far side lists them once it was spoken to. */
  readonly macs?: Readonly<Record<string, string>>;
}

/** A robot segment behind an SSH host whose neighbour table has who was dialled, and the entries of `old`. */
function segment({ range = '192.0.2.0/28', at = {}, macs = {} }: Segment, old: Readonly<Record<string, string>> = {}) {
  const dialled: string[] = [];
  const table = new Map(Object.entries(old));
  const dialer: Dialer = {
    way: 'via technician@192.0.2.2:22',
    async dial({ host, port }) {
      dialled.push(host);
      const mac = macs[host];
      if (mac === undefined) table.delete(host);
      else table.set(host, mac);
      if (at[host] === 'open') return new PassThrough() as Duplex;
      throw new DialError(at[host] === 'closed' ? 'refused' : 'no-answer', { address: host, port });
    },
  };
  const exec = async (argv: readonly string[]) => {
    expect(argv).toEqual(['cat', '/proc/net/arp']);
    const lines = [...table].map(([address, mac]) => `${address} 0x1 0x2 ${mac} * eth0`);
    const stdout = new PassThrough();
    const stderr = new PassThrough();
    stdout.end(['IP address', ...lines, ''].join('\n'));
    stderr.end();
    return { stdout, stderr, ended: Promise.resolve({ code: 0, signal: null }), async [Symbol.asyncDispose]() {} };
  };
  const site = {
    path: 'site.yaml',
    stateDir: '/nowhere',
    chassis: { host: '192.0.2.3' },
    network: { robotSegment: range ?? undefined, gateway: '192.0.2.2' },
  };
  const toolkit = { site, dialer, clock: systemClock, ssh: { exec } as unknown as Ssh } as unknown as Toolkit;
  const context = { signal: new AbortController().signal, onProgress: () => {} };
  const find = (tablet: object, rest: Partial<SearchOptions> = {}) =>
    findTablet(toolkit, context, {
      ...{ tablet: { adbPort: 5555, profileFile: 'kiosk.yaml', ...tablet }, record: null, authorizeMs: 1_000 },
      // A search that needs adb fails here.
      adb: '/nowhere/adb',
      ...rest,
    });
  const fails = async (...words: Parameters<typeof find>) =>
    (await find(...words).then(
      (found) => ({ code: 'found', message: JSON.stringify(found) }),
      (error: unknown) => error,
    )) as GwError;
  return { dialled, find, fails };
}

/** A record of the tablet 'TAB1', last connected at an address, with its MAC address. */
function recordAt(host: string, mac: string | null = MAC): TabletRecord {
  const machine = { bootId: null, uptimeS: null };
  const observed = { at: '2026-01-31T12:00:00.000Z', machine, serial: 'TAB1', bootId: null, androidId: null, mac };
  const tablet = {
    model: 'T',
    manufacturer: 'A',
    serial: 'TAB1',
    android: '13',
    sdk: 33,
    bootId: null,
    androidId: null,
  };
  return { ...newTabletRecord({ host, port: 5555 }, observed), tablet };
}

describe('the tablet is looked for by its MAC address', () => {
  it('and found where it answers, open or closed', async () => {
    for (const port of ['open', 'closed'] as const) {
      const { find } = segment({
        at: { '192.0.2.9': port, '192.0.2.5': 'open' },
        macs: { '192.0.2.9': MAC, '192.0.2.5': OTHER },
      });
      expect(await find({ mac: MAC.toUpperCase() })).toEqual({
        endpoint: { host: '192.0.2.9', port: 5555 },
        by: 'mac',
      });
    }
  });

  it('anew each time: an old entry and a remembered address with another device are no tablet', async () => {
    const world = segment(
      { at: { '192.0.2.4': 'closed', '192.0.2.9': 'closed' }, macs: { '192.0.2.4': OTHER, '192.0.2.9': MAC } },
      { '192.0.2.4': MAC },
    );
    expect((await world.find({ mac: MAC }, { record: recordAt('192.0.2.4') })).endpoint.host).toBe('192.0.2.9');
    expect(world.dialled[0]).toBe('192.0.2.4');
  });

  it('within the robot segment only, and never at the chassis or the gateway', async () => {
    const world = segment({ macs: { '192.0.2.40': MAC } }, { '192.0.2.40': MAC, '192.0.2.3': MAC });
    const error = await world.fails({ mac: MAC }, { record: recordAt('192.0.2.40') });
    expect(error).toMatchObject({ code: 'TABLET_NOT_FOUND', tried: { address: '192.0.2.0/28', port: 5555 } });
    expect(error.message).toContain(MAC);
    expect([...world.dialled].sort()).toEqual(
      [1, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14].map((last) => `192.0.2.${last}`).sort(),
    );
  });

  it('is not chosen among several', async () => {
    const at = { '192.0.2.4': 'open', '192.0.2.9': 'closed' } as const;
    const error = await segment({ at, macs: { '192.0.2.4': MAC, '192.0.2.9': MAC } }).fails({ mac: MAC });
    expect(error).toMatchObject({
      code: 'TABLET_SEVERAL',
      message: expect.stringMatching(/192\.0\.2\.4.*192\.0\.2\.9/),
    });
  });

  it('in a range too large to be tried at the known neighbours only', async () => {
    const macs = { '192.0.2.9': MAC };
    const large = { range: '192.0.0.0/16', at: { '192.0.2.9': 'closed' }, macs } as const;
    expect((await segment(large, macs).find({ mac: MAC })).endpoint.host).toBe('192.0.2.9');
    const unknown = segment(large, { '192.0.2.7': OTHER });
    expect((await unknown.fails({ mac: MAC })).message).toContain('more than 254 addresses');
    expect(unknown.dialled).toEqual(['192.0.2.7']);
  });
});

describe('the tablet is looked for by its serial number', () => {
  it('and where none reports it, found closed at the MAC address of the site file or of its last connection', async () => {
    const world = { at: { '192.0.2.9': 'closed' }, macs: { '192.0.2.9': MAC } } as const;
    const expected = { endpoint: { host: '192.0.2.9', port: 5555 }, by: 'mac' };
    expect(await segment(world).find({ serial: 'TAB1', mac: MAC })).toEqual(expected);
    expect(await segment(world).find({ serial: 'TAB1' }, { record: recordAt('192.0.2.4') })).toEqual(expected);
    // The record is that of another tablet.
    expect((await segment(world).fails({ serial: 'TAB2' }, { record: recordAt('192.0.2.9') })).code).toBe(
      'TABLET_NOT_FOUND',
    );
  });

  it('is not taken by its MAC address while its port is open: only the number decides', async () => {
    const world = segment({ at: { '192.0.2.9': 'open' }, macs: { '192.0.2.9': MAC } });
    // It is asked, which needs adb.
    expect((await world.fails({ serial: 'TAB1', mac: MAC })).code).toBe('ADB_NOT_FOUND');
  });

  it('the remembered address is a hint, for commands that say so', async () => {
    const world = segment({ at: { '192.0.2.4': 'closed' } });
    const record = recordAt('192.0.2.4', null);
    expect(await world.find({ serial: 'TAB1' }, { record, mayBeClosed: true })).toMatchObject({ by: 'remembered' });
    expect((await segment({ at: { '192.0.2.4': 'closed' } }).fails({ serial: 'TAB1' }, { record })).message).toContain(
      '1 address refuses the port',
    );
  });

  it('nowhere without a robot segment', async () => {
    const world = segment({ range: null, at: { '192.0.2.4': 'open' } });
    expect(await world.fails({ serial: 'TAB1' }, { record: recordAt('192.0.2.4') })).toMatchObject({
      code: 'USAGE',
      remedy: expect.stringContaining('network.robotSegment'),
    });
    expect(world.dialled).toEqual([]);
  });
});
