// Builds what is not built, or no longer as the sources say. By content: of everything that goes into the build, and
// of everything that came out of it, so that neither a changed file nor a lost one leaves an old build in use.
// --prepare: npm calls it after an installation, also where there are no sources or no tools to build with.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
/** In the folder that every build empties, so that it never outlives what it describes. */
const STAMP = join('dist', '.built.json');
const INPUT_FOLDERS = ['src', 'web', 'scripts'];
/** Configuration of the tools; the lock file stands for their versions. */
const INPUT_FILES = /^(package|package-lock|tsconfig.*)\.json$|\.config\.[cm]?[jt]s$/;

function inputs() {
  return digest([
    ...readdirSync(root).filter((name) => INPUT_FILES.test(name)),
    ...INPUT_FOLDERS.flatMap((folder) => filesIn(folder)),
  ]);
}

function outputs() {
  return digest(filesIn('dist').filter((path) => path !== STAMP));
}

function filesIn(folder) {
  if (!existsSync(join(root, folder))) return [];
  return readdirSync(join(root, folder), { recursive: true }).map((name) => join(folder, name));
}

function digest(paths) {
  const hash = createHash('sha256');
  for (const path of paths.sort()) {
    const full = join(root, path);
    if (!statSync(full, { throwIfNoEntry: false })?.isFile()) continue;
    hash.update(`${path}\0${createHash('sha256').update(readFileSync(full)).digest('hex')}\n`);
  }
  return hash.digest('hex');
}

function isBuilt(wanted) {
  try {
    const stamp = JSON.parse(readFileSync(join(root, STAMP), 'utf8'));
    return stamp.inputs === wanted && stamp.outputs === outputs();
  } catch {
    return false;
  }
}

function main(isPrepare) {
  if (isPrepare && !existsSync(join(root, 'src'))) return 0;
  // Taken before the build: what changes during it is not in it, and the next run sees that.
  const wanted = inputs();
  if (isBuilt(wanted)) return 0;
  if (isPrepare && !existsSync(join(root, 'node_modules/vite'))) {
    process.stderr.write(
      'gw is not built: the build tools were left out; run `npm ci` without --omit, which installs them and builds.\n',
    );
    return 0;
  }
  const { status } = spawnSync('npm', ['run', '-s', 'build'], {
    cwd: root,
    // On Windows npm is a script of the shell; nothing of these words comes from outside.
    shell: process.platform === 'win32',
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  if (status !== 0) {
    process.stderr.write(
      'gw is not built: the build failed, see above. A missing binding means that an installation left out optional ' +
        'dependencies: run `npm ci` without --omit.\n',
    );
    return status ?? 1;
  }
  writeFileSync(join(root, STAMP), JSON.stringify({ inputs: wanted, outputs: outputs() }));
  return 0;
}

process.exitCode = main(process.argv.includes('--prepare'));
