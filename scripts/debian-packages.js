// Programs that come from Debian's packages: whether they are here, and installing them where that is allowed.
import { spawnSync } from 'node:child_process';
import { accessSync, constants, existsSync } from 'node:fs';
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

/**
 * Installs those of `packages` (pairs of Debian package and the program that proves it is there) that are missing,
 * where this user may: as root, with apt-get, and not with `GW_INSTALL_PEERS=no`. Says so on stderr, with `why`.
 */
export function bringPackages(packages, why, without) {
  const missing = packages.filter(([, program]) => !hasProgram(program)).map(([debianPackage]) => debianPackage);
  if (missing.length === 0 || process.getuid?.() !== 0 || !hasProgram('apt-get')) return;
  if (process.env.GW_INSTALL_PEERS === 'no') return;
  process.stderr.write(`installing Debian packages ${why}: ${missing.join(', ')}\n`);
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const options = { env, stdio: ['ignore', 'ignore', 'inherit'], timeout: 300_000 };
  spawnSync('apt-get', ['-qq', 'update'], options);
  const install = spawnSync('apt-get', ['-qq', 'install', '-y', '--no-install-recommends', ...missing], options);
  if (install.status !== 0) process.stderr.write(`installing failed; ${without}\n`);
}
