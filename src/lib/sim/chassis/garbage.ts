import { randomBytes } from 'node:crypto';

const TEXT = 0x81;
const TEXT_UNFINISHED = 0x01;
const CONTINUATION_FINISHED = 0x80;
const RESERVED_OPCODE = 0x83;

function frame(head: number, body: Buffer): Buffer {
  if (body.length < 126) return Buffer.concat([Buffer.from([head, body.length]), body]);
  const length = Buffer.from([head, 126, 0, 0]);
  length.writeUInt16BE(body.length, 2);
  return Buffer.concat([length, body]);
}

const kinds: readonly (() => Buffer)[] = [
  // Whole frames whose payload is not JSON.
  () => frame(TEXT, Buffer.from('topic=/tracked_pose;ori=90')),
  () => frame(TEXT, Buffer.from('"/tracked_pose"')),
  () => frame(TEXT, Buffer.from('{"topic":"/tracked_pose","pos":[1,2],"ori":')),
  () => frame(TEXT, Buffer.from('null')),
  // Invalid UTF-8 in a text frame.
  () => frame(TEXT, Buffer.from([0x7b, 0xff, 0xfe, 0xc0, 0x80, 0x7d])),
  // A continuation without a first frame, and a first frame interrupted by another message.
  () => frame(CONTINUATION_FINISHED, Buffer.from('{"topic":"/alerts"}')),
  () => Buffer.concat([frame(TEXT_UNFINISHED, Buffer.from('{"topic"')), frame(TEXT, Buffer.from('{}'))]),
  () => frame(RESERVED_OPCODE, Buffer.from('x')),
  // Not a frame.
  () => randomBytes(200),
];

/** Invalid bytes for a topic connection, one kind per call in rotation. */
export function garbageFrame(turn: number): Buffer {
  return kinds[turn % kinds.length]?.() ?? randomBytes(64);
}
