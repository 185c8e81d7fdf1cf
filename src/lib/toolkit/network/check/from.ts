import type { SshOptions } from '../../../net/index.ts';
import { throughSsh } from '../../via.ts';
import type { SecondHost } from './outside.ts';

/**
 * Machines that are reached by SSH, each on a connection of its own. They are logged in to one after the other where a
 * person may be asked, so that no two questions stand at one terminal.
 */
export function secondHosts(targets: readonly string[], ssh: SshOptions): SecondHost[] {
  let turn: Promise<unknown> = Promise.resolve();
  return targets.map((name) => ({
    name,
    async use(signal, work) {
      const before = turn;
      const { promise, resolve: loggedIn } = Promise.withResolvers<void>();
      if (ssh.person !== null) turn = promise;
      try {
        await before;
        return await throughSsh(name, { ...ssh, signal }, (far, lost) => {
          loggedIn();
          return work(far.dialer, lost, far.firstHop);
        });
      } finally {
        loggedIn();
      }
    },
  }));
}
