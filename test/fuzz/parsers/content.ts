import { strict as assert } from 'node:assert';
import { isUtf8 } from 'node:buffer';
import { crc32 } from 'node:zlib';
import { readTopicFrame } from '../../../src/lib/chassis/topics/message.ts';
import { createJsonScanner, readJsonBytes } from '../../../src/lib/json/index.ts';
import { checkPng } from '../../../src/lib/maps/png.ts';
import { inspectOverlays } from '../../../src/lib/overlays/index.ts';
import { overlaysSource, readOverlays } from '../../../src/lib/overlays/read/read.ts';
import { floorOverlays } from '../../../src/lib/sim/chassis/floor/floor.ts';
import { mapDocument, oddOverlays, picture } from '../../maps/samples.ts';
import { inTwo, isPrintable, type Parser, refusing } from '../parser.ts';

const bounds = { maxDepth: 200, maxValues: 5_000 };
const device = {
  device: { sn: 'SN0001', model: 'm1' },
  axbot_version: '2.12.3',
  caps: { a: [true, null, -1.5e-3, ''] },
};

export const json: Parser = {
  samples: [
    JSON.stringify(device),
    JSON.stringify([device, 'Küche \u2028 \\ "'], null, 2),
    mapDocument(1, oddOverlays),
  ],
  words: [
    '"__proto__":',
    '"\\u0061"',
    '1e5',
    '-0.0',
    '1E+400',
    '\\ud83d\\ude00',
    '// a',
    '/* a */',
    'Infinity',
    '<html>',
  ],
  maxBytes: 64 * 1024,
  accepts(input) {
    const isMarked = input[0] === 0xef && input[1] === 0xbb && input[2] === 0xbf;
    const bytes = isMarked ? input.subarray(3) : input;
    const find = (chunks: readonly Buffer[]) => {
      const scanner = createJsonScanner(bounds);
      for (const chunk of chunks) scanner.push(chunk);
      return scanner.end();
    };
    const finding = find([bytes]);
    assert.equal(find(inTwo(bytes)), finding);
    const parsed = parseOrNothing(bytes);
    if (finding === 'sound' || finding === 'not-json') assert.equal(finding === 'sound', parsed !== undefined);
    const reading = readJsonBytes(input, 'answer', bounds);
    if (!reading.ok) isPrintable(reading.problem, 500);
    else assert.equal(finding, 'sound');
    return reading.ok;
  },
};

/** The parsed value in a list, since it may be any; undefined: not JSON. */
function parseOrNothing(bytes: Buffer): [unknown] | undefined {
  try {
    return isUtf8(bytes) ? [JSON.parse(bytes.toString('utf8'))] : undefined;
  } catch {
    return undefined;
  }
}

const topicMessages: readonly object[] = [
  { enabled_topics: ['/tracked_pose', '/alerts'] },
  { topic: '/tracked_pose', pos: [1.5, -2], ori: 90, cov: [[1]] },
  { topic: '/planning_state', action_id: 7, move_state: 'idle', fail_reason: 0, remaining_distance: 1.25 },
  { topic: '/battery_state', percentage: 0.5, power_supply_status: 'charging' },
  { topic: '/wheel_state', control_mode: 'auto', emergency_stop_pressed: false },
  { topic: '/slam/state', state: 'positioning', reliable: true },
  { topic: '/alerts', alerts: [{ code: 8501, level: 'warning', msg: '42' }, { code: 1 }] },
  { topic: '/map/info', name: '7', uid: '8', map_version: 3, overlays_version: 4 },
];

/** Text frames of the topic stream of the chassis. */
export const topics: Parser = {
  samples: topicMessages
    .map((message) => JSON.stringify(message))
    .concat(JSON.stringify({ ...topicMessages[7], overlays: { features: [{ a: 'x'.repeat(9_000) }] } })),
  words: topicMessages.map((message) => JSON.stringify('topic' in message ? message.topic : 'topic')),
  maxBytes: 64 * 1024,
  accepts(input) {
    const steps = readTopicFrame(input);
    let step = steps.next();
    while (step.done !== true) step = steps.next();
    const message = step.value;
    if (message.kind === 'complaint') isPrintable(message.what, 600);
    if (message.kind !== 'data') return message.kind !== 'complaint';
    assert.equal(typeof message.text, 'string');
    if (message.topic === '/tracked_pose')
      assert.ok([message.data.ori, ...message.data.pos.slice(0, 2)].every(Number.isFinite));
    if (message.topic === '/battery_state') assert.ok(message.data.percentage >= 0 && message.data.percentage <= 1);
    return true;
  },
};

const features = JSON.parse(floorOverlays('SN-Größe-1')) as { features: object[] };
const fewFeatures = (from: number) =>
  JSON.stringify({ ...features, features: features.features.slice(from, from + 3) });

export const overlays: Parser = {
  samples: [
    fewFeatures(0),
    fewFeatures(4),
    oddOverlays,
    mapDocument(1, oddOverlays),
    mapDocument(2, JSON.parse(fewFeatures(8))),
  ],
  words: [
    '"overlays":',
    '"features":',
    '"Polygon"',
    '"LineString"',
    '"MultiPolygon"',
    '"coordinates"',
    '"properties"',
    '"11"',
  ],
  maxBytes: 48 * 1024,
  accepts: refusing(['OVERLAYS_INVALID'], (input) => {
    const read = readOverlays(input);
    const { findings } = inspectOverlays(read, { frame: null, device: null });
    assert.ok(Array.isArray(findings));
    if (read.map !== null) overlaysSource(input);
  }),
};

/** Checksums of the chunks of a PNG that were changed. */
function withChecksums(bytes: Buffer): Buffer {
  const image = Buffer.from(bytes);
  for (let at = 8; at + 12 <= image.length; ) {
    const next = at + 12 + image.readUInt32BE(at);
    if (next > image.length) break;
    image.writeUInt32BE(crc32(image.subarray(at + 4, next - 4)), next - 4);
    at = next;
  }
  return image;
}

/** The picture of a map. */
export const png: Parser = {
  samples: [picture(), picture(1, 1), picture(40, 3)],
  words: ['IHDR', 'IDAT', 'IEND', 'tEXt', '\0\0\0\0'],
  maxBytes: 4 * 1024,
  repair: withChecksums,
  async accepts(input) {
    const reading = await checkPng(input);
    if (!reading.ok) isPrintable(reading.problem, 500);
    return reading.ok;
  },
};
