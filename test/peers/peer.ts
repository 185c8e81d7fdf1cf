import { execFileSync, spawnSync } from 'node:child_process';

const path = `${process.env.PATH}:/usr/sbin:/sbin`;

/** Whether this program is installed; tests that need it are skipped by name where it is not. */
export function hasProgram(name: string): boolean {
  return spawnSync('sh', ['-c', `command -v ${name}`], { env: { PATH: path } }).status === 0;
}

/** Whether network namespaces can be made here: needs iproute2 and the right to do so. */
export function hasNamespaces(): boolean {
  if (!hasProgram('ip')) return false;
  const name = `gw-probe-${process.pid}`;
  const made = spawnSync('ip', ['netns', 'add', name], { env: { PATH: path } }).status === 0;
  if (made) spawnSync('ip', ['netns', 'del', name], { env: { PATH: path } });
  return made;
}

/** Runs `ip` with these arguments; throws with its stderr when it fails. */
export function ip(...words: string[]): string {
  return execFileSync('ip', words, { encoding: 'utf8', env: { PATH: path } });
}
