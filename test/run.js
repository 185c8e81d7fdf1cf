// `npm test`: brings the real peers where it may, runs all tests, and ends with one line of counts.
// GW_INSTALL_PEERS=no leaves the machine as it is; tests whose peer is missing are then skipped by name.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bringPackages } from '../scripts/debian-packages.js';

const root = fileURLToPath(new URL('..', import.meta.url));
const inCi = process.env.CI === 'true';

const peers = readFileSync(join(root, 'test/peers/packages.txt'), 'utf8')
  .split('\n')
  .filter((line) => line.trim() !== '' && !line.startsWith('#'))
  .map((line) => line.split(/\s+/));
bringPackages(peers, 'that the tests use as real peers', 'tests that need these peers are skipped by name');

const scratch = mkdtempSync(join(tmpdir(), 'gw-test-'));
const report = join(scratch, 'report.json');
const vitest = spawnSync(
  process.execPath,
  [
    join(root, 'node_modules/vitest/vitest.mjs'),
    'run',
    '--reporter=default',
    '--reporter=json',
    `--outputFile.json=${report}`,
    ...process.argv.slice(2),
  ],
  { cwd: root, stdio: 'inherit', env: { ...process.env, PATH: `${process.env.PATH}:/usr/sbin:/sbin` } },
);

let counts = { passed: 0, failed: 1, skipped: 0 };
try {
  const { numPassedTests, numFailedTests, numPendingTests, numTodoTests, testResults } = JSON.parse(
    readFileSync(report, 'utf8'),
  );
  counts = { passed: numPassedTests, failed: numFailedTests, skipped: numPendingTests + (numTodoTests ?? 0) };
  for (const { assertionResults } of testResults) {
    for (const { status, fullName } of assertionResults) {
      if (status !== 'passed' && status !== 'failed') process.stdout.write(`skipped: ${fullName}\n`);
    }
  }
} catch {
  process.stderr.write('vitest left no report\n');
}
rmSync(scratch, { recursive: true, force: true });

const green = vitest.status === 0 && counts.failed === 0 && counts.passed > 0 && !(inCi && counts.skipped > 0);
if (inCi && counts.skipped > 0) process.stderr.write('in CI a skipped test is a failure\n');
process.stdout.write(`tests: ${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped\n`);
process.exitCode = green ? 0 : 1;
