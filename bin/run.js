#!/usr/bin/env node
// No static imports beyond node's own: an old Node must get as far as the version check,
// and the compile cache must be on before the first module of gw is loaded.
import { lstatSync, mkdirSync, statSync } from 'node:fs';
import module from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

// Without a listener SIGUSR1 opens the inspector of Node on a TCP port, and every user of this machine can run code as this
// one. The launcher switches it off by --disable-sigusr1, from the first instruction on.
process.on('SIGUSR1', () => {});

const MINIMUM = [22, 19];
const [major, minor] = process.versions.node.split('.').map(Number);
const modern = major > MINIMUM[0] || (major === MINIMUM[0] && minor >= MINIMUM[1]);

/** Polling interval of the launcher. Project decision. */
const LAUNCHER_CHECK_MS = 250;

/** Flags of the JavaScript engine, by command; a topic stands for all of its commands. */
const engineFlags = {
  // The daemon idles on a small computer beside other programs: its young generation stays small from the first
  // module on, and the HTTP parser (WebAssembly) is not compiled a second time by the optimizing compiler, whose
  // working memory is never given back. About 25 MB of 130. Garbage is collected when the heap has grown by a quarter,
  // not by up to three times: an attack that opens thousands of connections a second otherwise takes 690 MB, and with
  // this about 230 (measured); see docs/performance.md.
  serve: ['--semi-space-growth-factor=1', '--wasm-tiering-budget=1000000000', '--heap-growing-percent=25'],
  // A tunnel carries bytes that are garbage at once: a small young generation keeps both ends at 115 MB instead of 180.
  // After a pause the engine lets its heap grow by next to nothing before it collects all of it, and buffers count: up
  // to 200 times in 3 GB, for twice the processor time. With growth by 300 % once. Without parallel collections of the
  // young generation the proxy stays below its 120 MB, and waits for no other thread.
  'tunnel proxy': ['--semi-space-growth-factor=1', '--heap-growing-percent=300', '--no-parallel-scavenge'],
  'tunnel connect': ['--semi-space-growth-factor=1', '--heap-growing-percent=300', '--no-parallel-scavenge'],
};

if (modern) {
  endWithLauncher();
  // The version was looked at above; the command framework would load fifty modules to look at it once more.
  process.env.OCLIF_DISABLE_ENGINE_WARNING = '1';
  const argv = process.argv.slice(2);
  // With them the file and line of a source file stands in a stack; reading the maps takes too long for every start.
  if (process.env.GW_DEBUG) process.setSourceMapsEnabled(true);
  // The only flag that may stand before the command.
  const [topic = '', verb = ''] = argv.filter((arg) => arg !== '--no-color');
  const flags = [`${topic} ${verb}`, topic].find((command) => Object.hasOwn(engineFlags, command));
  if (flags !== undefined) {
    const { setFlagsFromString } = await import('node:v8');
    for (const flag of engineFlags[flags]) setFlagsFromString(flag);
  }
  // After the flags, since compiled code is kept for each set of them. The daemon starts once, 75 ms later without it, and
  // idles with 5 MB less.
  const cache = topic === 'serve' ? null : compileCacheFolder();
  if (cache !== null) module.enableCompileCache?.(cache);
  if (argv.length === 1 && argv[0] === '--version') {
    // Answered here because loading the command framework would cost more than the answer.
    // As every other command: src/cli/lost-output.ts.
    process.stdout.on('error', ({ code }) => {
      if (code !== 'EPIPE')
        process.stderr.write(`gw: stdout cannot be written (${code}); the output is not complete\n`);
      process.exitCode = 74;
    });
    const { name, version } = module.createRequire(import.meta.url)('../package.json');
    process.stdout.write(`${name}/${version} ${process.platform}-${process.arch} node-${process.version}\n`);
  } else {
    const { main } = await import('../dist/cli/main.js').catch((error) => {
      if (error?.code !== 'ERR_MODULE_NOT_FOUND' || !String(error.message).includes('cli/main.js')) throw error;
      process.stderr.write('gw is not built: run `npm ci` in the checkout, without --omit and --ignore-scripts.\n');
      process.exit(70);
    });
    await main(argv, dirname(dirname(fileURLToPath(import.meta.url))));
  }
} else {
  await restartOnBundledRuntime();
}

