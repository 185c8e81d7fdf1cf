// `npm run bench [NAME ...]`: every benchmark runs a peer in the same run and reports medians and their ratio.
// Absolute figures depend on the machine; the targets are mostly ratios.
import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { fileURLToPath } from 'node:url';
import { bringPackages, hasProgram } from '../scripts/debian-packages.js';

const names = [
  'version',
  'start',
  'ready',
  'device-info',
  'events',
  'media',
  'pages',
  'checklist',
  'idle-memory',
  'overlays-json',
  'overlays-rules',
  'overlays-page',
  'unit-judge',
  'stop-trial',
  'heartbeat-verify',
  'heartbeat-fleet',
  'network-check',
  'kiosk-push',
  'via',
  'sign-in',
  'stop-latency',
  'outbox',
  'cloud-links',
  'audit',
  'tunnel',
];
const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !names.includes(name));
if (unknown.length > 0) {
  process.stderr.write(`unknown benchmark ${unknown.join(', ')}; available: ${names.join(', ')}\n`);
  process.exit(2);
}

const benchmarks = new Map();
for (const name of wanted.length > 0 ? wanted : names) {
  benchmarks.set(name, (await import(`./benchmarks/${name}.js`)).default);
}
/** Programs to compare with, each with its Debian package. */
const peers = [...benchmarks.values()].flatMap((benchmark) => benchmark.peers ?? []);
bringPackages(peers, 'that the benchmarks measure against', 'benchmarks that need these peers are skipped by name');

const machine = {
  cores: cpus().length,
  cpu: cpus()[0]?.model ?? 'unknown',
  memoryGiB: Math.round(totalmem() / 2 ** 30),
  node: process.version,
};
process.stdout.write(`machine: ${machine.cores} × ${machine.cpu}, ${machine.memoryGiB} GiB, Node ${machine.node}\n\n`);

const results = [];
let missed = 0;
for (const [name, benchmark] of benchmarks) {
  process.stdout.write(`${benchmark.title}\n`);
  const missing = (benchmark.peers ?? []).filter(([, program]) => !hasProgram(program)).map(([name]) => name);
  const result = missing.length > 0 ? { skipped: `needs ${debianNames(missing)}` } : await benchmark.run();
  results.push({ name, title: benchmark.title, ...result });
  if (result.skipped) {
    process.stdout.write(`  skipped: ${result.skipped}\n\n`);
    continue;
  }
  for (const line of result.table ?? []) process.stdout.write(`  ${line}\n`);
  for (const row of result.rows) {
    const spread = row.samples
      ? `  (${format(Math.min(...row.samples), row.unit)} to ${format(Math.max(...row.samples), row.unit)}, n=${row.samples.length})`
      : '';
    process.stdout.write(`  ${row.name.padEnd(34)} ${format(row.median, row.unit).padStart(12)}${spread}\n`);
  }
  for (const { name: what, value, target, holds } of result.figures) {
    if (!holds) missed += 1;
    process.stdout.write(
      `  ${what.padEnd(34)} ${value.padStart(12)}  target ${target}: ${holds ? 'holds' : 'MISSED'}\n`,
    );
  }
  process.stdout.write('\n');
}

if (results.some(({ skipped }) => !skipped)) {
  const folder = fileURLToPath(new URL('./results/', import.meta.url));
  mkdirSync(folder, { recursive: true });
  writeFileSync(
    `${folder}latest.json`,
    `${JSON.stringify({ at: new Date().toISOString(), machine, results }, null, 2)}\n`,
  );
  process.stdout.write('written: bench/results/latest.json\n');
}
if (missed > 0) {
  process.stdout.write(`${missed} ${missed === 1 ? 'target' : 'targets'} missed\n`);
  process.exitCode = 1;
}

function debianNames(packages) {
  return `the Debian ${packages.length === 1 ? 'package' : 'packages'} ${packages.join(', ')}`;
}

function format(value, unit) {
  if (unit === 'ms') return `${value.toFixed(1)} ms`;
  if (unit === 'MB' || unit === 'µs') return `${value.toFixed(1)} ${unit}`;
  if (unit === '%') return `${value.toFixed(2)} %`;
  return `${Math.round(value).toLocaleString('en')} ${unit}`;
}
