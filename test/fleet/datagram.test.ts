import { createHash, createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { degrees } from '../../src/lib/angle/index.ts';
import { type CoarseState, decodeHeartbeat, encodeHeartbeat, type Heartbeat } from '../../src/lib/fleet/datagram.ts';
import { createKey, createKeyRing } from '../../src/lib/fleet/keys.ts';
import { mapMark } from '../../src/lib/site/index.ts';
import { runs } from '../properties.ts';
import { anyCharacter } from '../text/units.ts';

// The datagram is encoded here a second time, from the table in docs/heartbeat.md and with node:crypto only, so that a
// wrong offset cannot be in the test and in the code alike.
const secret = Buffer.from(Array.from({ length: 32 }, (_, index) => index));
const otherSecret = Buffer.alloc(32, 0xa5);
const idOf = (of: Buffer) => createHash('sha256').update('gw heartbeat key id\0').update(of).digest().subarray(0, 4);
const markOf = (uid: string, version: number | null) =>
  createHash('sha256')
    .update(['gw heartbeat map', uid, version ?? ''].join('\0'))
    .digest()
    .subarray(0, 8);
const signed = (bytes: Buffer, by = secret) => Buffer.concat([bytes, createHmac('sha256', by).update(bytes).digest()]);

const plain = {
  ...{ magic: 'GWHB', version: 1, reserved: 0, keyId: idOf(secret), bootCounter: 3, sequence: 258 },
  ...{ instance: '0123456789abcdef', uptimeS: 3600, moving: 2, stopped: 1, battery: 87, purpose: 0 },
  ...{ xMm: 1500, yMm: -2250, yawMilliDeg: -90_000, serial: Buffer.from('SN0007'), software: Buffer.from('2.12.3') },
  map: markOf('hall', 3),
  trailing: Buffer.alloc(0),
};
type Parts = typeof plain & { readonly serialBytes: number; readonly softwareBytes: number };

const plainState = {
  ...{ moving: true, stopped: false, batteryPercent: 87, software: '2.12.3' },
  map: markOf('hall', 3).toString('hex'),
  pose: { xM: 1.5, yM: -2.25, yawDeg: degrees(-90) },
};
const plainHeartbeat: Heartbeat = {
  ...{ serial: 'SN0007', bootCounter: 3, sequence: 258, instance: '0123456789abcdef', uptimeS: 3600 },
  state: plainState,
};

/** The bytes before the signature. */
function byHand(changes: Partial<Parts> = {}): Buffer {
  const parts = { ...plain, ...changes };
  const fixed = Buffer.alloc(48);
  const view = new DataView(fixed.buffer, fixed.byteOffset, fixed.length);
  fixed.write(parts.magic, 0, 'latin1');
  view.setUint8(4, parts.version);
  view.setUint8(5, parts.reserved);
  fixed.set(parts.keyId, 8);
  view.setUint32(12, parts.bootCounter);
  view.setUint32(16, parts.sequence);
  fixed.set(Buffer.from(parts.instance, 'hex'), 20);
  view.setUint32(28, parts.uptimeS);
  view.setUint8(32, parts.moving);
  view.setUint8(33, parts.stopped);
  view.setUint8(34, parts.battery);
  view.setUint8(35, parts.purpose);
  view.setInt32(36, parts.xMm);
  view.setInt32(40, parts.yMm);
  view.setInt32(44, parts.yawMilliDeg);
  const serialBytes = Buffer.from([changes.serialBytes ?? parts.serial.length]);
  const softwareBytes = Buffer.from([changes.softwareBytes ?? parts.software.length]);
  const { serial, software, map, trailing } = parts;
  const bytes = Buffer.concat([fixed, serialBytes, serial, softwareBytes, software, map, trailing]);
  bytes.writeUInt16BE(bytes.length, 6);
  return bytes;
}

const key = createKey(secret);
const ring = createKeyRing([key]);
const otherRing = createKeyRing([createKey(otherSecret)]);

const kindOf = (bytes: Buffer, keys = ring) => decodeHeartbeat(bytes, keys).kind;

function heartbeatOf(bytes: Buffer, keys = ring): Heartbeat {
  const opened = decodeHeartbeat(bytes, keys);
  return opened.kind === 'heartbeat' ? opened.heartbeat : expect.fail(`is ${opened.kind}`);
}

const stateWith = (state: Partial<CoarseState>) => ({ ...plainHeartbeat, state: { ...plainState, ...state } });
const readBack = (state: Partial<CoarseState>) => heartbeatOf(encodeHeartbeat(stateWith(state), key)).state;

const uint32 = () => fc.oneof(fc.constantFrom(0, 1, 0x7fffffff, 0x80000000, 0xffffffff), fc.nat(0xffffffff));
const int32 = () => fc.integer({ min: -0x80000000, max: 0x7fffffff });
const threeValued = () => fc.constantFrom(true, false, null);
const serials = () => fc.stringMatching(/^[A-Za-z0-9:_-]{1,128}$/);
/** The largest values that fit, to the last millimetre and thousandth. */
const fitting = () => fc.double({ min: -2147483.647, max: 2147483.647, noNaN: true });
const texts = () =>
  fc
    .oneof(fc.string({ unit: anyCharacter, maxLength: 100 }), fc.string({ unit: 'grapheme', maxLength: 100 }))
    .map((text) => text.replace(/\p{Cc}/gu, ''));

const heartbeats = (): fc.Arbitrary<Heartbeat> =>
  fc.record({
    serial: serials(),
    bootCounter: uint32(),
    sequence: uint32(),
    instance: fc.stringMatching(/^[0-9a-f]{16}$/),
    uptimeS: uint32(),
    state: fc.record({
      moving: threeValued(),
      stopped: threeValued(),
      batteryPercent: fc.option(fc.double({ min: 0, max: 100, noNaN: true })),
      pose: fc.option(fc.record({ xM: fitting(), yM: fitting(), yawDeg: fitting().map(degrees) })),
      map: fc.option(fc.stringMatching(/^[0-9a-f]{16}$/).filter((mark) => !/^0+$/.test(mark))),
      software: texts(),
    }),
  });

/** As many complete characters as fit into 64 bytes, counted one by one. */
function upTo64Bytes(text: string): string {
  let kept = '';
  for (const character of text) {
    if (Buffer.byteLength(kept + character) > 64) break;
    kept += character;
  }
  return kept;
}

const toThousandth = (value: number) => Math.round(value * 1000) / 1000 + 0;

function rounded(heartbeat: Heartbeat): Heartbeat {
  const { batteryPercent: percent, pose, software } = heartbeat.state;
  const batteryPercent = percent === null ? null : Math.round(percent);
  const near = pose && {
    ...{ xM: toThousandth(pose.xM), yM: toThousandth(pose.yM), yawDeg: degrees(toThousandth(pose.yawDeg)) },
  };
  const state = { ...heartbeat.state, batteryPercent, pose: near, software: upTo64Bytes(software) };
  return { ...heartbeat, state };
}

describe('a datagram written by hand', () => {
  it('is parsed as its heartbeat', () => void expect(heartbeatOf(signed(byHand()))).toEqual(plainHeartbeat));

  it('equals the encoded one, byte for byte', () => {
    expect(encodeHeartbeat(plainHeartbeat, key).toString('hex')).toBe(signed(byHand()).toString('hex'));
  });

  it('equals the example of the docs page', () => {
    const page = readFileSync(new URL('../../docs/heartbeat.md', import.meta.url), 'utf8');
    const shown = /```\n((?:[0-9a-f]+\n)+)```/.exec(page)?.[1]?.replaceAll('\n', '');
    expect(shown).toBe(signed(byHand()).toString('hex'));
    expect(heartbeatOf(Buffer.from(shown ?? '', 'hex'))).toEqual(plainHeartbeat);
  });

  it('with fields of a later version behind its own is parsed, and these are ignored', { tags: 'property' }, () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 409 }), (later) => {
        expect(heartbeatOf(signed(byHand({ trailing: Buffer.from(later) })))).toEqual(plainHeartbeat);
      }),
    );
  });

  it('of a writer that names no map, or a part of one, has an unknown map and is otherwise the same', () => {
    const unknown = { ...plainHeartbeat, state: { ...plainState, map: null } };
    for (const length of [0, 1, 7])
      expect(heartbeatOf(signed(byHand({ map: Buffer.alloc(length, 7) })))).toEqual(unknown);
    expect(heartbeatOf(signed(byHand({ map: Buffer.alloc(8) })))).toEqual(unknown);
  });

  it('with non-zero reserved bytes, or values of a later version, is still parsed', { tags: 'property' }, () => {
    fc.assert(
      fc.property(fc.integer({ min: 3, max: 255 }), fc.integer({ min: 101, max: 255 }), (value, battery) => {
        const bytes = byHand({ reserved: value, moving: value, stopped: value, battery });
        expect(heartbeatOf(signed(bytes)).state).toMatchObject({ moving: null, stopped: null, batteryPercent: null });
      }),
    );
  });

  it('without a value reports it as unknown', () => {
    const bytes = byHand({ moving: 0, stopped: 0, battery: 255, software: Buffer.alloc(0) });
    const unknown = { moving: null, stopped: null, batteryPercent: null, software: '' };
    expect(heartbeatOf(signed(bytes)).state).toEqual({ ...plainState, ...unknown });
    for (const field of ['xMm', 'yMm', 'yawMilliDeg']) {
      expect(heartbeatOf(signed(byHand({ [field]: -0x80000000 }))).state.pose, field).toBeNull();
      expect(heartbeatOf(signed(byHand({ [field]: -0x7fffffff }))).state.pose, field).not.toBeNull();
    }
  });

  it('that contradicts itself is malformed, although its signature is valid', () => {
    const contradictions: Record<string, Partial<Parts>> = {
      'no serial': { serial: Buffer.alloc(0) },
      'a blank in the serial': { serial: Buffer.from('SN 7') },
      'a line end behind the serial': { serial: Buffer.from('SN7\n') },
      'a serial that is not ASCII': { serial: Buffer.from('SNé7') },
      'a serial of 129 letters': { serial: Buffer.alloc(129, 'a') },
      'a serial that goes on behind the end': { serialBytes: 128 },
      'a serial that leaves no bytes for a length': { serialBytes: 21 },
      'a software version of 65 bytes': { software: Buffer.alloc(65, 'a') },
      'a software version that goes on behind the end': { softwareBytes: 15 },
      'a software version that is no UTF-8': { software: Buffer.from([0x61, 0xff]) },
      'a software version cut inside a character': { software: Buffer.from('é').subarray(0, 1) },
      'a line end in the software version': { software: Buffer.from('2.12\n') },
      'an escape sequence in the software version': { software: Buffer.from('\u001b[31m') },
    };
    for (const [what, changes] of Object.entries(contradictions)) {
      expect(kindOf(signed(byHand(changes))), what).toBe('malformed');
    }
    // Some signatures begin with a byte that is a valid letter.
    for (let sequence = 0; sequence < 100; sequence += 1) {
      expect(kindOf(signed(byHand({ sequence, softwareBytes: 15 })))).toBe('malformed');
    }
    const longest = byHand({ serial: Buffer.alloc(128, 'a'), software: Buffer.alloc(64, 'a') });
    expect(kindOf(signed(longest))).toBe('heartbeat');
    expect(kindOf(signed(byHand({ serial: Buffer.from('a'), software: Buffer.alloc(0) })))).toBe('heartbeat');
  });

  it('of another version is reported as such, signed or not, and with other fields', { tags: 'property' }, () => {
    const others = fc.integer({ min: 0, max: 255 }).filter((version) => version !== 1);
    const keys = fc.constantFrom(secret, otherSecret);
    fc.assert(
      fc.property(others, fc.uint8Array({ maxLength: 471 }), keys, (version, fields, by) => {
        const bytes = Buffer.concat([Buffer.from('GWHB'), Buffer.from([version, 0, 0, 0]), fields]);
        bytes.writeUInt16BE(bytes.length, 6);
        expect(kindOf(signed(bytes, by))).toBe('otherVersion');
      }),
    );
  });
});