/**
 * Where compiled code is kept: it is run as it is, so no other user may write there. undefined: where Node puts it, which
 * NODE_COMPILE_CACHE or the operating system makes private; null: nowhere.
 */
function compileCacheFolder() {
  const uid = process.getuid?.();
  if (uid === undefined || process.env.NODE_COMPILE_CACHE) return undefined;
  const above = tmpdir();
  const folder = join(above, `gw-compiled-${uid}`);
  try {
    try {
      mkdirSync(folder, { mode: 0o700 });
    } catch {
      // It exists, or cannot be made.
    }
    const [own, parent] = [lstatSync(folder), statSync(above)];
    const isOwn = own.isDirectory() && own.uid === uid && (own.mode & 0o022) === 0;
    // In a folder without the sticky bit another user could put a folder in its place.
    const isKept = [0, uid].includes(parent.uid) && ((parent.mode & 0o022) === 0 || (parent.mode & 0o1000) !== 0);
    return isOwn && isKept ? folder : null;
  } catch {
    return null;
  }
}

/**
 * A program that started this one and only waits for it says so in GW_LAUNCHER, by its process id. SIGKILL does not reach
 * this process, which would drive the robot on without anyone who can end it: its end is taken as SIGTERM.
 */
function endWithLauncher() {
  const { GW_LAUNCHER: launcher } = process.env;
  if (!launcher) return;
  // Not for the programs that this one starts.
  delete process.env.GW_LAUNCHER;
  const looking = setInterval(() => {
    if (String(process.ppid) === launcher) return;
    clearInterval(looking);
    process.kill(process.pid, 'SIGTERM');
  }, LAUNCHER_CHECK_MS);
  looking.unref();
}

/** Node is too old: start again on the runtime that `npm ci` brought along on Linux. */
async function restartOnBundledRuntime() {
  const { spawn } = await import('node:child_process');
  const { existsSync } = await import('node:fs');
  const bundled = fileURLToPath(
    new URL(`../node_modules/node-${process.platform}-${process.arch}/bin/node`, import.meta.url),
  );
  if (!existsSync(bundled)) {
    process.stderr.write(
      `gw: needs Node ${MINIMUM.join('.')} or newer, this is ${process.versions.node}, and no bundled runtime was found; ` +
        'install a newer Node, or run `npm ci` with optional dependencies on Linux.\n',
    );
    process.exitCode = 2;
    return;
  }
  // The watchdog of systemd concerns the child, which has another process id.
  const { WATCHDOG_PID: _, ...inherited } = process.env;
  const env = { ...inherited, GW_LAUNCHER: String(process.pid) };
  const words = ['--disable-sigusr1', fileURLToPath(import.meta.url), ...process.argv.slice(2)];
  const child = spawn(bundled, words, { stdio: 'inherit', env });
  // Those of src/cli/long-running.ts.
  const signals = [
    ...['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGABRT', 'SIGALRM', 'SIGUSR2', 'SIGVTALRM', 'SIGIO', 'SIGPWR'],
    ...['SIGSTKFLT', 'SIGXCPU', 'SIGSYS'],
  ];
  // A terminal sends SIGINT and SIGQUIT to both processes; passing it on as well would reach the child twice.
  for (const signal of signals) {
    process.on(signal, () => {
      if (!['SIGINT', 'SIGQUIT'].includes(signal) || !process.stdin.isTTY) child.kill(signal);
    });
  }
  child.on('error', (error) => {
    // It exists, so what is missing is the program that loads it.
    const reason = error.code === 'ENOENT' ? 'it needs glibc, which this system lacks' : error.message;
    process.stderr.write(
      `gw: needs Node ${MINIMUM.join('.')} or newer, this is ${process.versions.node}, and the bundled runtime ${bundled} ` +
        `does not start: ${reason}; install a newer Node.\n`,
    );
    process.exitCode = 70;
  });
  child.on('exit', (code, signal) => {
    if (signal === null) process.exitCode = code ?? 70;
    else {
      for (const name of signals) process.removeAllListeners(name);
      process.kill(process.pid, signal);
    }
  });
}
