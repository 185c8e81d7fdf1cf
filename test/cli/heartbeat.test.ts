import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { renderHeartbeatEvent, renderHeartbeatKey, renderHeartbeatView } from '../../src/cli/render/heartbeat.ts';
import { type HeartbeatSniffEvent, heartbeatSniffSchema } from '../../src/lib/toolkit/heartbeat/heartbeat.result.ts';
import * as shown from './shown.ts';

type Sender = HeartbeatSniffEvent['senders'][number];

const at = '2026-01-31T12:00:00.000Z';
const nothing: HeartbeatSniffEvent = {
  ...{ event: 'state', at, forMs: 12_345, receives: 'everything', verifies: true, datagrams: 0, senders: [] },
  ...{ otherHeartbeats: 0, noise: [], gateway: null, dropped: 0 },
};

const sender = (values: Partial<Sender> = {}): Sender => ({
  ...{ serial: 'SN0007', address: '192.0.2.17', test: false, verified: true, presence: 'alive', ageMs: 840 },
  ...{ heartbeats: 1794, copies: 0, replayed: 0, lost: 6, periodMs: 2000.04, jitterMs: 3.26, alsoFrom: [] },
  ...{ conflictWith: [], bootCounter: 3, sequence: 1800, uptimeS: 3600, moving: true, stopped: false },
  ...{ batteryPercent: 87, pose: { xM: 1.5, yM: -2.25, yawDeg: -90 }, software: '2.12.3' },
  ...values,
});

function received(senders: readonly Sender[], values: Partial<HeartbeatSniffEvent> = {}): HeartbeatSniffEvent {
  return heartbeatSniffSchema.parse({ ...nothing, datagrams: 42, senders: [...senders], ...values });
}

const plain = (view: HeartbeatSniffEvent) => shown.plain(renderHeartbeatView(view));
const firstLine = (view: HeartbeatSniffEvent) => shown.firstLine(renderHeartbeatView(view));

const three = [
  sender({ serial: 'SN0005', address: '192.0.2.15' }),
  sender(),
  sender({
    ...{ serial: 'SN0009', address: '192.0.2.19', heartbeats: 2, lost: 0, periodMs: null, jitterMs: null },
    ...{ moving: null, stopped: null, batteryPercent: null, pose: null, software: null, uptimeS: 100_000 },
  }),
];

const none = { malformed: 0, otherVersion: 0, otherKey: 0, forged: 0 };