describe('an encoded heartbeat', () => {
  it('is parsed back to its values, rounded and truncated, and has fewer than 512 bytes', { tags: 'property' }, () => {
    fc.assert(
      fc.property(heartbeats(), (heartbeat) => {
        const bytes = encodeHeartbeat(heartbeat, key);
        expect(bytes.length).toBeLessThan(512);
        expect(heartbeatOf(bytes)).toEqual(rounded(heartbeat));
      }),
      { numRuns: runs(1000) },
    );
  });

  it('carries values that do not fit as unknown', () => {
    for (const value of [Number.NaN, Infinity, -Infinity, -0.01, 100.01, 255, 1e300]) {
      expect(readBack({ batteryPercent: value }).batteryPercent, String(value)).toBeNull();
    }
    const pose = { xM: 1, yM: 1, yawDeg: degrees(1) };
    for (const value of [Number.NaN, Infinity, -Infinity, 2147483.648, -2147483.648, 1e300]) {
      for (const field of ['xM', 'yM', 'yawDeg']) {
        expect(readBack({ pose: { ...pose, [field]: value } }).pose, `${field} ${value}`).toBeNull();
      }
    }
    expect(readBack({ pose }).pose).toEqual(pose);
  });

  it('carries a software version with control characters as unknown', () => {
    for (const software of ['2.12\n', '\u001b[31m2.12', '\u0085', `${'a'.repeat(80)}\0`]) {
      expect(readBack({ software }).software).toBe('');
    }
  });

  it('carries a mark of another form as unknown', () => {
    for (const map of [
      '',
      'hall',
      '0123',
      'g'.repeat(16),
      'A'.repeat(16),
      '0'.repeat(16),
      'a'.repeat(17),
      '1 '.repeat(8),
    ]) {
      expect(readBack({ map }).map, map).toBeNull();
    }
    expect(readBack({ map: mapMark({ uid: 'hall', version: 3 }) }).map).toBe(markOf('hall', 3).toString('hex'));
    const marks = [mapMark({ uid: 'hall', version: 3 }), mapMark({ uid: 'hall', version: 4 })];
    expect(
      new Set([...marks, mapMark({ uid: 'hall', version: null }), mapMark({ uid: 'hall2', version: 3 })]).size,
    ).toBe(4);
  });

  it('without its last field is that of an earlier writer, whose map is unknown', { tags: 'property' }, () => {
    fc.assert(
      fc.property(heartbeats(), (heartbeat) => {
        const bytes = encodeHeartbeat(heartbeat, key).subarray(0, -32 - 8);
        bytes.writeUInt16BE(bytes.length, 6);
        const { map: _, ...state } = rounded(heartbeat).state;
        expect(heartbeatOf(signed(bytes))).toEqual({ ...rounded(heartbeat), state: { ...state, map: null } });
      }),
    );
  });

  it('truncates a software version between two characters', () => {
    expect(readBack({ software: 'a'.repeat(64) }).software).toBe('a'.repeat(64));
    expect(readBack({ software: 'a'.repeat(65) }).software).toBe('a'.repeat(64));
    expect(readBack({ software: `${'a'.repeat(63)}é` }).software).toBe('a'.repeat(63));
    expect(readBack({ software: '😀'.repeat(17) }).software).toBe('😀'.repeat(16));
    expect(readBack({ software: `a${'😀'.repeat(17)}` }).software).toBe(`a${'😀'.repeat(15)}`);
    expect(readBack({ software: '\ufeff2' }).software).toBe('\ufeff2');
    expect(readBack({ software: '2\ud800' }).software).toBe('2\ufffd');
  });

  it('counts whole seconds, from 0 to the maximum of the field', () => {
    for (const [uptimeS, read] of [
      [1.99, 1],
      [-1, 0],
      [1e12, 0xffffffff],
      [Infinity, 0xffffffff],
    ] as const) {
      expect(heartbeatOf(encodeHeartbeat({ ...plainHeartbeat, uptimeS }, key)).uptimeS).toBe(read);
    }
  });
});

