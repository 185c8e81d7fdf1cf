import { spawnSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gw, median } from '../measure.js';
import { writeOverlays } from '../overlays.js';

const FEATURES = 100_000;
const RUNS = 9;
/** Prints the peak memory of the process, in kilobytes, when it exits. */
const memoryOf = `data:text/javascript,process.on('exit',()=>process.stderr.write(process.resourceUsage().maxRSS+'kB'))`;

export default {
  title: `gw overlays inspect --json of ${FEATURES} features against jq counting them (whole processes, in turn)`,
  peers: [['jq', 'jq']],
  async run() {
    const dir = mkdtempSync(join(tmpdir(), 'gw-bench-'));
    try {
      const path = join(dir, 'features.json');
      writeOverlays(path, FEATURES);
      const inspect = [gw, 'overlays', 'inspect', '--file', path, '--json'];
      checkOutput(inspect, join(dir, 'answer.json'));
      const ours = [];
      const peer = [];
      const memory = [];
      for (let run = -1; run < RUNS; run += 1) {
        const inspected = timed(process.execPath, inspect);
        const counted = timed('jq', ['.features|length', path]);
        const held = timed(process.execPath, ['--import', memoryOf, ...inspect]);
        if (run < 0) continue;
        ours.push(inspected.took);
        peer.push(counted.took);
        memory.push((Number(/(\d+)kB/.exec(held.said)?.[1]) * 1024) / 1e6);
      }
      const ratio = median(ours) / median(peer);
      const most = Math.max(...memory);
      const size = `${(statSync(path).size / 1e6).toFixed(0)} MB`;
      return {
        rows: [
          { name: `gw overlays inspect --json, ${size}`, median: median(ours), unit: 'ms', samples: ours },
          { name: `jq '.features|length', ${size}`, median: median(peer), unit: 'ms', samples: peer },
          { name: 'memory of gw at its peak', median: median(memory), unit: 'MB', samples: memory },
        ],
        figures: [
          { name: 'gw / jq', value: `${ratio.toFixed(2)} ×`, target: 'at most 2.5 ×', holds: ratio <= 2.5 },
          { name: 'peak memory', value: `${most.toFixed(0)} MB`, target: 'at most 600 MB', holds: most <= 600 },
        ],
      };
    } finally {
      rmSync(dir, { recursive: true, force: true });
    }
  },
};

/** Speed counts only for a correct result: every feature must be in the output. */
function checkOutput(argv, path) {
  const file = openSync(path, 'w');
  spawnSync(process.execPath, argv, { stdio: ['ignore', file, 'inherit'] });
  closeSync(file);
  const { data } = JSON.parse(readFileSync(path, 'utf8'));
  if (data.features.length !== FEATURES) throw new Error(`${data.features.length} features in the output`);
}

/** Exit code 1 says that something in the map is wrong, which is so here. */
function timed(command, argv) {
  const began = performance.now();
  const child = spawnSync(command, argv, { stdio: ['ignore', 'ignore', 'pipe'], encoding: 'utf8' });
  const took = performance.now() - began;
  if (child.status !== 0 && child.status !== 1)
    throw new Error(`${command} ended with ${child.status}: ${child.stderr}`);
  return { took, said: child.stderr };
}
