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
  'test/fuzz/session.ts': 'the bound of time of a mutated input, which is a finding of that program',
  'test/lifecycle/paced-clock.ts': 'one round of the event loop between two steps of its time',
  'test/story/in-flight.ts': 'gives the processor to other processes while work is in flight',
  'test/peers/cable.test.ts': 'a program in a network namespace that polls there',
  'test/peers/heartbeat.test.ts': 'a program in a network namespace that polls there',
  'test/peers/commissioning.test.ts': 'a program in a network namespace that polls there',
  'test/structure/wall-clock.test.ts': 'names what it looks for',
  'test/e2e/serve.test.ts': 'a handle that a preloaded module keeps open',
  'test/e2e/tunnel-proxy.test.ts': 'a program that does not end by itself',
  'test/e2e/checklist-breaking.ts': 'certificates that end soon are made for the date of the machine',
  'test/e2e/checklist-fault-rows.ts': 'a gateway that hangs longer than it may is judged by its own clock',
  'test/peers/apt-repository.test.ts': 'the date until which the repository is valid',
  'test/peers/ssh-link.ts': 'a slow link: delays what it forwards',
  'test/peers/cloud-outbox.test.ts': 'kills at random times; its subject is the process',
  'test/peers/network-from.test.ts': 'a host that hangs longer than an attempt may take, and less than its connection',
  'test/peers/tunnel-cable.test.ts': 'a cable that is cut for less than the kernel waits',
  'test/peers/completion.test.ts': 'a shell does not tell when it has completed a line',
  'test/peers/pages-bad-input.test.ts': 'the clock of the browser, which the pages read',
};

/** Programs that tests start: what they found is judged by the test. */
const isProgram = (file: string) => /-(?:child|side)\.ts$/.test(file);

describe('no test judges elapsed time', () => {
  it('or waits for a duration: it waits for a state, on a clock that it advances', () => {
    const files = globSync('test/**/*.{ts,tsx}', { cwd: root });
    expect(files.length).toBeGreaterThan(500);
    const own = 'test/structure/elapsed-time.test.ts';
    const readers = files.filter(
      (file) =>
        file !== own && !isProgram(file) && elapsed.test(withoutComments(readFileSync(join(root, file), 'utf8'))),
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
