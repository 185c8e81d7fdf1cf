import { strict as assert } from 'node:assert';
import { connect } from 'node:net';
import { generate, parser as mqttParser, type Packet } from 'mqtt-packet';
import { degrees } from '../../../src/lib/angle/index.ts';
import { decide } from '../../../src/lib/cloud/gate/gate.ts';
import { discardReasons } from '../../../src/lib/cloud/gate/model.ts';
import { createPacketLimit, PacketError } from '../../../src/lib/cloud/link/mqtt/packet-limit.ts';
import { readDocument } from '../../../src/lib/cloud/release/job/document.ts';
import { readAnswer } from '../../../src/lib/enrolment/exchange.ts';
import { answerSchema } from '../../../src/lib/enrolment/wire.ts';
import { decodeHeartbeat, encodeHeartbeat } from '../../../src/lib/fleet/datagram.ts';
import { createKey, createKeyRing } from '../../../src/lib/fleet/keys.ts';
import { at, MAX_BYTES, SIGNATURE_BYTES } from '../../../src/lib/fleet/wire.ts';
import * as adb from '../../../src/lib/kiosk/adb/command-output.ts';
import { createShellReader } from '../../../src/lib/kiosk/adb/shell-frames.ts';
import { systemClock } from '../../../src/lib/lifecycle/index.ts';
import { proxyLimits } from '../../../src/lib/tunnel/link/index.ts';
import { createEngine } from '../../../src/lib/tunnel/proxy/engine.ts';
import { encodeFrame } from '../../../src/lib/tunnel/wire/codec.ts';
import { createFrameReader } from '../../../src/lib/tunnel/wire/frames.ts';
import { contextOf, messageOf, serial, topics } from '../../cloud/gate/context.ts';
import { heartbeatOf } from '../../fleet/heartbeats.ts';
import { inTwo, isPrintable, type Parser, refusing } from '../parser.ts';

const key = createKey(Buffer.alloc(32, 7));
const keys = createKeyRing([key]);

export const heartbeat: Parser = {
  samples: [
    heartbeatOf({ serial: 'SN0001' }),
    heartbeatOf({
      bootCounter: 4_000_000_000,
      sequence: 77,
      uptimeS: 86_400,
      state: {
        moving: true,
        stopped: false,
        batteryPercent: 83,
        pose: { xM: -1.5, yM: 20.25, yawDeg: degrees(179.5) },
        map: '0123456789abcdef',
        software: '2.12.3 ä',
      },
    }),
  ].flatMap((one) => [encodeHeartbeat(one, key), encodeHeartbeat(one, key, 'test')]),
  maxBytes: 2 * MAX_BYTES,
  repair(bytes) {
    if (bytes.length < at.keyId + SIGNATURE_BYTES) return bytes;
    const signed = Buffer.from(bytes.subarray(0, -SIGNATURE_BYTES));
    signed.writeUInt16BE(signed.length, at.signedBytes);
    return Buffer.concat([signed, key.sign(signed)]);
  },
  accepts(input) {
    const claimed = decodeHeartbeat(input, null);
    const decoded = decodeHeartbeat(input, keys);
    if (decoded.kind !== 'heartbeat' && decoded.kind !== 'test') return false;
    assert.deepEqual(decoded, claimed);
    const { state, ...head } = decoded.heartbeat;
    isPrintable(`${head.serial} ${head.instance}`, 200);
    assert.doesNotMatch(state.software, /\p{Cc}/u);
    const { xM = 0, yM = 0, yawDeg = 0 } = state.pose ?? {};
    for (const value of [head.bootCounter, head.sequence, head.uptimeS, xM, yM, yawDeg]) {
      assert.ok(Number.isFinite(value));
    }
    assert.ok(state.batteryPercent === null || (state.batteryPercent >= 0 && state.batteryPercent <= 100));
    return true;
  },
};

