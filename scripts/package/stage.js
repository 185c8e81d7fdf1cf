// The files of an installation, whole with their libraries, as the lock names them: what every package holds.
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { addLicenceTexts } from './licences.js';

export const root = fileURLToPath(new URL('../..', import.meta.url));
const json = (path) => JSON.parse(readFileSync(path, 'utf8'));
const writeJson = (path, value) => writeFileSync(path, `${JSON.stringify(value, null, 2)}\n`);

/** Libraries that are in `dist`, so that no package names them among its dependencies. */
export const builtIn = json(join(root, 'scripts/built-in.json'));
/** Libraries of the simulator alone: a gateway has no simulated robot, and the technician's laptop gets it from npm. */
const SIMULATOR_LIBRARIES = ['aedes', 'pngjs'];
const SIMULATOR_COMMANDS = /^(sim|demo)(:|$)/;
/** Of libraries: what only their developers and browsers read, and the headers and manuals of Node.js. */
const LEFT_OUT = [
  /\.(ts|mts|cts|map|tsbuildinfo|md|markdown|html|png|swf|sh|c|cc|gyp)$/,
  /(^|\/)\.[^/]+$/,
  /^node-linux-[a-z0-9]+\/(include|share)$/,
  /(^|\/)(test|tests|__tests__|benchmark|benchmarks|example|examples|docs|\.github)$/,
  /^pdfkit\/js\/pdfkit\.(browser|standalone|.*old|js$)/,
  /^(fontkit|brotli)\/(src|dist\/browser.*)$/,
  // Bundles for browsers, and the compressor of a library that only decompresses here.
  /^(mqtt|node-forge|pako)\/dist$/,
  /^bluebird\/js\/browser$/,
  /^brotli\/(build|enc)$/,
  /^@types$/,
];
const LICENCE = /(^|\/)(licen[cs]e|copying|notice)[^/]*$/i;
const NEEDS_COMPILER = ['cpu-features', 'nan', 'buildcheck'];

/** When the sources were last changed: the time of every file, so that the same commit gives the same bytes. */
export function sourceOf() {
  const git = (...words) => execFileSync('git', words, { cwd: root, encoding: 'utf8' }).trim();
  const isChanged = git('status', '--porcelain', '--untracked-files=no') !== '';
  return {
    commit: `${git('rev-parse', 'HEAD')}${isChanged ? '-changed' : ''}`,
    epoch: Number(git('log', '-1', '--format=%ct')),
  };
}

/**
 * Fills `folder` with gw for a gateway of this processor (`x64`, `arm64`). `kind`: deb, tar or release, which `gw version`
 * names as the origin.
 */
export function stageGateway(folder, { arch, kind, source }) {
  stageFiles(folder, { without: SIMULATOR_LIBRARIES });
  const npm = ['ci', '--omit=dev', '--ignore-scripts', '--os=linux', `--cpu=${arch}`, '--libc=glibc'];
  runNpm(folder, [...npm, '--prefer-offline']);
  prune(folder);
  addLicenceTexts(folder);
  strip(folder, arch);
  leaveOutSimulator(folder);
  writeOrigin(folder, { kind, source });
  cpSync(join(root, 'packaging/gw.sh'), join(folder, 'bin/gw'));
  setModes(folder);
}

/** Fills `folder` with what the npm tarball holds; npm installs its libraries as the lock in it names them. */
export function stageNpm(folder, { source }) {
  stageFiles(folder, { without: [] });
  renameSync(join(folder, 'package-lock.json'), join(folder, 'npm-shrinkwrap.json'));
  writeOrigin(folder, { kind: 'npm', source });
  setModes(folder);
}

/** The files of gw, and the lock of the libraries that it needs when it runs: what is built in is none beside it. */
function stageFiles(folder, { without }) {
  mkdirSync(folder, { recursive: true });
  copyPackageFiles(folder);
  const manifest = json(join(root, 'package.json'));
  const lock = json(join(root, 'package-lock.json'));
  const own = lock.packages[''];
  for (const name of [...builtIn, ...without]) {
    delete manifest.dependencies[name];
    delete own.dependencies[name];
  }
  for (const one of [manifest, own]) delete one.devDependencies;
  // There are no sources to build.
  delete manifest.scripts;
  manifest.files.push('origin.json', 'npm-shrinkwrap.json');
  writeJson(join(folder, 'package.json'), manifest);
  writeJson(join(folder, 'package-lock.json'), lock);
  runNpm(folder, ['prune', '--package-lock-only', '--offline', '--ignore-scripts']);
}

