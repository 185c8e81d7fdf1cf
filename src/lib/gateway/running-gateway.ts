import { GwError } from '../error/index.ts';
import { type Clock, systemClock } from '../lifecycle/index.ts';
import { robotAt } from '../operator/index.ts';
import { localSocketPath, type Site } from '../site/index.ts';

/**
 * The error of a socket that is in use, with its holder: GATEWAY_RUNNING where a gateway of gw answers there, by the
 * serial number on its answer. Any other error is returned as it is.
 */
export async function nameHolder(
  error: unknown,
  site: Pick<Site, 'chassis' | 'stateDir' | 'operator'>,
  clock: Clock = systemClock,
) {
  if (!(error instanceof GwError) || error.code !== 'PORT_IN_USE') return error;
  const { port } = error.tried ?? {};
  const { serial } = site.chassis;
  const found = await robotAt(port === undefined ? { socketPath: localSocketPath(site) } : { port }, clock);
  const where = port === undefined ? `on the state folder ${site.stateDir}` : `on port ${port}`;
  const by = port === undefined ? '' : await processAt(port);
  const more = { tried: error.tried, cause: error };
  if (found === serial) {
    return new GwError('GATEWAY_RUNNING', `gw serve of this robot (${serial}) runs already, ${where}${by}.`, more);
  }
  if (found !== null) {
    const other = `gw serve of another robot (${found}) runs already, ${where}${by}; the site file names ${serial}.`;
    return new GwError('GATEWAY_RUNNING', other, more);
  }
  if (port === undefined) {
    const silent = `A process that does not answer is working ${where}.`;
    const remedy = `It may be a gw serve that hangs. Find it with: ss -lxp | grep ${localSocketPath(site)}`;
    return new GwError('GATEWAY_RUNNING', silent, { ...more, remedy });
  }
  if (by === '') return error;
  return new GwError('PORT_IN_USE', `Port ${port} is in use by another program${by}.`, more);
}

/** `, process 4711` of a port; empty where this user cannot see it. */
async function processAt(port: number): Promise<string> {
  const { readOpenSockets } = await import('../net/probe/index.ts');
  const sockets = await readOpenSockets().catch(() => []);
  const held = sockets.filter((socket) => socket.protocol === 'tcp' && socket.port === port);
  const pids = new Set(held.flatMap(({ owners }) => owners.map(({ pid }) => pid)));
  return pids.size === 1 ? `, process ${[...pids][0]}` : '';
}
