import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { hasNamespaces } from './peer.ts';

const child = fileURLToPath(new URL('./hidden-processes-child.ts', import.meta.url));
// Without the capability that opens the processes of everyone, as any other user than root.
const script =
  'mount -t proc -o "hidepid=$1" proc /proc && shift && exec setpriv --regid 65534 --clear-groups --inh-caps=-sys_ptrace --bounding-set=-sys_ptrace "$@"';

/** Looks for a program with a /proc of its own, mounted with this option. */
async function look(hidepid: number, name: string) {
  const { stdout } = await promisify(execFile)(
    'unshare',
    ['--mount', '--', 'sh', '-c', script, '_', String(hidepid), process.execPath, child, name],
    { env: { PATH: `${process.env.PATH}:/usr/sbin:/sbin`, NO_COLOR: '1' }, timeout: 100_000 },
  );
  return JSON.parse(stdout) as Record<string, unknown>;
}

describe.runIf(hasNamespaces())('own check process on a /proc that hides processes of others', () => {
  const first = readFileSync('/proc/1/comm', 'utf8').trim();

  it('finds the first process where nothing is hidden, and knows that another is not running', async () => {
    expect(await look(0, first)).toMatchObject({ running: true });
    expect(await look(0, 'gw-test-no-such-program')).toMatchObject({ running: false, count: 0 });
  });

  it.each([
    { hidepid: 1, what: 'names it and does not open it' },
    { hidepid: 2, what: 'does not name it' },
  ])('leaves open whether it runs where /proc $what', async ({ hidepid }) => {
    expect(await look(hidepid, first)).toMatchObject({
      running: 'not-checked',
      count: 'not-checked',
      detail: expect.stringContaining('does not see the processes of others'),
    });
  });
});