describe('gw heartbeat sniff', () => {
  it('without heartbeats reports the duration, and after a while what to check', () => {
    expect(plain({ ...nothing, forMs: 4_000 })).toMatch(/^No datagram received yet\.\n\n0 datagrams in 4\.0 s on/);
    expect(firstLine(nothing)).toBe('No datagram received for 12.3 s.');
    expect(plain(nothing)).toContain('Check on a robot that `gw serve` runs and its site file has `fleet:`.');
    expect(plain(nothing)).toContain('fleet.unicast');
  });

  it('reports datagrams dropped by this machine, and no loss where none occurred or it is unknown', () => {
    expect(plain(received(three, { dropped: 211_598 }))).toContain('The kernel dropped 211598 datagrams');
    for (const dropped of [0, null]) expect(plain(received(three, { dropped }))).not.toContain('kernel');
  });

  it('counts the robots in its first line, and shows the state of each in a table', () => {
    expect(firstLine(received(three))).toBe('3 robots received: 3 alive.');
    expect(firstLine(received(three.slice(0, 1)))).toBe('1 robot received: 1 alive.');
    const text = plain(received(three));
    expect(text).toMatch(/^ +serial +address +recv +lost +replayed +period +jitter +state$/m);
    expect(text).toMatch(/^alive +SN0007 +192\.0\.2\.17 +1794 +6 +0 +2\.000 s +3 ms +moving, 87 %, 2.12.3, up 60/m);
    // Unknown values are not shown, and values that cannot be known yet are not 0.
    expect(text).toMatch(/^alive +SN0009 +192\.0\.2\.19 +2 +0 +0 +- +- +up 27 h$/m);
    expect(text.split('\n').at(-1)).toBe('42 datagrams in 12.3 s on UDP port 45301');
    expect(text).not.toContain('sends from');
    expect(text).not.toContain('not newer');
  });

  it('shows late and gone robots with the duration of their silence', () => {
    const view = received([
      ...three,
      sender({ serial: 'SN0010', presence: 'late', ageMs: 9_120, stopped: true, moving: false }),
      sender({ serial: 'SN0012', stopped: true, moving: true }),
      sender({ serial: 'SN0011', presence: 'gone', ageMs: 185_000 }),
    ]);
    expect(firstLine(view)).toBe('6 robots received: 4 alive, 1 late, 1 gone.');
    expect(plain(view)).toMatch(/^late 9 s +SN0010 .* stopped, 87 %/m);
    expect(plain(view)).toMatch(/^alive +SN0012 .* stopped, moving, 87 %/m);
    expect(plain(view)).toMatch(/^gone 3 min +SN0011 /m);
    expect(firstLine(received([sender({ presence: 'gone', ageMs: 60_000 })]))).toBe('1 robot received: 1 gone.');
  });

  it('alerts about two devices with one serial, and counts them as one robot', () => {
    const [here, there] = ['192.0.2.17', '192.0.2.18'];
    const view = received([
      sender({ alsoFrom: [there], conflictWith: [there] }),
      sender({ address: there, presence: 'late', ageMs: 9_120, alsoFrom: [here], conflictWith: [here] }),
    ]);
    expect(firstLine(view)).toBe('1 robot received: 1 alive; 1 serial in conflict.');
    expect(plain(view).match(/^conflict +SN0007 /gm)).toHaveLength(1);
    expect(plain(view)).toMatch(/^conflict 9 s +SN0007 /m);
    expect(plain(view)).toContain('SN0007 sends from 192.0.2.17, 192.0.2.18:\n  two devices with one serial');
  });

  it('does not alert about one device with two addresses', () => {
    const view = received([
      sender({ alsoFrom: ['192.0.2.18'] }),
      sender({ address: '192.0.2.18', alsoFrom: ['192.0.2.17'], presence: 'gone', ageMs: 31_000 }),
    ]);
    expect(firstLine(view)).toBe('1 robot received: 1 alive.');
    expect(plain(view)).not.toContain('conflict');
    expect(plain(view)).toContain('SN0007 sends from 192.0.2.17, 192.0.2.18:\n  one device with two addresses');
    const many = Array.from({ length: 20 }, (_, index) => sender({ address: `192.0.2.${index}` }));
    expect(plain(received(many))).toContain('from 192.0.2.0, 192.0.2.1, 192.0.2.2, 192.0.2.3 and 16 more:');
  });

  it('does not count the sender of test datagrams as a robot', () => {
    const test = sender({ serial: 'TEST-0a1b', address: '192.0.2.40', test: true, ageMs: 3_000 });
    expect(firstLine(received([...three, test]))).toBe('3 robots received: 3 alive; 1 test.');
    expect(firstLine(received([test, { ...test, address: '192.0.2.41' }]))).toBe('No robot received; 2 tests.');
    const text = plain(received([...three, test]));
    expect(text).toMatch(/^test 3 s +TEST-0a1b +192\.0\.2\.40 +1794 .* ms$/m);
    expect(text).toContain('test: sent by `gw heartbeat send`');
    expect(text).not.toContain('sends from');
  });

  it('explains duplicated and replayed heartbeats', () => {
    expect(plain(received([sender({ copies: 1 })]))).toContain('\n1 heartbeat received twice within its period');
    const twice = received([sender({ copies: 2 }), ...three]);
    expect(plain(twice)).toContain('\n2 heartbeats received twice within their period');
    expect(plain(received(three))).not.toContain('received twice');
    expect(plain(received([sender({ replayed: 3 })]))).toContain('replayed: not newer than an earlier heartbeat.');
  });

  it('without a key states so before anything else about the robots', () => {
    const unverified = three.map((one) => ({ ...one, verified: false }));
    const view = received(unverified, { verifies: false });
    expect(firstLine(view)).toBe('3 robots received, not verified: 3 alive.');
    expect(plain(view).split('\n')[1]).toBe('Not verified: listening without a key.');
  });

  it('beside another program states which datagrams it cannot receive', () => {
    const view = received(three, { receives: 'broadcasts' });
    expect(plain(view)).toContain('only broadcasts are received here');
    expect(plain(view)).toContain('this command shows what that one receives');
    const silent = { ...nothing, receives: 'broadcasts' } as const;
    expect(firstLine(silent)).toBe('No broadcast received for 12.3 s.');
    expect(plain(silent)).not.toContain('fleet.unicast');
  });

  it('beside gw serve says whose datagrams it shows', () => {
    const lastTest = { serial: 'SN0030', address: '192.0.2.30', ageMs: 4_000 };
    const view = received([sender({ copies: null, replayed: null, bootCounter: null, sequence: null })], {
      receives: 'gateway',
      gateway: { replayed: 3, lastTest },
      noise: [{ ...none, address: null, otherKey: 2 }],
    });
    expect(firstLine(view)).toBe('1 robot received by gw serve: 1 alive; datagrams rejected.');
    expect(plain(view)).toContain('gw serve of this machine has the port');
    expect(plain(view)).toContain('It rejected 3 replayed heartbeats.');
    expect(plain(view)).toContain('Last test: SN0030 from 192.0.2.30, 4 s ago.');
    expect(plain(view)).toMatch(/^alive +SN0007 +192\.0\.2\.17 +1794 +6 +- /m);
    expect(plain(view)).toMatch(/^other addresses +2/m);
    const silent = { ...nothing, receives: 'gateway', gateway: { replayed: 0, lastTest: null } } as const;
    expect(firstLine(silent)).toBe('No datagram received by gw serve for 12.3 s.');
  });

  it('names the senders of rejected datagrams, and what to check', () => {
    const stranger = { ...none, address: '192.0.2.30', otherKey: 12 };
    const alone = received([], { noise: [stranger] });
    expect(firstLine(alone)).toBe('No robot received; 1 address with rejected datagrams.');
    expect(plain(alone)).toMatch(/^192\.0\.2\.30 +12 +0 +0 +0$/m);
    expect(plain(alone)).toContain('\nother key: a robot with an old key, or another site on the same network\n');
    expect(plain(alone)).not.toMatch(/^(forged|malformed|other version):/m);
    const crowd = received(three, { noise: [stranger, { ...none, address: null, malformed: 7, forged: 1 }] });
    expect(firstLine(crowd)).toBe('3 robots received: 3 alive; more than 1 address with rejected datagrams.');
    expect(plain(crowd)).toMatch(/^more addresses +0 +1 +0 +7$/m);
    expect(plain(crowd)).toMatch(/^forged: .*\nmalformed: /m);
  });

  it('reports more senders than it keeps apart', () => {
    const view = received(three, { otherHeartbeats: 40 });
    expect(firstLine(view)).toBe('At least 3 robots received: 3 alive.');
    expect(plain(view)).toContain('and 40 heartbeats of further senders');
  });

  it('stays below 120 columns for usual values, and truncates others', () => {
    const wide = sender({
      ...{ serial: '718212345678', address: '192.168.100.117', presence: 'gone', ageMs: 3_599_000 },
      ...{ heartbeats: 43_200, lost: 1234, replayed: 43_200, jitterMs: 1234.56, stopped: true, moving: false },
      ...{ batteryPercent: 100, uptimeS: 8_640_000 },
    });
    const address = '192.168.100.118';
    const other = sender({ ...wide, address, conflictWith: [wide.address], presence: 'late', ageMs: 29_000 });
    const noise = { address: wide.address, malformed: 9, otherVersion: 9, otherKey: 9, forged: 9 };
    const views = [
      nothing,
      { ...nothing, receives: 'broadcasts' } as const,
      received([wide, other], { noise: [noise], verifies: false }),
    ];
    for (const view of views) for (const line of plain(view).split('\n')) expect(line.length).toBeLessThan(120);
    const odd = plain(received([sender({ serial: `A${'b'.repeat(126)}C`, software: '9'.repeat(64) })]));
    expect(odd).toMatch(/^alive +Ab{10}…b{11}C /m);
    expect(odd).toContain('9'.repeat(15).concat('…'));
  });

  it('passes no control or direction characters of foreign text', { tags: 'property' }, () => {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
    const steering = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/;
    const foreign = fc.string({ unit: fc.oneof(fc.constantFrom('\u001b[2J', '\n', '\u009b', '\u202e'), fc.string()) });
    fc.assert(
      fc.property(foreign, foreign, foreign, (serial, address, software) => {
        const row = { malformed: 1, otherVersion: 1, otherKey: 1, forged: 1 };
        const senders = [sender({ serial, address, software }), sender({ serial, address, software })];
        const calm = received([sender(), sender()], { noise: [{ ...row, address: '192.0.2.1' }] });
        const view = received(senders, { noise: [{ ...row, address }] });
        // The colours of gw are removed first, and nothing else: only they end in m.
        const text = renderHeartbeatView(view).replace(ownColours, '');
        expect(text).not.toMatch(steering);
        expect(text.split('\n')).toHaveLength(plain(calm).split('\n').length);
      }),
    );
  });

  it('is one line with its time at intervals, and the full table at the end', () => {
    const line = shown.plain(renderHeartbeatEvent(received(three)));
    expect(line).toBe('2026-01-31T12:00:00.000Z  3 robots received: 3 alive.');
    const ended = received(three, { event: 'ended' });
    expect(renderHeartbeatEvent(ended)).toBe(renderHeartbeatView(ended));
  });
});

// biome-ignore lint/suspicious/noControlCharactersInRegex: colours are escape sequences
const ownColours = /\u001b\[(?:2|22|31|32|33|39)m/g;

describe('gw heartbeat key new', () => {
  it('prints the id of the key and its file, and the next step', () => {
    const text = renderHeartbeatKey({ file: '/srv/gw/secrets/heartbeat', key: 'fdad9ec8' });
    expect(text.split('\n')[0]).toBe('Key fdad9ec8 written to /srv/gw/secrets/heartbeat.');
    expect(text).toContain('every robot of the site');
    for (const line of text.split('\n')) expect(line.length).toBeLessThan(120);
    const odd = renderHeartbeatKey({ file: '/tmp/\u001b[2J\u202e', key: 'fdad9ec8' });
    expect(odd.split('\n')[0]).toBe('Key fdad9ec8 written to /tmp/\uFFFD[2J\uFFFD.');
  });
});
