import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gw, median, timeInTurn } from '../measure.js';

const STEPS = 40;
const RUNS = 11;

/** A check that looks at a few files, then readings of its result and questions answered by a file, in turn. */
function checklist() {
  const head = ['schema: gw/checklist/1', 'name: bench', 'title: Bench', 'purpose: To be timed.', 'steps:'];
  const about = (id) => `id: ${id}, title: Step ${id}, proves: Device, remedy: Mend.`;
  const steps = Array.from({ length: STEPS }, (_, n) => {
    if (n === 0) return `  - { ${about('s0')}, run: site check, expect: { valid: true } }`;
    if (n % 2 === 0) return `  - { ${about(`s${n}`)}, reads: s0, expect: { valid: true } }`;
    return `  - { ${about(`s${n}`)}, confirm: Is it in order? }`;
  });
  return `${[...head, ...steps].join('\n')}\n`;
}

export default {
  title: `Checklist of ${STEPS} instant steps, journal and record on disk, against node --test with as many tests (whole processes, in turn)`,
  async run() {
    const dir = mkdtempSync(join(tmpdir(), 'gw-bench-'));
    try {
      const [list, site, answers, tests] = ['list.yaml', 'site.yaml', 'answers.yaml', 'peer.test.mjs'].map((name) =>
        join(dir, name),
      );
      writeFileSync(list, checklist());
      writeFileSync(site, 'name: Bench\nchassis: { host: 127.0.0.1, port: 1, serial: SN0001 }\n');
      const odd = Array.from({ length: STEPS }, (_, n) => n).filter((n) => n % 2 === 1);
      writeFileSync(answers, odd.map((n) => `s${n}: { answer: yes, initials: KM }\n`).join(''));
      writeFileSync(
        tests,
        `import { test } from 'node:test';\nfor (let n = 0; n < ${STEPS}; n += 1) test(\`step \${n}\`, () => {});\n`,
      );
      const [ours, peer] = timeInTurn(
        [
          [gw, 'checklist', 'run', list, '--site', site, '--answers', answers],
          ['--test', tests],
        ],
        RUNS,
      );
      const ratio = median(ours) / median(peer);
      return {
        rows: [
          { name: 'gw checklist run', median: median(ours), unit: 'ms', samples: ours },
          { name: 'node --test', median: median(peer), unit: 'ms', samples: peer },
        ],
        figures: [
          {
            name: `${STEPS} steps, whole process`,
            value: `${median(ours).toFixed(0)} ms`,
            target: 'under 1500 ms',
            holds: median(ours) < 1_500,
          },
          {
            name: 'gw checklist run / node --test',
            value: `${ratio.toFixed(2)} ×`,
            target: 'at most 6.0 ×',
            holds: ratio <= 6,
          },
        ],
      };
    } finally {
      rmSync(dir, { recursive: true, force: true });
    }
  },
};
