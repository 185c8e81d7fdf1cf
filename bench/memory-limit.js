// A control group with the MemoryMax of packaging/gw.service, where this machine lets us make one.
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { unit } from './unit.js';

const maxMb = Number(/^MemoryMax=(\d+)M$/m.exec(unit)?.[1]);

/**
 * `command` runs a program inside; null where there is no writable memory controller (cgroup v2 or v1).
 * @returns {({maxMb: number, command: readonly string[]} & Disposable) | null}
 */
export function memoryLimit() {
  for (const { root, file } of [
    { root: join('/sys/fs/cgroup', ownGroup('')), file: 'memory.max' },
    { root: join('/sys/fs/cgroup/memory', ownGroup('memory')), file: 'memory.limit_in_bytes' },
  ]) {
    const group = join(root, `gw-bench-${process.pid}`);
    try {
      mkdirSync(group);
    } catch {
      continue;
    }
    const remove = () => rmdirSync(group);
    if (existsSync(join(group, file))) {
      writeFileSync(join(group, file), `${maxMb * 1024 * 1024}`);
      const command = ['sh', '-c', 'echo $$ > "$0" && exec "$@"', join(group, 'cgroup.procs')];
      return { maxMb, command, [Symbol.dispose]: remove };
    }
    remove();
  }
  return null;
}

/** The group of this process below the root of a controller; '': of cgroup v2. */
function ownGroup(controller) {
  const lines = readFileSync('/proc/self/cgroup', 'utf8').split('\n');
  return lines.map((line) => line.split(':')).find(([, name]) => name === controller)?.[2] ?? '';
}
