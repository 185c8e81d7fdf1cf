import { execFile } from 'node:child_process';
import { type ConnectionInfo, parseConnectionInfo } from '../../../net/probe/index.ts';

const TIMEOUT_MS = 1_000;
const MAX_BYTES = 64 * 1024;

/**
 * Kernel information about one open connection of this machine, by `ss` of iproute2, which needs no privilege; Node has no
 * API for it. Null without `ss`, or without a path MTU in its output.
 */
export function readConnectionInfo(localPort: number): Promise<ConnectionInfo | null> {
  const { promise, resolve } = Promise.withResolvers<ConnectionInfo | null>();
  const words = ['--tcp', '--info', '--numeric', '--no-header', 'sport', '=', `:${localPort}`];
  const environment = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C' };
  execFile(
    'ss',
    words,
    { env: environment, timeout: TIMEOUT_MS, maxBuffer: MAX_BYTES, encoding: 'utf8' },
    (error, stdout) => {
      const info = error === null ? parseConnectionInfo(stdout) : null;
      resolve(info === null || info.pathMtuBytes === null ? null : info);
    },
  );
  return promise;
}
