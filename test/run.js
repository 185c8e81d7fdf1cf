// `npm test`: brings the real peers where it may, runs all tests, and ends with one line of counts.
// GW_INSTALL_PEERS=no leaves the machine as it is; tests whose peer is missing are then skipped by name.
// Arguments go to vitest as they are, for a run of some tests.
// GW_TESTS_BEGIN names a file that is written when the unit tests have ended: from then on there is processor time to spare,
// and nothing is installed or built.
import { spawn, spawnSync } from 'node:child_process';
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bringPackages } from '../scripts/debian-packages.js';
import { aloneFiles } from './alone.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const inCi = process.env.CI === 'true';
const scratch = mkdtempSync(join(tmpdir(), 'gw-test-'));
const env = {
  ...process.env,
  PATH: `${process.env.PATH}:/usr/sbin:/sbin`,
  // Hundreds of processes of the tests load the same sources: each is stripped of its types and compiled once.
  NODE_COMPILE_CACHE: join(scratch, 'compiled'),
};

const peers = readFileSync(join(root, 'test/peers/packages.txt'), 'utf8')
  .split('\n')
  .filter((line) => line.trim() !== '' && !line.startsWith('#'))
  .map((line) => line.split(/\s+/));
bringPackages(peers, 'that the tests use as real peers', 'tests that need these peers are skipped by name');

const counts = { passed: 0, failed: 0, skipped: 0 };
const failed = [];
const skipped = [];
/** What no failed test accounts for: an unhandled error, a file that cannot be loaded, a crash. */
const broken = [];

/**
 * Runs vitest with these arguments, behind `prefix`; null where it left no report. Of runs side by side one prints line
 * by line ('lines'), the others when they end ('end').
 */
async function vitest(args, { name, prefix = [], prints = 'inherit' }) {
  const report = join(scratch, `${name}.json`);
  const own = ['run', '--reporter=default', `--reporter=${join(root, 'test/counting-reporter.js')}`];
  const command = [...prefix, process.execPath, join(root, 'node_modules/vitest/vitest.mjs'), ...own, ...args];
  const stdio = prints === 'inherit' ? 'inherit' : ['ignore', 'pipe', 'pipe'];
  const child = spawn(command[0], command.slice(1), { cwd: root, stdio, env: { ...env, GW_TEST_REPORT: report } });
  let output = '';
  const take = (chunk) => {
    output += chunk;
    if (prints !== 'lines') return;
    const end = output.lastIndexOf('\n') + 1;
    process.stdout.write(output.slice(0, end));
    output = output.slice(end);
  };
  for (const stream of [child.stdout, child.stderr]) stream?.setEncoding('utf8').on('data', take);
  const status = await new Promise((resolve) => child.once('close', resolve));
  process.stdout.write(output);
  try {
    return { ...JSON.parse(readFileSync(report, 'utf8')), status };
  } catch {
    return null;
  }
}

/** Adds what a run found to the counts. */
async function runTests(args, how) {
  const found = await vitest(args, how);
  if (found === null) {
    broken.push({ file: how.name, messages: ['vitest left no report'] });
    return;
  }
  for (const kind of Object.keys(counts)) counts[kind] += found.counts[kind];
  skipped.push(...found.skipped);
  failed.push(...found.failed.map((one) => ({ ...one, how })));
  broken.push(...found.broken);
  if (found.status !== 0 && found.failed.length === 0 && found.broken.length === 0) {
    broken.push({ file: how.name, messages: [`vitest ended with ${found.status}`] });
  }
}

/**
 * Tests with real programs and sockets can fail by the load of the machine alone. So a few files with failures run once
 * more, one at a time, and count by that (whole files: tests of one story need those before them). They are
 * reported as unsteady, since each of them is a defect of the test at least. What random data found is never run again:
 * other data would hide it.
 */
const MAX_UNSTEADY_FILES = 3;
const unsteady = [];

async function runOnceMore() {
  const again = failed.filter(({ messages }) => !messages.some((text) => text.includes('Property failed after')));
  const files = [...new Set(again.map((one) => one.file))];
  if (files.length > MAX_UNSTEADY_FILES) return;
  for (const [index, file] of files.entries()) {
    const ofFile = again.filter((one) => one.file === file);
    process.stdout.write(`once more: ${file}\n`);
    const { project, how } = ofFile[0];
    const found = await vitest(['--project', project, file], {
      name: `again-${index}`,
      prefix: how.prefix,
      prints: 'end',
    });
    if (found === null || found.status !== 0 || found.counts.passed === 0) continue;
    counts.failed -= ofFile.length;
    counts.passed += ofFile.length;
    for (const one of ofFile) failed.splice(failed.indexOf(one), 1);
    unsteady.push(...ofFile);
  }
}

