// check-release.js PACKAGES BASE SCRATCH
// Installs the release package of PACKAGES over the simulated cloud into a gateway that runs from BASE, an unpacked
// archive: it is confirmed, and rolled back. In a network of its own, since the ports of the gateway are constants:
//   unshare --net node scripts/check-release.js …
import { execFile, execFileSync, spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const root = fileURLToPath(new URL('..', import.meta.url));
const [packages, base, scratch] = process.argv.slice(2);
const dir = join(scratch, 'robot');
const releases = join(dir, 'releases');
const site = join(dir, 'site.yaml');
const name = readdirSync(packages).find((one) => one.endsWith('.release.tar'));
// Without the Node.js of this machine.
const environment = { PATH: '/usr/bin:/bin', HOME: scratch, NO_COLOR: '1' };
const children = [];
let isEnding = false;

execFileSync('ip', ['link', 'set', 'lo', 'up']);
try {
  await start('sim', process.execPath, [
    join(root, 'bin/run.js'),
    ...['sim', '--dir', dir, '--chassis-port', '0', '--with', 'password,enrolment,cloud', '--json'],
  ]);
  gw('enrol', '--site', site, '--code-file', codeFile());
  await serve('first');
  await until('the gateway is connected to the cloud', () => gw('cloud', 'status', '--site', site));
  // Ended by the job's own status, which the gateway reports once the release is confirmed.
  const release = ['sim', 'cloud', 'release', join(packages, name), '--dir', dir, '--wait', '--timeout', '20m'];
  // Not synchronously: meanwhile the gateway ends, and is started again below.
  await promisify(execFile)(process.execPath, [join(root, 'bin/run.js'), ...release]).catch((error) => {
    throw new Error(`${error.stdout}\n${children.at(-1).text().slice(-4_000)}`);
  });
  const { data } = JSON.parse(gw('release', 'status', '--site', site, '--accept-undecided', '--json'));
  expect(data.run?.phase === 'confirmed', `the release is ${data.run?.phase}`);
  const current = readlinkSync(join(releases, 'current'));
  expect(data.current.folder === current && data.current.problem === null, JSON.stringify(data.current));
  const running = children.at(-1);
  expectProgram(running, join(releases, current, 'bin/run.js'));
  gw('release', 'rollback', '--site', site, '--yes');
  await end(running);
  await serve('after the rollback');
  expectProgram(children.at(-1), join(base, 'bin/run.js'));
  process.stdout.write(`release: ${name} installed as ${current}, confirmed, rolled back\n`);
} finally {
  isEnding = true;
  for (const child of children.toReversed()) await end(child);
}

function expect(is, what) {
  if (!is) throw new Error(what);
}

/** What a gateway runs: itself, or below the launcher, which stays beside a release that began unconfirmed. */
function expectProgram({ pid }, path) {
  const below = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean);
  const programs = [pid, ...below].map((one) => readFileSync(`/proc/${one}/cmdline`, 'utf8').split('\0').join(' '));
  expect(
    programs.some((program) => program.includes(`${path} serve`)),
    `the gateway runs ${programs.join(', ')}`,
  );
}

function gw(...words) {
  return execFileSync(join(base, 'bin/gw'), words, { encoding: 'utf8', env: environment, cwd: dir });
}

function codeFile() {
  const secrets = join(dir, 'secrets');
  return join(
    secrets,
    readdirSync(secrets).find((one) => one.includes('code')),
  );
}

/** By the launcher, and again when it ends for a release. */
async function serve(what) {
  const words = [join(base, 'packaging/launch.sh'), releases, 'serve', '--site', site, '--json'];
  const child = await start(`serve ${what}`, 'sh', words);
  void child.ended.then(() => {
    if (!isEnding && child.text().includes('"event":"restarting"')) return serve('the release');
  });
  return child;
}

/** Starts a program that prints `ready`; what it prints is in a file of its own. */
async function start(what, program, words) {
  mkdirSync(join(scratch, 'logs'), { recursive: true });
  const path = join(scratch, 'logs', `${children.length}`);
  const log = openSync(path, 'w');
  const child = spawn(program, words, { stdio: ['ignore', log, log], env: environment });
  closeSync(log);
  const ended = new Promise((resolve) => child.once('close', resolve));
  const text = () => readFileSync(path, 'utf8');
  const started = Object.assign(child, { ended, text });
  children.push(started);
  await until(`${what} is ready`, () => {
    expect(child.exitCode === null, `${what} ended: ${text().slice(-2_000)}`);
    expect(text().includes('"event":"ready"'), `${what}: ${text().slice(-2_000)}`);
  });
  return started;
}

async function end(child) {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGTERM');
  await Promise.race([child.ended, sleep(8_000).then(() => child.kill('SIGKILL'))]);
}

/** Its limit finds what hangs: a slow machine is waited for. */
async function until(what, work) {
  for (let left = 600; ; left -= 1) {
    try {
      return work();
    } catch (cause) {
      if (left === 0) throw new Error(`not within 5 minutes: ${what}`, { cause });
      await sleep(500);
    }
  }
}