const token = '3b9f2f3e-0000-4000-8000-000000000000';
const execution = {
  jobId: 'job-1',
  thingName: serial,
  status: 'QUEUED',
  statusDetails: { step: 'none' },
  queuedAt: 1_700_000_000,
  lastUpdatedAt: 1_700_000_000.25,
  versionNumber: 1,
  executionNumber: 1,
  jobDocument: {
    schema: 'gw/release-job/1',
    version: '1.2.3',
    package: { url: 'https://storage.example.com/p.tar?X=1', bytes: 1_000, sha256: 'a'.repeat(64) },
    stage: 1,
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a placeholder of the job service
    documentParameters: { site: '${aws:iot:parameters:site}' },
  },
};
const requests = {
  'job-start': `${topics.jobs}/start-next`,
  'shadow-update': `${topics.shadow}/update`,
  storage: topics.storage,
} as const;
const messages: readonly (readonly [string, object])[] = [
  [topics.stop, { id: 'stop-1', reason: 'Feuer\nalarm', by: 'Leitstelle' }],
  [`${topics.jobs}/notify-next`, { timestamp: 1_700_000_000, execution }],
  [
    topics.tunnels,
    { clientAccessToken: 'T'.repeat(64), clientMode: 'destination', region: 'eu-central-1', services: ['A'] },
  ],
  [`${requests['job-start']}/accepted`, { clientToken: `${token}0`, execution }],
  [`${requests['shadow-update']}/accepted`, { clientToken: `${token}1`, version: 7, timestamp: 1_700_000_000 }],
  [`${requests['shadow-update']}/rejected`, { clientToken: `${token}1`, code: 409, message: 'Version conflict' }],
  [
    topics.storageAnswer,
    { clientToken: `${token}2`, url: 'https://s.example.com/o?sig=1', headers: { 'x-meta': 'a' } },
  ],
];
const context = contextOf({
  requestOf: (asked) => {
    const [kind, topic] = Object.entries(requests)[Number(asked.slice(-1))] ?? [];
    if (!asked.startsWith(token) || kind === undefined || topic === undefined) return null;
    return { kind: kind as keyof typeof requests, topic, state: 'pending' };
  },
  hasSeenStop: () => true,
});

/** A message as its topic, a line end, and the payload. */
export const cloud: Parser = {
  samples: messages.map(([topic, payload]) => `${topic}\n${JSON.stringify(payload)}`),
  words: [
    ...messages.map(([topic]) => topic),
    'execution',
    'jobDocument',
    'clientToken',
    '\u202e',
    `"${token}0"`,
    '"REMOVED"',
  ],
  maxBytes: 66 * 1024,
  accepts(input) {
    const end = Math.max(0, input.indexOf(0x0a));
    const topic = input.toString('utf8', 0, end);
    const decision = decide(messageOf(topic, input.subarray(end + 1)), context);
    switch (decision.kind) {
      case 'discard':
        assert.ok(discardReasons.includes(decision.reason));
        return false;
      case 'stop':
        assert.equal(topic, topics.stop);
        assert.match(decision.stop.id ?? '', /^[\w-]{0,64}$/);
        isPrintable(decision.stop.reason ?? '', 200);
        isPrintable(decision.stop.by ?? '', 120);
        return true;
      case 'release': {
        const reading = readDocument(decision.execution.jobDocument);
        if (!reading.ok) for (const problem of reading.problems) isPrintable(problem, 2_000);
        return true;
      }
      case 'tunnel-notification':
        assert.equal(topic, topics.tunnels);
        return true;
      case 'answer':
        assert.ok(decision.clientToken.startsWith(token));
        if (decision.answer.kind === 'rejected') isPrintable(decision.answer.rejected.message, 500);
        return true;
    }
  },
};

const packets: readonly (readonly Packet[])[] = [
  [
    { cmd: 'connack', returnCode: 0, sessionPresent: false },
    { cmd: 'suback', messageId: 1, granted: [1, 1, 128] },
    { cmd: 'pingresp' },
  ] as Packet[],
  [
    { cmd: 'publish', topic: topics.stop, payload: '{"id":"a"}', qos: 1, messageId: 3, dup: false, retain: false },
    { cmd: 'publish', topic: 'ä/b', payload: Buffer.alloc(40, 1), qos: 0, dup: false, retain: true },
    { cmd: 'puback', messageId: 65_535 },
    { cmd: 'publish', topic: 'a', payload: Buffer.alloc(90), qos: 1, messageId: 4, dup: true, retain: false },
  ] as Packet[],
];
const MAX_PAYLOAD_BYTES = 64;

