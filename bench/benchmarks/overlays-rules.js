import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { median } from '../measure.js';
import { writeOverlays } from '../overlays.js';

const sizes = [1_000, 10_000, 100_000];
const RUNS = 9;
/** The picture covers most of the building, so that some features are outside. */
const frame = { originXM: 0, originYM: 0, resolutionM: 0.05, width: 23_000, height: 23_000 };

export default {
  title: 'Overlay rules (findFaults) at 1k, 10k and 100k features against JSON.parse of the same files',
  async run() {
    const { chargerPairs } = await import('../../src/lib/overlays/inspect/chargers.ts');
    const { createCodeBook } = await import('../../src/lib/overlays/codes.ts');
    const { findFaults } = await import('../../src/lib/overlays/rules/faults.ts');
    const { readOverlays } = await import('../../src/lib/overlays/read/read.ts');
    const dir = mkdtempSync(join(tmpdir(), 'gw-bench-'));
    try {
      const measured = sizes.map((features) => {
        const path = join(dir, `${features}.json`);
        writeOverlays(path, features);
        const text = readFileSync(path, 'utf8');
        const overlays = readOverlays(text);
        const ours = [];
        const peer = [];
        for (let run = -2; run < RUNS; run += 1) {
          const codeBook = createCodeBook(null);
          // Another list each time: what is known of a list from an earlier run must not be used again.
          const map = { ...overlays, features: [...overlays.features] };
          const rules = timed(() => findFaults(map, { frame, codeBook, pairs: chargerPairs(map, codeBook) }));
          const parse = timed(() => JSON.parse(text));
          if (run < 0) continue;
          ours.push(rules);
          peer.push(parse);
        }
        return { features, ours, peer };
      });
      const [, ten, hundred] = measured;
      const growth = median(hundred.ours) / median(ten.ours) / 10;
      const ratio = median(hundred.ours) / median(hundred.peer);
      return {
        rows: measured.flatMap(({ features, ours, peer }) => [
          { name: `rules, ${features} features`, median: median(ours), unit: 'ms', samples: ours },
          { name: `JSON.parse, ${features} features`, median: median(peer), unit: 'ms', samples: peer },
        ]),
        figures: [
          {
            name: 'growth 10k to 100k, divided by 10',
            value: `${growth.toFixed(2)} ×`,
            target: 'at most 2.0 ×',
            holds: growth <= 2,
          },
          {
            name: 'rules / JSON.parse at 100k',
            value: `${ratio.toFixed(2)} ×`,
            target: 'at most 1.5 ×',
            holds: ratio <= 1.5,
          },
        ],
      };
    } finally {
      rmSync(dir, { recursive: true, force: true });
    }
  },
};

function timed(work) {
  const began = performance.now();
  work();
  return performance.now() - began;
}
