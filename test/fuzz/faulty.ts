import type { Parser } from './parser.ts';

const SAMPLE = 'fault';
const kept: Buffer[] = [];

/** A parser with a fault at the unchanged sample, which is the first input. */
function withFault(fault: () => void): () => Parser {
  return () => ({
    samples: [SAMPLE],
    maxBytes: 100,
    maxMs: 20,
    accepts(input) {
      if (input.toString() === SAMPLE) fault();
      return true;
    },
  });
}

/** What a session must find. */
export const parsers: Readonly<Record<string, () => Parser>> = {
  sound: withFault(() => {}),
  throws: withFault(() => {
    throw new TypeError('of the parser');
  }),
  slow: withFault(() => {
    const began = process.threadCpuUsage();
    while (process.threadCpuUsage(began).user < 40_000);
  }),
  large: withFault(() => void Buffer.alloc(110_000_000)),
  kept: () => ({ samples: [SAMPLE], maxBytes: 100, accepts: () => kept.push(Buffer.alloc(64 * 1024)) > 0 }),
  polluting: withFault(() => Reflect.set(Object.prototype, 'polluted', true)),
  unbounded: withFault(() => {
    for (const all: number[][] = []; ; ) all.push(Array.from({ length: 100_000 }, Math.random));
  }),
  endless: withFault(() => {
    for (;;);
  }),
};
