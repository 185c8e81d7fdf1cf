// Runs in a mount and network namespace of its own: `gw serve` on state folders that are full, read-only or damaged.
// Prints the visible state as one JSON object, which the test judges.
import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startProcess } from '../process.ts';

const [gw = '', dir = '', scenario = ''] = process.argv.slice(2);
const state = join(dir, 'state');
const filler = join(state, 'filler');
const sitePath = join(dir, 'site.yaml');

mkdirSync(state, { recursive: true });
writeFileSync(join(dir, 'key'), `${'ab'.repeat(32)}\n`, { mode: 0o600 });
writeFileSync(
  sitePath,
  `name: T
chassis: { host: 127.0.0.1, port: 1, serial: S1 }
fleet: { keyFile: key, broadcast: false }
disk: { reserveMb: 1 }
`,
);
// Free space for the reserve and a little more.
const mount = () => execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=2m,mode=700', 'none', state]);
const remount = (mode: 'ro' | 'rw') => execFileSync('mount', ['-o', `remount,${mode}`, state]);
const fill = () => {
  try {
    writeFileSync(filler, Buffer.alloc(4_000_000));
  } catch {
    // It is full now, as intended.
  }
};

const scenarios: Record<string, { before?: () => void; running?: () => void; repair: () => void }> = {
  full: {
    before: () => {
      mount();
      fill();
    },
    repair: () => rmSync(filler),
  },
  'full later': {
    before: mount,
    running: fill,
    repair: () => rmSync(filler),
  },
  'read-only': {
    before: () => {
      mount();
      remount('ro');
    },
    repair: () => remount('rw'),
  },
  damaged: {
    before: () => {
      writeFileSync(join(state, 'heartbeat-received.json'), '{"format":"gw/heartbe');
      symlinkSync('media', join(dir, 'media'));
    },
    repair: () => {
      rmSync(join(state, 'heartbeat-received.json'));
      rmSync(join(dir, 'media'));
    },
  },
};

const ask = async (path: string, init: RequestInit = {}) => {
  const reply = await fetch(`http://127.0.0.1:5173${path}`, { signal: AbortSignal.timeout(20_000), ...init });
  // biome-ignore lint/suspicious/noExplicitAny: the test says what it expects of it
  return { status: reply.status, data: (await reply.json()) as any };
};

async function start() {
  const args = [gw, 'serve', '--site', sitePath, '--json', '--log-level', 'error'];
  const { child, closed, untilOutput } = startProcess(process.execPath, args);
  await untilOutput('"event":"ready"');
  return {
    async end(signal: NodeJS.Signals) {
      child.kill(signal);
      return (await Promise.race([closed, sleep(10_000)]))?.code;
    },
  };
}

const { before, running, repair } = scenarios[scenario] ?? { repair() {} };
before?.();
const first = await start();
const early = await ask('/api/health');
running?.();
const stop = await ask('/api/stopp', { method: 'POST' });
const seen = await ask('/api/stopp');
const health = await ask('/api/health');
const neighbours = await ask('/api/nachbarn');
repair();
let healthAfterRepair = await ask('/api/health');
let saved = await ask('/api/stopp');
for (
  let round = 0;
  round < 240 && (healthAfterRepair.data.status !== 'ok' || saved.data.stop.saved !== true);
  round += 1
) {
  await sleep(250);
  [healthAfterRepair, saved] = [await ask('/api/health'), await ask('/api/stopp')];
}
await first.end('SIGKILL');
const second = await start();
const after = await ask('/api/stopp');
const code = await second.end('SIGTERM');
process.stdout.write(JSON.stringify({ early, stop, seen, health, neighbours, healthAfterRepair, saved, after, code }));
