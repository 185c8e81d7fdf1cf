// Decides which installation the launcher starts, before any code of a release runs. It belongs to the base
// installation, uses nothing but Node, and shares only the format of state.json with src/lib/cloud/release/state.ts,
// which a test compares.
//
//   node boot.js RELEASES             prints one line: base | confirmed FOLDER | unconfirmed FOLDER SECONDS
//   node boot.js RELEASES --expired   exits with 0 when the started release is still unconfirmed
//
// An unconfirmed release is started at most MAX_STARTS times; then the version before it is restored.
import {
  closeSync,
  fstatSync,
  fsyncSync,
  lstatSync,
  openSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';

const MAX_STARTS = 3;
/** Added to the time in which a release must be healthy; a process that hangs is ended then. */
const HANG_MARGIN_S = 60;
const FOLDER = /^[0-9A-Za-z][0-9A-Za-z.+_-]{0,99}$/;

const [dir, option] = process.argv.slice(2);
if (dir === undefined) fail('usage: boot.js RELEASES [--expired]');
else if (option === '--expired') process.exitCode = isUnconfirmed(readState()) ? 0 : 1;
else process.stdout.write(`${decide()}\n`);

function decide() {
  const state = readState();
  const run = state?.run;
  const from = run?.from?.folder ?? null;
  if (run?.phase === 'rolling-back') {
    restore(from);
    return started(from);
  }
  if (!isUnconfirmed(state)) return started(readCurrent());
  if (run.starts >= MAX_STARTS) {
    return rollBack(state, `The new version was started ${run.starts} times and never confirmed.`);
  }
  if (!isStartable(run.to.folder)) return rollBack(state, 'The new version cannot be started: bin/run.js is missing.');
  try {
    writeState({ ...state, run: { ...run, starts: run.starts + 1 } });
  } catch (error) {
    // Without the count a version that crashes would be started forever. The agent of the old version rolls back.
    fail(`the start of ${run.to.folder} cannot be counted (${error.code}); the version before it is started`);
    return started(from);
  }
  return `unconfirmed ${run.to.folder} ${Math.ceil(run.healthWithinS) + HANG_MARGIN_S}`;
}

function rollBack(state, reason) {
  const { run } = state;
  fail(`${reason} The version before it is restored.`);
  try {
    writeState({ ...state, run: { ...run, phase: 'rolling-back', failure: { phase: 'switched', reason } } });
    restore(run.from.folder);
  } catch (error) {
    fail(`the rollback cannot be recorded (${error.code}); the version before is started nevertheless`);
  }
  return started(run.from.folder);
}

/** Whether the current installation is a release that its agent has not confirmed. */
function isUnconfirmed(state) {
  const run = state?.run;
  return run?.phase === 'switched' && run.to.folder !== null && readCurrent() === run.to.folder;
}

function started(folder) {
  if (folder === null) return 'base';
  if (isStartable(folder)) return `confirmed ${folder}`;
  fail(`release ${folder} has no bin/run.js; the base installation is started`);
  return 'base';
}

function isStartable(folder) {
  try {
    return FOLDER.test(folder) && lstatSync(join(dir, folder, 'bin', 'run.js')).isFile();
  } catch {
    return false;
  }
}

function readState() {
  try {
    const state = JSON.parse(readFileSync(join(dir, 'state.json'), 'utf8'));
    if (state?.schema === 'gw/release-state/1') return state;
    fail('state.json has an unknown schema; it is not used');
  } catch (error) {
    if (error.code !== 'ENOENT') fail(`state.json cannot be read (${error.code ?? error.message})`);
  }
  return null;
}

function readCurrent() {
  try {
    return readlinkSync(join(dir, 'current'));
  } catch {
    return null;
  }
}

/** Atomic and synced, like every write of the agent. */
function writeState(state) {
  const draft = join(dir, '.state.json.boot');
  rmSync(draft, { force: true });
  const file = openSync(draft, 'wx', 0o600);
  try {
    writeFileSync(file, `${JSON.stringify(state, null, 1)}\n`);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(draft, join(dir, 'state.json'));
  syncDir();
}

function restore(folder) {
  if (readCurrent() === folder) return;
  const path = join(dir, 'current');
  try {
    if (folder === null) unlinkSync(path);
    else {
      const draft = join(dir, '.current.boot');
      rmSync(draft, { force: true });
      symlinkSync(folder, draft);
      renameSync(draft, path);
    }
    syncDir();
  } catch (error) {
    fail(`the link to the current release cannot be restored (${error.code})`);
  }
}

function syncDir() {
  const file = openSync(dir, 'r');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** A line of the log of the daemon; with a priority where the journal of systemd reads it. */
function fail(text) {
  const { dev, ino } = fstatSync(2);
  const priority = process.env.JOURNAL_STREAM === `${dev}:${ino}` ? '<3>' : '';
  const line = { level: 'error', time: new Date().toISOString(), msg: `gw boot: ${text}` };
  process.stderr.write(`${priority}${JSON.stringify(line)}\n`);
}
