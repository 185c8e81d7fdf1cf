import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gw, median, timeInTurn } from '../measure.js';

const RUNS = 15;

export default {
  title: 'Short commands against bare node -e 0 (whole processes, in turn)',
  async run() {
    const dir = mkdtempSync(join(tmpdir(), 'gw-bench-'));
    try {
      const site = join(dir, 'site.yaml');
      const made = [
        'site',
        'init',
        site,
        '--yes',
        '--name',
        'bench',
        '--chassis-host',
        '127.0.0.1',
        '--serial',
        'BENCH-1',
      ];
      spawnSync(process.execPath, [gw, ...made], { stdio: 'ignore' });
      const commands = [
        { name: 'gw evidence show', argv: ['evidence', 'show', 'angles.target-ori', '--site', site], most: 6 },
        { name: 'gw site check', argv: ['site', 'check', site], most: 6 },
        { name: 'gw --help', argv: ['--help'], most: 5 },
        { name: 'gw evidence show --help', argv: ['evidence', 'show', '--help'], most: 5 },
      ];
      const [bare, ...ours] = timeInTurn([['-e', '0'], ...commands.map(({ argv }) => [gw, ...argv])], RUNS);
      const rows = commands.map(({ name }, i) => ({ name, median: median(ours[i]), unit: 'ms', samples: ours[i] }));
      return {
        rows: [...rows, { name: 'node -e 0', median: median(bare), unit: 'ms', samples: bare }],
        figures: commands.map(({ name, most }, i) => {
          const ratio = median(ours[i]) / median(bare);
          return {
            name: `${name} / node -e 0`,
            value: `${ratio.toFixed(2)} ×`,
            target: `at most ${most.toFixed(1)} ×`,
            holds: ratio <= most,
          };
        }),
      };
    } finally {
      rmSync(dir, { recursive: true, force: true });
    }
  },
};
