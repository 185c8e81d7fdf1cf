import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createShellReader, MAX_OUTPUT_BYTES } from '../../../src/lib/kiosk/adb/shell-frames.ts';

function frame(kind: number, payload: Uint8Array): Buffer {
  const header = Buffer.alloc(5);
  header[0] = kind;
  header.writeUInt32LE(payload.length, 1);
  return Buffer.concat([header, payload]);
}

describe('the frames of the shell protocol', () => {
  it('are decoded from any chunks, with stdout and stderr separate', { tags: 'property' }, () => {
    const output = fc.record({ error: fc.boolean(), text: fc.string({ unit: 'grapheme' }) });
    const outputs = fc.array(output, { maxLength: 8 });
    fc.assert(
      fc.property(outputs, fc.integer({ min: 0, max: 255 }), fc.integer({ min: 1, max: 40 }), (parts, code, size) => {
        const bytes = Buffer.concat([
          ...parts.map(({ error, text }) => frame(error ? 2 : 1, Buffer.from(text))),
          frame(3, Buffer.from([code])),
        ]);
        const reader = createShellReader();
        for (let at = 0; at < bytes.length; at += size) reader.push(bytes.subarray(at, at + size));
        const joined = (error: boolean) => parts.flatMap((part) => (part.error === error ? [part.text] : [])).join('');
        expect(reader.result()).toEqual({ stdout: joined(false), stderr: joined(true), exitCode: code });
      }),
    );
  });

  it('are rejected with the reason', () => {
    const broken = (kind: number, size: number) => createShellReader().push(frame(kind, Buffer.alloc(size)));
    expect(broken(9, 1)).toEqual({ kind: 'broken', reason: 'a frame of the unknown kind 9' });
    expect(broken(3, 2)).toEqual({ kind: 'broken', reason: 'an exit frame of 2 bytes' });
  });

  it('are rejected above the size limit without buffering', () => {
    const header = Buffer.alloc(5);
    header[0] = 1;
    header.writeUInt32LE(MAX_OUTPUT_BYTES + 1, 1);
    expect(createShellReader().push(header)).toEqual({ kind: 'broken', reason: 'more than 16 MiB of output' });
  });
});