function runNpm(folder, words) {
  const quiet = ['--no-audit', '--no-fund', '--no-update-notifier', '--loglevel=error'];
  execFileSync('npm', [...words, ...quiet], { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] });
}

/** What `npm pack` would pack. */
function copyPackageFiles(folder) {
  const out = execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], { cwd: root, encoding: 'utf8' });
  const parsed = JSON.parse(out);
  const [{ files }] = Array.isArray(parsed) ? parsed : Object.values(parsed);
  for (const { path } of files) cpSync(join(root, path), join(folder, path), { recursive: true });
}

function prune(folder) {
  const modules = join(folder, 'node_modules');
  for (const name of NEEDS_COMPILER) rmSync(join(modules, name), { recursive: true, force: true });
  // Paths of this machine and times of this installation.
  rmSync(join(modules, '.package-lock.json'), { force: true });
  rmSync(join(modules, '.bin'), { recursive: true, force: true });
  for (const path of readdirSync(modules, { recursive: true, encoding: 'utf8' })) {
    if (LICENCE.test(path) || !LEFT_OUT.some((pattern) => pattern.test(path))) continue;
    rmSync(join(modules, path), { recursive: true, force: true });
  }
  removeEmpty(modules);
}

function removeEmpty(folder) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (entry.isDirectory()) removeEmpty(join(folder, entry.name));
  }
  if (readdirSync(folder).length === 0) rmSync(folder, { recursive: true });
}

/** Node.js without its symbols, a tenth of it. */
function strip(folder, arch) {
  const program = { x64: 'x86_64-linux-gnu-strip', arm64: 'aarch64-linux-gnu-strip' }[arch];
  try {
    execFileSync(program, [join(folder, `node_modules/node-linux-${arch}/bin/node`)], {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
  } catch (cause) {
    if (cause.code !== 'ENOENT') throw cause;
    throw new Error(`${program} is missing: apt install binutils binutils-aarch64-linux-gnu`);
  }
}

function leaveOutSimulator(folder) {
  const own = json(join(folder, 'package.json'));
  for (const topic of Object.keys(own.oclif.topics)) if (SIMULATOR_COMMANDS.test(topic)) delete own.oclif.topics[topic];
  writeJson(join(folder, 'package.json'), own);
  const path = join(folder, 'oclif.manifest.json');
  const manifest = json(path);
  for (const id of Object.keys(manifest.commands)) if (SIMULATOR_COMMANDS.test(id)) delete manifest.commands[id];
  writeJson(path, manifest);
  for (const name of ['sim', 'demo.js', 'demo.js.map', 'sim.js', 'sim.js.map']) {
    rmSync(join(folder, 'dist/commands', name), { recursive: true, force: true });
  }
  // 4 MB that only GW_DEBUG reads.
  for (const path of readdirSync(join(folder, 'dist'), { recursive: true, encoding: 'utf8' })) {
    if (path.endsWith('.map')) rmSync(join(folder, 'dist', path));
  }
}

/** What `gw version` shows of where this installation came from. */
export function writeOrigin(folder, { kind, source: { commit, epoch } }) {
  writeJson(join(folder, 'origin.json'), { kind, commit, sourceTime: new Date(epoch * 1_000).toISOString() });
}

function setModes(folder) {
  for (const path of ['', ...readdirSync(folder, { recursive: true, encoding: 'utf8' })]) {
    const full = join(folder, path);
    const stats = lstatSync(full);
    if (stats.isSymbolicLink()) throw new Error(`${path} is a link: a package holds files only`);
    const isProgram =
      stats.isDirectory() || /^(bin\/(gw|run\.js)|node_modules\/node-linux-[a-z0-9]+\/bin\/node)$/.test(path);
    chmodSync(full, isProgram ? 0o755 : 0o644);
  }
  if (!existsSync(join(folder, 'dist/cli/main.js'))) throw new Error('gw is not built');
}