/** What a broker sends, as the parser of the MQTT client gets it behind the limit of gw. */
export const mqtt: Parser = {
  samples: packets.map((some) => Buffer.concat(some.map((packet) => generate(packet)))),
  maxBytes: 16 * 1024,
  accepts(input) {
    const whole = parsed([input]);
    assert.deepEqual(parsed(inTwo(input)), whole);
    return whole.end === null && whole.packets.length > 0;
  },
};

function parsed(chunks: readonly Buffer[]) {
  const limit = createPacketLimit(MAX_PAYLOAD_BYTES);
  const reader = mqttParser({ protocolVersion: 4 });
  const found: string[] = [];
  let end: string | null = null;
  reader.on('error', (error: Error) => {
    end ??= error.message;
  });
  reader.on('packet', (packet: Packet) => {
    if (packet.cmd !== 'publish') return void found.push(packet.cmd);
    const removed = limit.nextPublish();
    assert.ok(packet.payload.length <= MAX_PAYLOAD_BYTES && (removed === null || removed > MAX_PAYLOAD_BYTES));
    assert.ok(packet.qos <= 1);
    found.push(`${packet.topic} ${packet.payload} ${removed}`);
  });
  try {
    for (const chunk of chunks) {
      for (const piece of limit.push(chunk)) {
        if (end === null) reader.parse(Buffer.from(piece));
      }
    }
  } catch (error) {
    if (!(error instanceof PacketError)) throw error;
    isPrintable(error.message, 200);
    end ??= error.message;
  }
  return { packets: found, end };
}

const streamOf = (
  type: 'stream-start' | 'connection-start' | 'data' | 'stream-reset' | 'connection-reset',
  connectionId = 1,
) =>
  encodeFrame({
    type,
    streamId: 1,
    serviceId: 'web',
    connectionId,
    payload: Buffer.from(type === 'data' ? 'GET /' : ''),
  });
const session = [
  encodeFrame({ type: 'service-ids', availableServiceIds: ['web'] }),
  ...[streamOf('stream-start'), streamOf('data'), streamOf('connection-start', 2), streamOf('data', 2)],
  ...[streamOf('connection-reset', 2), streamOf('stream-reset'), encodeFrame({ type: 'session-reset' })],
];

/** What the tunnel service sends, to the proxy with a target that never answers. */
export const tunnel: Parser = {
  samples: [
    Buffer.concat(session),
    Buffer.concat(session.slice(0, 5)),
    Buffer.concat([...session, ...session.slice(1)]),
  ],
  maxBytes: 68 * 1024,
  async accepts(input) {
    const counts = { open: 0, connections: 0, bytesIn: 0, bytesOut: 0 };
    const engine = createEngine({
      services: ['web'],
      wire: { send: (message) => void encodeFrame(message), unsentBytes: () => 0, setHeld: () => {} },
      connect: () => connect({ host: 'silent.invalid', port: 1, lookup: () => {} }),
      limits: proxyLimits,
      clock: systemClock,
      counts,
      onNote: (text) => assert.ok(text.length <= 1_000),
    });
    let isOver = false;
    const reader = createFrameReader((message) => {
      if (isOver) return;
      const end = engine.receive(message);
      isOver = end !== null;
      assert.ok((end?.detail ?? '').length <= 1_000);
    });
    const readAll = refusing(['TUNNEL_PROTOCOL'], () => {
      for (const part of inTwo(input)) reader.push(part);
    });
    const isSound = readAll(input) === true && !isOver && engine.isReady();
    assert.ok(counts.open <= proxyLimits.connectionsPerService);
    if (counts.open > 0) await engine.destroy();
    assert.equal(counts.open, 0);
    return isSound;
  },
};

