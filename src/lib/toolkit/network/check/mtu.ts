import { type ConnectionInfo, parseConnectionInfo } from '../../../net/probe/index.ts';
import { runSystemProgram } from '../../child-process.ts';

const TIMEOUT_MS = 1_000;

/**
 * Kernel information about one open connection of this machine, by `ss` of iproute2, which needs no privilege; Node has no
 * API for it. Null without `ss`, or without a path MTU in its output.
 */
export async function readConnectionInfo(localPort: number): Promise<ConnectionInfo | null> {
  const args = ['--tcp', '--info', '--numeric', '--no-header', 'sport', '=', `:${localPort}`];
  const output = await runSystemProgram('ss', args, TIMEOUT_MS).catch(() => null);
  const info = output === null ? null : parseConnectionInfo(output);
  return info === null || info.pathMtuBytes === null ? null : info;
}
