import { parseSshTarget, type SshOptions } from '../../../net/index.ts';
import { throughSsh } from '../../via.ts';
import type { SecondHost } from './outside.ts';

/**
 * Second hosts that are reached by SSH, each over a connection of its own. Logins run one after the other when questions
 * are possible, so that only one prompt is shown at a time. Throws USAGE for a target that names no host.
 */
export function secondHosts(targets: readonly string[], ssh: SshOptions): SecondHost[] {
  // A mistyped target is not a host that could not be tried.
  for (const target of targets) parseSshTarget(target);
  let turn: Promise<unknown> = Promise.resolve();
  return targets.map((name) => ({
    name,
    async use(signal, work) {
      const before = turn;
      const { promise, resolve: loggedIn } = Promise.withResolvers<void>();
      if (ssh.person !== null) turn = promise;
      try {
        await before;
        return await throughSsh(name, { ...ssh, signal }, (remote, lost) => {
          loggedIn();
          return work(remote.dialer, lost, remote.firstHop);
        });
      } finally {
        loggedIn();
      }
    },
  }));
}
