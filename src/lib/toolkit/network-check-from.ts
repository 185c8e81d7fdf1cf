import type { SshOptions } from '../net/index.ts';
import type { SecondHost } from './network-check.ts';

/**
 * Machines that are reached by SSH, each on a connection of its own. They are logged in to one after the other where a
 * person may be asked, so that no two questions stand at one terminal.
 */
export function secondHosts(targets: readonly string[], ssh: SshOptions): SecondHost[] {
  let turn: Promise<unknown> = Promise.resolve();
  return targets.map((name) => ({
    name,
    open(signal) {
      const before = ssh.person === null ? Promise.resolve() : turn;
      const opening = before.then(async () => {
        const { openSsh } = await import('../net/ssh/index.ts');
        return await openSsh(name, { ...ssh, signal });
      });
      turn = opening.catch(() => {});
      return opening;
    },
  }));
}