describe('a datagram that was corrupted in transit', () => {
  it('is malformed when it was truncated at any byte, or followed by other bytes', { tags: 'property' }, () => {
    fc.assert(
      fc.property(heartbeats(), fc.uint8Array({ minLength: 1, maxLength: 600 }), (heartbeat, more) => {
        const bytes = encodeHeartbeat(heartbeat, key);
        for (let length = 0; length < bytes.length; length += 1) {
          const kind = kindOf(bytes.subarray(0, length));
          if (kind !== 'malformed') expect.fail(`cut at ${length}: ${kind}`);
        }
        expect(kindOf(Buffer.concat([bytes, more]))).toBe('malformed');
      }),
      { numRuns: runs(20) },
    );
  });

  it('is never a heartbeat when one bit is flipped, and is classified by the position of the bit', {
    tags: 'property',
  }, () => {
    const expected = (at: number) => {
      if (at < 4 || at === 6 || at === 7) return 'malformed';
      if (at === 4) return 'otherVersion';
      return at >= 8 && at < 12 ? 'otherKey' : 'forged';
    };
    fc.assert(
      fc.property(heartbeats(), (heartbeat) => {
        const bytes = encodeHeartbeat(heartbeat, key);
        for (let bit = 0; bit < bytes.length * 8; bit += 1) {
          const at = bit >> 3;
          const flipped = Buffer.from(bytes);
          flipped[at] = (bytes[at] ?? 0) ^ (1 << (bit & 7));
          const kind = kindOf(flipped);
          if (kind !== expected(at)) expect.fail(`bit ${bit & 7} of byte ${at}: ${kind}`);
        }
      }),
      { numRuns: runs(20) },
    );
  });

  it('is malformed when it exceeds the maximum size, although its length and its signature are valid', () => {
    const ofSize = (size: number) => {
      const trailing = Buffer.alloc(size - signed(byHand()).length);
      const bytes = signed(byHand({ trailing }));
      expect(bytes).toHaveLength(size);
      return bytes;
    };
    expect(kindOf(ofSize(511))).toBe('heartbeat');
    for (const size of [512, 513, 1500, 65_507]) expect(kindOf(ofSize(size))).toBe('malformed');
  });
});

