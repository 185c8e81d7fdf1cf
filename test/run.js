// `npm test` and `npm run test:all`: bring the real peers where they may, run the tests, and end with one line of counts.
// GW_INSTALL_PEERS=no leaves the machine as it is; tests whose peer is missing are then skipped by name.
// `--all`: also all cases of the properties, the large inputs, the long stories and every peer.
// `--all --beyond`: of these, what `npm test` has not run.
// Other arguments go to vitest as they are, for a run of some tests.
import { spawn, spawnSync } from 'node:child_process';
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bringPackages } from '../scripts/debian-packages.js';
import { programFiles, quickPeers, quickProgramFiles, storyFiles } from './tiers.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const inCi = process.env.CI === 'true';
const own = ['--all', '--beyond'];
const [isAll, isBeyond] = own.map((word) => process.argv.includes(word));
const args = process.argv.slice(2).filter((word) => !own.includes(word));
const scratch = mkdtempSync(join(tmpdir(), 'gw-test-'));
const seed = process.env.GW_SEED ?? new Date().toISOString().slice(0, 10).replaceAll('-', '');
const env = {
  ...process.env,
  PATH: `${process.env.PATH}:/usr/sbin:/sbin`,
  GW_SEED: seed,
  GW_TEST_ALL: isAll ? 'yes' : 'no',
  // Hundreds of processes of the tests load the same sources: each is stripped of its types and compiled once.
  NODE_COMPILE_CACHE: join(scratch, 'compiled'),
};

/**
 * Tests that need the ports which the platform fixes run one at a time on one machine. In a network of its own each
 * run has them for itself, and no unit test gets a port that a peer is about to open.
 */
const ownNetwork = [
  ...['unshare', '--net', '--mount', '--', 'sh', '-c'],
  'mkdir -p /run/netns && mount -t tmpfs none /run/netns && ip link set lo up && exec "$@"',
  'sh',
];
/** Runs of programs side by side: they wait for processes and the network most of their time. */
const LANES = 4;
/** Each part loads what the tests share. */
const MIN_PART = 3;

const counts = { passed: 0, failed: 0, skipped: 0 };
const failed = [];
const skipped = [];
/** What no failed test accounts for: an unhandled error, a file that cannot be loaded, a crash. */
const broken = [];

/**
 * Runs vitest with these arguments, behind `prefix`; its output is printed line by line.
 * `onlyBeyond`: of their tests, those that `npm test` leaves out, or runs with fewer cases.
 */
async function runTests(words, { name, prefix = [], onlyBeyond = false, workers }) {
  const report = join(scratch, `${name}.json`);
  const reporters = ['--reporter=default', `--reporter=${join(root, 'test/counting-reporter.js')}`];
  const filter = onlyBeyond ? ['--tags-filter=large or property'] : [];
  const side = workers === undefined ? [] : [`--maxWorkers=${workers}`];
  const vitest = [
    process.execPath,
    join(root, 'node_modules/vitest/vitest.mjs'),
    'run',
    ...reporters,
    ...filter,
    ...side,
  ];
  const [program, ...rest] = [...prefix, ...vitest, ...words];
  const child = spawn(program, rest, {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...env, GW_TEST_REPORT: report, GW_TEST_ONLY_BEYOND: onlyBeyond ? 'yes' : 'no' },
  });
  for (const stream of [child.stdout, child.stderr]) {
    let line = '';
    stream.setEncoding('utf8').on('data', (chunk) => {
      const end = chunk.lastIndexOf('\n') + 1;
      if (end > 0) process.stdout.write(line + chunk.slice(0, end));
      line = (end > 0 ? '' : line) + chunk.slice(end);
    });
    stream.once('end', () => process.stdout.write(line));
  }
  const status = await new Promise((resolve) => child.once('close', resolve));
  const found = readReport(report);
  if (found === null) {
    broken.push({ file: name, messages: ['vitest left no report'] });
    return;
  }
  for (const kind of Object.keys(counts)) counts[kind] += found.counts[kind];
  skipped.push(...found.skipped);
  failed.push(...found.failed);
  broken.push(...found.broken);
  if (status !== 0 && found.failed.length === 0 && found.broken.length === 0) {
    broken.push({ file: name, messages: [`vitest ended with ${status}`] });
  }
}

function readReport(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return null;
  }
}

const globbed = (patterns) => globSync(patterns, { cwd: root });

