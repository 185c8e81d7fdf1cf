import { execFile } from 'node:child_process';
import { type ConnectionInfo, parseConnectionInfo } from '../../../net/probe/index.ts';

const TIMEOUT_MS = 1_000;
const MOST_BYTES = 64 * 1024;

/**
 * What the kernel has learnt of one open connection of this machine, by `ss` of iproute2, which needs no right for it.
 * Null where there is no `ss` or it says nothing. Node itself has no call for this.
 */
export function readConnectionInfo(localPort: number): Promise<ConnectionInfo | null> {
  const { promise, resolve } = Promise.withResolvers<ConnectionInfo | null>();
  const words = ['--tcp', '--info', '--numeric', '--no-header', 'sport', '=', `:${localPort}`];
  const environment = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C' };
  execFile(
    'ss',
    words,
    { env: environment, timeout: TIMEOUT_MS, maxBuffer: MOST_BYTES, encoding: 'utf8' },
    (error, stdout) => {
      const info = error === null ? parseConnectionInfo(stdout) : null;
      resolve(info === null || info.pathMtuBytes === null ? null : info);
    },
  );
  return promise;
}
