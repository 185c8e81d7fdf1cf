// Runs the structure rules and refuses to be green when it has seen nothing.
import { execFileSync, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const run = spawnSync(
  process.execPath,
  [
    'node_modules/dependency-cruiser/bin/dependency-cruiser.mjs',
    '--config',
    '.dependency-cruiser.cjs',
    '--output-type',
    'json',
    'src',
  ],
  { cwd: root, encoding: 'utf8', maxBuffer: 256 * 1024 * 1024 },
);
if (!run.stdout) {
  process.stderr.write(run.stderr || 'the structure check printed nothing\n');
  process.exit(1);
}
const { summary } = JSON.parse(run.stdout);
const sources = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', 'src/*.ts'], {
  cwd: root,
  encoding: 'utf8',
})
  .split('\n')
  .filter(Boolean).length;
for (const { rule, from, to } of summary.violations)
  process.stderr.write(`${rule.severity} ${rule.name}: ${from} -> ${to}\n`);
if (summary.totalCruised < sources) {
  process.stderr.write(
    `only ${summary.totalCruised} modules were read, of ${sources} source files: the check proves nothing\n`,
  );
  process.exit(1);
}
if (summary.error > 0) process.exit(1);
process.stdout.write(
  `structure: ${summary.totalCruised} modules, ${summary.totalDependenciesCruised} imports, no rule broken\n`,
);
