// Packs the package, installs it as docs/install.md says and runs it, so that a file missing from the package shows.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { builtIn } from './package/stage.js';

const root = fileURLToPath(new URL('..', import.meta.url));
const scratch = mkdtempSync(join(tmpdir(), 'gw-pack-'));
try {
  const make = [join(root, 'scripts/package/make.js'), '--npm-only', '--out', scratch];
  execFileSync(process.execPath, make, { stdio: ['ignore', 'ignore', 'inherit'] });
  const filename = readdirSync(scratch).find((name) => name.endsWith('.tgz'));
  const paths = execFileSync('tar', ['-tzf', join(scratch, filename)], { encoding: 'utf8' })
    .split('\n')
    .filter((path) => path !== '')
    .map((path) => path.replace(/^package\//, ''));
  for (const needed of [
    'bin/run.js',
    'npm-shrinkwrap.json',
    'oclif.manifest.json',
    'dist/cli/main.js',
    'dist/web/style.css',
    'dist/fonts/SourceSans3-Regular.ttf',
    'dist/THIRD-PARTY-LICENSES.md',
    'checklists/demo.yaml',
    'docs/install.md',
    'packaging/gw.service',
  ]) {
    if (!paths.includes(needed)) throw new Error(`the package lacks ${needed}`);
  }
  const stray = paths.filter((path) => /(^|\/)(test|bench|shared)\//.test(path) || /\.(test|spec)\./.test(path));
  if (stray.length > 0) throw new Error(`the package holds ${stray.join(', ')}`);
  const prefix = join(scratch, 'prefix');
  const install = [
    'install',
    '--global',
    '--ignore-scripts',
    '--prefix',
    prefix,
    '--loglevel=error',
    '--prefer-offline',
  ];
  execFileSync('npm', [...install, join(scratch, filename)], { cwd: scratch, stdio: ['ignore', 'ignore', 'inherit'] });
  // With the Node.js of the machine, not with the one that this checkout brought.
  const path = process.env.PATH.split(delimiter).filter((folder) => !folder.includes('node_modules'));
  const env = { ...process.env, PATH: path.join(delimiter) };
  const gw = (...args) => execFileSync(join(prefix, 'bin/gw'), args, { cwd: scratch, encoding: 'utf8', env });
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  if (!gw('--version').startsWith(`gw/${version} `)) throw new Error('gw --version does not answer');
  if (!gw('--help').includes('chassis')) throw new Error('gw --help does not list the commands');
  const { folder } = JSON.parse(gw('version', '--json')).data;
  const { dependencies } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const twice = builtIn.filter((name) => name in dependencies);
  if (twice.length > 0) throw new Error(`installed although built in: ${twice.join(', ')}`);
  if (!existsSync(join(folder, 'docs/install.md'))) throw new Error('gw version names a folder without docs');
  if (!JSON.parse(gw('evidence', 'list', '--mark', 'BELEGT', '--json')).ok)
    throw new Error('gw evidence list does not work');
  process.stdout.write(`package: ${paths.length} files, installed and run\n`);
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