const printed = [
  '[ro.product.model]: [TAB-10]\r\n[ro.serialno]: [TAB0001]\n[b]: [one\ntwo]\n',
  'package:com.example.kiosk versionCode:12\npackage:com.android.x\n',
  'Physical density: 320\nOverride density: 240\n',
  '[V] will get volume\n[V] volume is 5 in range [0..15]\n',
  'Filesystem 1K-blocks Used Available Use% Mounted on\n/dev/block/dm-5  52428800 1234567  51194233   3% /data\n',
  `${'0123456789abcdef'.repeat(4)}  /data/local/tmp/x.apk\n`,
  'Current Device Policy Manager state:\n  Device Owner:\n    admin=ComponentInfo{com.example.kiosk/.Receiver}\n    name=\n',
  '  * Hist #1: ActivityRecord{aaaa u0 com.a/.M t5}\n    Intent { act=VIEW dat=http://192.0.2.2:5173/ flg=0x1 }\n  mResumedActivity: ActivityRecord{aaaa u0 com.a/.M t5}\n  mLockTaskModeState=LOCKED\n',
  '23: wlan0    inet 192.0.2.5/28 brd 192.0.2.15 scope global wlan0\\       valid_lft forever\n',
  'Wifi is enabled\nWifi is connected to "Robot 7"\n',
];
const parseFunctions = Object.entries(adb).flatMap(([name, parse]) =>
  name.startsWith('parse') ? [parse as (text: string) => unknown] : [],
);

const frame = (kind: number, text: string) => {
  const head = Buffer.from([kind, 0, 0, 0, 0]);
  head.writeUInt32LE(Buffer.byteLength(text), 1);
  return Buffer.concat([head, Buffer.from(text)]);
};

/** The output of a command, and the frames of the shell protocol that carry it. */
export const tablet: Parser = {
  samples: [
    ...printed,
    Buffer.concat([frame(1, printed[0] ?? ''), frame(2, 'warning\n'), frame(1, 'more'), frame(3, '\u0000')]),
    Buffer.concat([frame(1, printed[7] ?? ''), frame(3, '\u0007')]),
  ],
  words: [
    'Device Owner:',
    'ActivityRecord{',
    'Intent {',
    'Physical density: ',
    'package:',
    ' inet ',
    '1K-blocks',
    ']\n',
    ': [',
  ],
  maxBytes: 64 * 1024,
  accepts(input) {
    const read = (chunks: readonly Buffer[]) => {
      const reader = createShellReader();
      const verdict = chunks.map((chunk) => reader.push(chunk)).at(-1);
      return { verdict, result: reader.result() };
    };
    const whole = read([input]);
    assert.deepEqual(read(inTwo(input)), whole);
    const text = whole.result?.stdout ?? input.toString('utf8');
    const values = parseFunctions.map((parse) => parse(text));
    for (const value of values) if (typeof value === 'number') assert.ok(Number.isInteger(value));
    // Some parser takes nearly any text as a value.
    return (
      values.filter((value) => typeof value === 'number' || (typeof value === 'object' && !isEmpty(value))).length > 0
    );
  },
};

function isEmpty(value: object | null): boolean {
  if (value instanceof Map) return value.size === 0;
  // A list of packages also keeps the lines that are none.
  if (value !== null && 'packages' in value) return isEmpty(value.packages as Map<string, unknown>);
  return value === null || Object.keys(value).length === 0;
}

const enrolled = {
  certificate: '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n',
  ca: '-----BEGIN CERTIFICATE-----\nMIIC\n-----END CERTIFICATE-----\n',
  endpoint: 'mqtt.example.com',
  region: 'eu-central-1',
};

/** The answer of the enrolment endpoint. */
export const enrolment: Parser = {
  samples: [JSON.stringify(enrolled), JSON.stringify({ ...enrolled, more: { a: [1] } }, null, 1)],
  words: ['198.51.100.7', '2001:db8::1', 'a-', '-a', 'xn--'],
  maxBytes: 64 * 1024,
  accepts: refusing(['ENROLMENT_BAD_ANSWER'], (input) =>
    answerSchema.parse(readAnswer(input, undefined, { address: 'enrol.example.com', port: 443 })),
  ),
};
