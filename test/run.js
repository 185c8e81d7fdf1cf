// `npm test`: brings the real peers where it may, runs all tests, and ends with one line of counts.
// GW_INSTALL_PEERS=no leaves the machine as it is; tests whose peer is missing are then skipped by name.
// Arguments go to vitest as they are, for a run of some tests.
import { spawn, spawnSync } from 'node:child_process';
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bringPackages } from '../scripts/debian-packages.js';
import { aloneFiles } from './alone.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const inCi = process.env.CI === 'true';
const env = { ...process.env, PATH: `${process.env.PATH}:/usr/sbin:/sbin` };

const peers = readFileSync(join(root, 'test/peers/packages.txt'), 'utf8')
  .split('\n')
  .filter((line) => line.trim() !== '' && !line.startsWith('#'))
  .map((line) => line.split(/\s+/));
bringPackages(peers, 'that the tests use as real peers', 'tests that need these peers are skipped by name');

const scratch = mkdtempSync(join(tmpdir(), 'gw-test-'));
const counts = { passed: 0, failed: 0, skipped: 0 };
const skipped = [];
let isBroken = false;

/** Runs vitest with these arguments, behind `prefix`; what it found is added to the counts. */
async function vitest(args, { name, prefix = [], isQuiet = false }) {
  const report = join(scratch, `${name}.json`);
  const own = ['run', '--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
  const command = [...prefix, process.execPath, join(root, 'node_modules/vitest/vitest.mjs'), ...own, ...args];
  const stdio = isQuiet ? ['ignore', 'pipe', 'pipe'] : 'inherit';
  const child = spawn(command[0], command.slice(1), { cwd: root, stdio, env });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => (output += chunk));
  const status = await new Promise((resolve) => child.once('close', resolve));
  process.stdout.write(output);
  if (status !== 0) isBroken = true;
  try {
    const { numPassedTests, numFailedTests, numPendingTests, numTodoTests, testResults } = JSON.parse(
      readFileSync(report, 'utf8'),
    );
    counts.passed += numPassedTests;
    counts.failed += numFailedTests;
    counts.skipped += numPendingTests + (numTodoTests ?? 0);
    for (const { assertionResults } of testResults) {
      for (const one of assertionResults) {
        if (one.status !== 'passed' && one.status !== 'failed') skipped.push(one.fullName);
      }
    }
  } catch {
    process.stderr.write(`vitest left no report (${name})\n`);
    counts.failed += 1;
  }
}

/**
 * Tests that need the ports which the platform fixes run one at a time on one machine. In a network of its own each
 * has them for itself, so two run side by side.
 */
const ownNetwork = [
  ...['unshare', '--net', '--mount', '--', 'sh', '-c'],
  'mkdir -p /run/netns && mount -t tmpfs none /run/netns && ip link set lo up && exec "$@"',
  'sh',
];

function canHaveOwnNetwork() {
  return spawnSync(ownNetwork[0], [...ownNetwork.slice(1), 'true'], { stdio: 'ignore', env }).status === 0;
}

/** The longest first, so that none of them is the last. */
const longest = ['checklist-faults', 'heartbeat-check', 'demo', 'units', 'maps'];
const rank = (path) => {
  const at = longest.findIndex((name) => path.endsWith(`/${name}.test.ts`));
  return at < 0 ? longest.length : at;
};

async function runAlone() {
  const files = globSync(aloneFiles, { cwd: root }).sort((a, b) => rank(a) - rank(b));
  const lane = async () => {
    for (let file = files.shift(); file !== undefined; file = files.shift()) {
      const name = file.replaceAll('/', '-');
      await vitest(['--project', 'e2e', file], { name, prefix: ownNetwork, isQuiet: true });
    }
  };
  await Promise.all([lane(), lane()]);
}

const args = process.argv.slice(2);
if (args.length > 0 || !canHaveOwnNetwork()) {
  await vitest(args, { name: 'all' });
} else {
  await vitest(['--project', 'unit', '--project', 'types', '--project', 'peers'], { name: 'side-by-side' });
  await runAlone();
}
rmSync(scratch, { recursive: true, force: true });

for (const name of skipped) process.stdout.write(`skipped: ${name}\n`);
const green = !isBroken && counts.failed === 0 && counts.passed > 0 && !(inCi && counts.skipped > 0);
if (inCi && counts.skipped > 0) process.stderr.write('in CI a skipped test is a failure\n');
process.stdout.write(`tests: ${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped\n`);
process.exitCode = green ? 0 : 1;
