// Runs the structure rules over src/ of a tree (default: this one) and refuses to be green when it has seen nothing.
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const home = fileURLToPath(new URL('..', import.meta.url));
const root = resolve(process.argv[2] ?? home);
const run = spawnSync(
  process.execPath,
  [
    join(home, 'node_modules/dependency-cruiser/bin/dependency-cruiser.mjs'),
    ...['--config', join(home, '.dependency-cruiser.cjs'), '--output-type', 'json', 'src'],
  ],
  { cwd: root, encoding: 'utf8', maxBuffer: 256 * 1024 * 1024 },
);
if (!run.stdout) {
  process.stderr.write(run.stderr || 'the structure check printed nothing\n');
  process.exit(1);
}
const { summary } = JSON.parse(run.stdout);
const sources = readdirSync(join(root, 'src'), { recursive: true }).filter((file) => file.endsWith('.ts')).length;
for (const { rule, from, to } of summary.violations) {
  process.stderr.write(`${rule.severity} ${rule.name}: ${from} -> ${to}\n`);
}
if (sources === 0 || summary.totalCruised < sources) {
  process.stderr.write(`read ${summary.totalCruised} modules of ${sources} source files: the check proves nothing\n`);
  process.exit(1);
}
if (summary.error > 0) process.exit(1);
process.stdout.write(
  `structure: ${summary.totalCruised} modules, ${summary.totalDependenciesCruised} imports, no rule broken\n`,
);