describe('a datagram of another sender', () => {
  it('has an unknown key when its key is not accepted', { tags: 'property' }, () => {
    fc.assert(
      fc.property(heartbeats(), (heartbeat) => {
        const bytes = encodeHeartbeat(heartbeat, key);
        expect(kindOf(bytes, otherRing)).toBe('otherKey');
        expect(kindOf(signed(bytes.subarray(0, -32), otherSecret), otherRing)).toBe('otherKey');
        expect(heartbeatOf(bytes, createKeyRing([createKey(otherSecret), key]))).toEqual(rounded(heartbeat));
      }),
    );
  });

  it('is forged when it names one key and was signed with another, also with another accepted one', () => {
    const both = createKeyRing([key, createKey(otherSecret)]);
    for (const keys of [ring, both]) {
      expect(kindOf(signed(byHand(), otherSecret), keys)).toBe('forged');
      expect(kindOf(Buffer.concat([byHand(), Buffer.alloc(32)]), keys)).toBe('forged');
    }
    expect(kindOf(signed(byHand({ keyId: idOf(otherSecret) })), otherRing)).toBe('forged');
    expect(kindOf(signed(byHand({ keyId: idOf(otherSecret) }), otherSecret), both)).toBe('heartbeat');
  });
});

describe('any bytes', () => {
  it('with a valid signature are a heartbeat, a test or malformed, and the parsed values are encoded and parsed to the same', {
    tags: 'property',
  }, () => {
    const fields = fc.uint8Array({ minLength: 36, maxLength: 36 });
    const textOrBytes = (maxLength: number) =>
      fc.oneof(
        fc.uint8Array({ maxLength }).map((bytes) => Buffer.from(bytes)),
        fc.stringMatching(/^[A-Za-z0-9:_-]{1,40}$/).map((text) => Buffer.from(text)),
        texts().map((text) => Buffer.from(text).subarray(0, maxLength)),
      );
    let read = 0;
    fc.assert(
      fc.property(fields, textOrBytes(140), textOrBytes(80), fc.uint8Array(), (fixed, serial, software, later) => {
        const bytes = byHand({ serial, software, trailing: Buffer.from(later) });
        bytes.set(fixed, 12);
        const opened = decodeHeartbeat(signed(bytes), ring);
        if (!('heartbeat' in opened)) {
          expect(opened.kind).toBe('malformed');
          return;
        }
        read += 1;
        const isRobot = bytes[35] === 0;
        expect(opened.kind).toBe(isRobot ? 'heartbeat' : 'test');
        const again = encodeHeartbeat(opened.heartbeat, key, isRobot ? 'robot' : 'test');
        expect(decodeHeartbeat(again, ring)).toEqual(opened);
      }),
      { numRuns: runs(1000) },
    );
    expect(read).toBeGreaterThan(0);
  });

  it('with any counters and positions are parsed as finite numbers', { tags: 'property' }, () => {
    fc.assert(
      fc.property(uint32(), uint32(), uint32(), int32(), int32(), int32(), (boot, sequence, up, x, y, yaw) => {
        const bytes = byHand({ bootCounter: boot, sequence, uptimeS: up, xMm: x, yMm: y, yawMilliDeg: yaw });
        const heartbeat = heartbeatOf(signed(bytes));
        expect(heartbeat).toMatchObject({ bootCounter: boot, sequence, uptimeS: up });
        if (heartbeat.state.pose !== null) {
          expect(heartbeat.state.pose).toEqual({ xM: x / 1000, yM: y / 1000, yawDeg: yaw / 1000 });
        }
      }),
    );
  });
});

it('a datagram parsed without a key is parsed with any signature', () => {
  const unsigned = Buffer.concat([byHand(), Buffer.alloc(32)]);
  for (const bytes of [signed(byHand()), signed(byHand(), otherSecret), unsigned]) {
    expect(decodeHeartbeat(bytes, null)).toEqual({ kind: 'heartbeat', heartbeat: plainHeartbeat });
  }
  expect(decodeHeartbeat(signed(byHand({ version: 2 })), null).kind).toBe('otherVersion');
  expect(decodeHeartbeat(signed(byHand()).subarray(1), null).kind).toBe('malformed');
});