/**
 * Tests that need the ports which the platform fixes run one at a time on one machine. In a network of its own each
 * has them for itself, so several run side by side, and no unit test gets a port that a peer is about to open.
 */
const ownNetwork = [
  ...['unshare', '--net', '--mount', '--', 'sh', '-c'],
  'mkdir -p /run/netns && mount -t tmpfs none /run/netns && ip link set lo up && exec "$@"',
  'sh',
];

function canHaveOwnNetwork() {
  return spawnSync(ownNetwork[0], [...ownNetwork.slice(1), 'true'], { stdio: 'ignore', env }).status === 0;
}

/** Seconds that the long ones of them take. The longest begin first, so that none of them is the last. */
const secondsOf = {
  'printed-commands': 160,
  motion: 130,
  'checklist-faults-gateway': 120,
  demo: 115,
  'checklist-faults-enrolled': 110,
  trial: 90,
  units: 60,
  'heartbeat-check': 55,
  'pages-media': 41,
  pages: 35,
  'checklist-faults': 33,
  maps: 33,
  cloud: 20,
  'ssh-commands': 20,
};
/**
 * How many of them run beside the peers, since they wait more than half of their time, and how many more when the peers
 * have ended. The longer a machine needs for the unit tests, the nearer it is to the limits of time in the others: it runs
 * fewer of them side by side, and a slow one nothing else beside them.
 */
const paces = [
  { unitMs: 250_000, lanes: 4, afterPeers: 2, isSlow: false },
  { unitMs: 300_000, lanes: 2, afterPeers: 2, isSlow: false },
  { unitMs: Number.POSITIVE_INFINITY, lanes: 1, afterPeers: 1, isSlow: true },
];

function filesAlone() {
  const seconds = (path) => secondsOf[basename(path, '.test.ts')] ?? 0;
  return globSync(aloneFiles, { cwd: root })
    .sort()
    .sort((a, b) => seconds(b) - seconds(a));
}

function othersMayRun() {
  if (process.env.GW_TESTS_BEGIN) writeFileSync(process.env.GW_TESTS_BEGIN, '');
}

/**
 * First the tests that need the processor, then those that wait for real programs most of their time: beside each other
 * the former starve the latter, and both fail by their time limits.
 */
async function runAll() {
  // A quarter of the time of these tests is waiting, too.
  const unit = ['--maxWorkers=6', ...['unit', 'unit-mocks'].flatMap((name) => ['--project', name])];
  const began = performance.now();
  await Promise.all([
    runTests(unit, { name: 'unit', prints: 'lines' }),
    runTests(['--project', 'types'], { name: 'types', prints: 'end' }),
  ]);
  const unitMs = performance.now() - began;
  const { lanes, afterPeers, isSlow } = paces.find((pace) => unitMs <= pace.unitMs);
  if (!isSlow) othersMayRun();
  const files = filesAlone();
  const lane = async () => {
    for (let file = files.shift(); file !== undefined; file = files.shift()) {
      const name = file.replaceAll('/', '-');
      await runTests(['--project', 'e2e', file], { name, prefix: ownNetwork, prints: 'end' });
    }
  };
  const lanesOf = (length) => Promise.all(Array.from({ length }, lane));
  await Promise.all([
    runTests(['--project', 'peers', ...(isSlow ? ['--maxWorkers=2'] : [])], {
      name: 'peers',
      prefix: ownNetwork,
      prints: 'end',
    }).then(() => lanesOf(afterPeers)),
    lanesOf(lanes),
  ]);
  if (isSlow) othersMayRun();
}

const args = process.argv.slice(2);
if (args.length > 0 || !canHaveOwnNetwork()) await runTests(args, { name: 'all' });
else await runAll();
await runOnceMore();
rmSync(scratch, { recursive: true, force: true });

for (const { file, name, messages } of unsteady) {
  process.stdout.write(`unsteady, passed once more: ${file}: ${name}\n  failed with ${firstLines(messages)}\n`);
}
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
