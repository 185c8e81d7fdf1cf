import { describe, expect, it } from 'vitest';
import { createReceivedBytes } from '../../../src/lib/operator/media/young-garbage.ts';
import { isFull } from '../../properties.ts';

const PIECE_BYTES = 64 * 1024;

/** By how much the memory of buffers grows at most while so many of them come and go. */
async function peakBytes(onPiece: (bytes: number) => void): Promise<number> {
  const before = process.memoryUsage().arrayBuffers;
  let peak = before;
  for (let bytes = 0; bytes < (isFull ? 100_000_000 : 40_000_000); bytes += PIECE_BYTES) {
    Buffer.allocUnsafeSlow(PIECE_BYTES).fill(1);
    onPiece(PIECE_BYTES);
    peak = Math.max(peak, process.memoryUsage().arrayBuffers);
    await new Promise(setImmediate);
  }
  return peak - before;
}

describe('bytes that were received', () => {
  it('are freed while more arrive', { tags: 'property' }, async () => {
    const received = createReceivedBytes();
    const counted = await peakBytes((bytes) => received.add(bytes));
    expect(counted).toBeLessThan(6_000_000);
    expect(counted).toBeLessThan((await peakBytes(() => {})) / 2);
  });
});
