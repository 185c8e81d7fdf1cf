import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '..', '..');

/** Reads a clock of the machine, or waits for a fixed time. A deferral to the next round of the event loop is neither. */
const elapsed =
  /\bperformance\.now\(|\bDate\.now\(|\bprocess\.(?:hrtime|uptime)\b|\bsetTimeout\(|\bsetInterval\(|\bAbortSignal\.timeout\(|from 'node:timers\/promises'|\bvi\.waitFor\(/;

/** Tests whose verdict needs time of the machine, each with the reason. */
const allowed: Readonly<Record<string, string>> = {
  'test/waiting.ts': 'the interval of polling, and the detector of hangs',
  'test/process.ts': 'ends a process that does not end by itself',
};

describe('no test judges elapsed time', () => {
  it('or waits for a duration: it waits for a state, on a clock that it advances', () => {
    const files = globSync('test/**/*.{ts,tsx}', { cwd: root });
    expect(files.length).toBeGreaterThan(500);
    const own = 'test/structure/elapsed-time.test.ts';
    const readers = files.filter(
      (file) => file !== own && elapsed.test(withoutComments(readFileSync(join(root, file), 'utf8'))),
    );
    expect(readers.filter((file) => !(file in allowed)).toSorted()).toEqual([]);
    expect(Object.keys(allowed).filter((file) => !readers.includes(file))).toEqual([]);
  });

  it('is detected where it is done', () => {
    for (const line of [
      'const began = performance.now();',
      'await new Promise((wake) => setTimeout(wake, 50));',
      "import { setTimeout as sleep } from 'node:timers/promises';",
      'signal: AbortSignal.timeout(500)',
    ]) {
      expect(elapsed.test(withoutComments(line)), line).toBe(true);
    }
    for (const line of ['clock.monotonicMs()', 'setImmediate(resolve)', '// no performance.now() here']) {
      expect(elapsed.test(withoutComments(line)), line).toBe(false);
    }
  });
});

function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/\/\/.*$/gm, '');
}
