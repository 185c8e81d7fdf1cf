import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gw, median } from '../measure.js';
import { writeSessionRecords } from '../session-records.js';

const RECORDS = 100_000;
const RUNS = 5;
const MAX_RATIO = 1;
const MAX_MB = 300;
/** Prints the peak memory of the process, in kilobytes, when it exits. */
const memoryOf = `data:text/javascript,process.on('exit',()=>process.stderr.write(process.resourceUsage().maxRSS+'kB'))`;

export default {
  title: `gw tunnel audit of ${RECORDS.toLocaleString('en')} session records against jq -c . of the same file (whole processes, in turn)`,
  peers: [['jq', 'jq']],
  async run() {
    const dir = mkdtempSync(join(tmpdir(), 'gw-bench-audit-'));
    try {
      const support = join(dir, 'support');
      const path = writeSessionRecords(support, RECORDS);
      // Without a copy of the cloud and log files there is no verdict.
      const audit = [gw, 'tunnel', 'audit', '--records', support, '--json', '--accept-undecided'];
      checkAudit(audit);
      // The copy is compared too: more work and memory, for scale.
      const cloud = join(dir, 'cloud.jsonl');
      copyFileSync(path, cloud);
      const [ours, peer, memory] = [[], [], []];
      for (let run = -1; run < RUNS; run += 1) {
        const audited = timed(process.execPath, audit);
        const parsed = timed('jq', ['-c', '.', path]);
        const held = timed(process.execPath, ['--import', memoryOf, ...audit]);
        if (run < 0) continue;
        ours.push(audited.took);
        peer.push(parsed.took);
        memory.push(megabytes(held));
      }
      const compared = timed(process.execPath, ['--import', memoryOf, ...audit, '--cloud', cloud]);
      const ratio = median(ours) / median(peer);
      const most = Math.max(...memory);
      const size = `${(statSync(path).size / 1e6).toFixed(0)} MB`;
      return {
        rows: [
          { name: `gw tunnel audit, ${size}`, median: median(ours), unit: 'ms', samples: ours },
          { name: `jq -c ., ${size}`, median: median(peer), unit: 'ms', samples: peer },
          { name: 'memory of gw at its peak', median: median(memory), unit: 'MB', samples: memory },
          { name: 'the same with --cloud', median: compared.took, unit: 'ms' },
          { name: 'memory with --cloud', median: megabytes(compared), unit: 'MB' },
        ],
        figures: [
          {
            name: 'gw / jq',
            value: `${ratio.toFixed(2)} ×`,
            target: `at most ${MAX_RATIO} ×`,
            holds: ratio <= MAX_RATIO,
          },
          {
            name: 'peak memory',
            value: `${most.toFixed(0)} MB`,
            target: `at most ${MAX_MB} MB`,
            holds: most <= MAX_MB,
          },
        ],
      };
    } finally {
      rmSync(dir, { recursive: true, force: true });
    }
  },
};

/** Speed counts only for a correct result. */
function checkAudit(argv) {
  const { stdout } = spawnSync(process.execPath, argv, { encoding: 'utf8' });
  const { data } = JSON.parse(stdout);
  if (data?.local !== 'ok' || data.records !== RECORDS) throw new Error(`the audit is wrong: ${stdout.slice(0, 500)}`);
}

function timed(command, argv) {
  const began = performance.now();
  const child = spawnSync(command, argv, { stdio: ['ignore', 'ignore', 'pipe'], encoding: 'utf8' });
  const took = performance.now() - began;
  if (child.status !== 0) throw new Error(`${command} ended with ${child.status}: ${child.stderr}`);
  return { took, said: child.stderr };
}

function megabytes({ said }) {
  return (Number(/(\d+)kB/.exec(said)?.[1]) * 1024) / 1e6;
}
