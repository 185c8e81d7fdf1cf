// Packs the package, installs it in an empty folder and runs it there, so that a file missing from the package shows.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const scratch = mkdtempSync(join(tmpdir(), 'gw-pack-'));
try {
  const out = execFileSync('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', scratch], {
    cwd: root,
    encoding: 'utf8',
  });
  const parsed = JSON.parse(out);
  const [{ filename, files }] = Array.isArray(parsed) ? parsed : Object.values(parsed);
  const paths = files.map((file) => file.path);
  for (const needed of [
    'bin/run.js',
    'oclif.manifest.json',
    'dist/cli/main.js',
    'dist/web/style.css',
    'dist/THIRD-PARTY-LICENSES.md',
    'checklists/demo.yaml',
  ]) {
    if (!paths.includes(needed)) throw new Error(`the package lacks ${needed}`);
  }
  const stray = paths.filter((path) => /(^|\/)(test|bench|shared)\//.test(path) || /\.(test|spec)\./.test(path));
  if (stray.length > 0) throw new Error(`the package holds ${stray.join(', ')}`);
  const home = join(scratch, 'home');
  mkdirSync(home);
  writeFileSync(join(home, 'package.json'), JSON.stringify({ name: 'empty', private: true, type: 'module' }));
  execFileSync(
    'npm',
    ['install', '--loglevel=error', '--no-save', '--prefer-offline', '--omit=dev', join(scratch, filename)],
    {
      cwd: home,
      stdio: ['ignore', 'ignore', 'inherit'],
    },
  );
  const gw = (...args) =>
    execFileSync(join(home, 'node_modules/.bin/gw'), args, {
      cwd: home,
      encoding: 'utf8',
      env: { ...process.env, PATH: `${join(home, 'node_modules/.bin')}:${process.env.PATH}` },
    });
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  if (!gw('--version').startsWith(`gw/${version} `)) throw new Error('gw --version does not answer');
  if (!gw('--help').includes('chassis')) throw new Error('gw --help does not list the commands');
  if (!JSON.parse(gw('evidence', 'list', '--mark', 'BELEGT', '--json')).ok)
    throw new Error('gw evidence list does not work');
  process.stdout.write(`package: ${paths.length} files, installed and run\n`);
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
