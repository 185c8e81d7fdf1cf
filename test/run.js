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
import { mockingFiles, programFiles, quickPeers, quickProgramFiles, storyFiles } from './tiers.ts';

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
const LANES = 2;

const counts = { passed: 0, failed: 0, skipped: 0 };
const failed = [];
const skipped = [];
/** What no failed test accounts for: an unhandled error, a file that cannot be loaded, a crash. */
const broken = [];

/** Runs vitest with these arguments, behind `prefix`. Its output is printed line by line. */
async function runTests(words, { name, prefix = [] }) {
  const report = join(scratch, `${name}.json`);
  const reporters = ['--reporter=default', `--reporter=${join(root, 'test/counting-reporter.js')}`];
  const vitest = [process.execPath, join(root, 'node_modules/vitest/vitest.mjs'), 'run', ...reporters];
  const [program, ...rest] = [...prefix, ...vitest, ...words];
  const child = spawn(program, rest, {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...env, GW_TEST_REPORT: report },
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

/** Unit tests with more to do in `test:all` than in `npm test`. */
function beyondUnit() {
  const programs = new Set(globbed([...programFiles, ...storyFiles, ...mockingFiles]));
  return globbed(['test/**/*.test.ts']).filter(
    (path) =>
      !programs.has(path) &&
      /from '(?:fast-check|(?:\.\.?\/)+properties\.ts)'|tags: 'large'/.test(readFileSync(join(root, path), 'utf8')),
  );
}

/** The files of real programs of this run, dealt to lanes. */
function lanesOfPrograms() {
  const quick = new Set(quickProgramFiles);
  const files = globbed(programFiles)
    .filter((path) => (isAll ? !isBeyond || !quick.has(path) : quick.has(path)))
    .sort();
  return Array.from({ length: LANES }, (_, lane) => files.filter((_path, index) => index % LANES === lane));
}

async function runAll() {
  const unit = isBeyond
    ? ['--project', 'unit', ...beyondUnit()]
    : ['unit', 'unit-mocks'].flatMap((name) => ['--project', name]);
  const lanes = lanesOfPrograms().filter((files) => files.length > 0);
  const programs = () =>
    Promise.all(
      lanes.map((files, lane) =>
        runTests(['--project', 'programs', ...files], { name: `programs-${lane}`, prefix: ownNetwork }),
      ),
    );
  const stories = () => runTests(['--project', 'stories'], { name: 'stories', prefix: ownNetwork });
  if (!isAll) {
    await Promise.all([runTests(unit, { name: 'unit' }), stories(), programs()]);
    return;
  }
  // The many programs and browsers have the machine for themselves.
  await Promise.all([runTests(unit, { name: 'unit' }), stories()]);
  await programs();
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
else await runAll();
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