const projects = (...names) => names.flatMap((name) => ['--project', name]);
const sourceOf = (path) => readFileSync(join(root, path), 'utf8');
/** Of those that `npm test` runs: files with a test that `npm run test:all` adds, or runs with more cases. */
const hasMore = (path) => /\btags: .*'(?:large|property)'/.test(sourceOf(path));

/**
 * Runs these files of real programs in lanes. Each lane takes another part when it has ended one, and the parts become
 * smaller, so that all lanes end at about the same time.
 */
async function runPrograms(files) {
  // Neighbours in the alphabet are often alike, the long ones too: a part has some of all.
  const apart = 7;
  const left = Array.from({ length: apart }, (_, at) => files.filter((_path, index) => index % apart === at)).flat();
  let parts = 0;
  const lane = async () => {
    while (left.length > 0) {
      const part = left.splice(0, Math.max(MIN_PART, Math.ceil(left.length / (2 * LANES))));
      parts += 1;
      await runTests([...projects('programs'), ...part], { name: `programs-${parts}`, prefix: ownNetwork });
    }
  };
  await Promise.all(Array.from({ length: LANES }, lane));
}

async function runQuick() {
  const others = runTests(projects('stories', 'programs'), { name: 'stories-programs', prefix: ownNetwork });
  await Promise.all([runTests(projects('unit', 'unit-mocks'), { name: 'unit' }), others]);
}

async function runAll() {
  await Promise.all([
    runTests(projects('unit', 'unit-mocks'), { name: 'unit' }),
    runTests(projects('stories'), { name: 'stories', prefix: ownNetwork }),
    runPrograms(globbed(programFiles).sort()),
  ]);
}

async function runBeyond() {
  const [programs, stories, quick] = [programFiles, storyFiles, quickProgramFiles].map(globbed);
  const inNetworks = [...stories, ...quick];
  const apart = new Set([...programs, ...stories]);
  const unit = globbed(['test/**/*.test.ts']).filter((path) => !apart.has(path));
  // One after the other, with few workers: they compute, and programs, which wait most of their time, take the rest of the
  // processor. More at a time than cores take more processor time: each finds its caches full of what others need.
  const inTurn = async () => {
    const words = [...projects('unit', 'unit-mocks'), ...unit.filter(hasMore)];
    await runTests(words, { name: 'unit-beyond', onlyBeyond: true, workers: 2 });
    const others = [...projects('stories', 'programs'), ...inNetworks.filter(hasMore)];
    await runTests(others, { name: 'networks-beyond', prefix: ownNetwork, onlyBeyond: true });
  };
  await Promise.all([inTurn(), runPrograms(programs.filter((path) => !quick.includes(path)).sort())]);
}

const peers = readFileSync(join(root, 'test/peers/packages.txt'), 'utf8')
  .split('\n')
  .filter((line) => line.trim() !== '' && !line.startsWith('#'))
  .map((line) => line.split(/\s+/));
const wanted = isAll ? peers : peers.filter(([debianPackage]) => quickPeers.includes(debianPackage));
bringPackages(wanted, 'that the tests use as real peers', 'tests that need these peers are skipped by name');
process.stdout.write(`properties: seed ${seed}; GW_SEED=${seed} repeats it\n`);

const canHaveOwnNetwork =
  spawnSync(ownNetwork[0], [...ownNetwork.slice(1), 'true'], { stdio: 'ignore', env }).status === 0;
if (args.length > 0 || !canHaveOwnNetwork) await runTests(args, { name: 'all' });
else if (!isAll) await runQuick();
else await (isBeyond ? runBeyond() : runAll());
rmSync(scratch, { recursive: true, force: true });

for (const { file, name, messages } of [...broken, ...failed]) {
  process.stdout.write(`failed: ${file}${name ? `: ${name}` : ''}\n  ${firstLines(messages)}\n`);
}
for (const name of skipped) process.stdout.write(`skipped: ${name}\n`);
counts.failed += broken.length;
const green = counts.failed === 0 && counts.passed > 0 && !(inCi && counts.skipped > 0);
if (inCi && counts.skipped > 0) process.stderr.write('in CI a skipped test is a failure\n');
process.stdout.write(`tests: ${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped\n`);
process.exitCode = green ? 0 : 1;

function firstLines(messages) {
  return messages.join('\n').split('\n').slice(0, 12).join('\n  ');
}
