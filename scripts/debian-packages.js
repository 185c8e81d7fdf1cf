// Programs that come from Debian's packages: whether they are here, and installing them where that is allowed.
import { spawnSync } from 'node:child_process';
import { accessSync, constants, cpSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';

/** Whether the program is on the path, or in a folder of root's path. */
export function hasProgram(program) {
  // A library is no program: it is named by its whole path.
  if (program.startsWith('/')) return existsSync(program);
  return [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/sbin'].some((dir) => {
    try {
      accessSync(join(dir, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

/** Takes a program out of its package to /usr/local/bin: installed, some would start a service on this machine. */
function extract([debianPackage, program], options) {
  const scratch = mkdtempSync(join(tmpdir(), 'gw-extract-'));
  try {
    // The sandbox user of apt may not write here.
    const words = ['-qq', '-o', 'APT::Sandbox::User=root', 'download', debianPackage];
    if (spawnSync('apt-get', words, { ...options, cwd: scratch }).status !== 0) return false;
    const [file] = readdirSync(scratch);
    if (spawnSync('dpkg-deb', ['--extract', file, '.'], { ...options, cwd: scratch }).status !== 0) return false;
    cpSync(join(scratch, 'usr/bin', program), join('/usr/local/bin', program));
    return true;
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/**
 * Installs those of `packages` (Debian package, the program that proves it is there, and how) that are missing,
 * where this user may: as root, with apt-get, and not with `GW_INSTALL_PEERS=no`. Says so on stderr, with `why`.
 */
export function bringPackages(packages, why, without) {
  const absent = packages.filter(([, program]) => !hasProgram(program));
  const missing = absent.map(([debianPackage]) => debianPackage);
  if (missing.length === 0 || process.getuid?.() !== 0 || !hasProgram('apt-get')) return;
  if (process.env.GW_INSTALL_PEERS === 'no') return;
  process.stderr.write(`installing Debian packages ${why}: ${missing.join(', ')}\n`);
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const options = { env, stdio: ['ignore', 'ignore', 'inherit'], timeout: 300_000 };
  spawnSync('apt-get', ['-qq', 'update'], options);
  const installed = absent.filter(([, , how]) => how === undefined).map(([debianPackage]) => debianPackage);
  const words = ['-qq', 'install', '-y', '--no-install-recommends', ...installed];
  const isInstalled = installed.length === 0 || spawnSync('apt-get', words, options).status === 0;
  const extracted = absent.filter(([, , how]) => how === 'extracted');
  if (![isInstalled, ...extracted.map((one) => extract(one, options))].every(Boolean))
    process.stderr.write(`installing failed; ${without}\n`);
}
