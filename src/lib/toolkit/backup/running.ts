import { connect } from 'node:net';
import { systemClock } from '../../lifecycle/index.ts';
import { robotAt } from '../../operator/index.ts';
import { localSocketPath, READ_ONLY_PORT, type Site } from '../../site/index.ts';

/** Why a gateway of this robot may run on this machine; null: none is seen. */
export type LookForGateway = (site: Pick<Site, 'stateDir' | 'chassis'>) => Promise<string | null>;

export const lookForGateway: LookForGateway = async (site) => {
  const path = localSocketPath(site);
  const answer = await answerOf(path);
  if (answer === 'connected') return `gw serve works on the state folder ${site.stateDir}`;
  // Without an answer there is no process behind it.
  if (answer !== 'ENOENT' && answer !== 'ECONNREFUSED' && answer !== 'ENOTDIR')
    return `whether gw serve runs cannot be seen: ${path} (${answer})`;
  const { serial } = site.chassis;
  const running = await robotAt({ port: READ_ONLY_PORT }, systemClock);
  return running === serial ? `gw serve of this robot (${serial}) answers on port ${READ_ONLY_PORT}` : null;
};

function answerOf(path: string): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  const socket = connect({ path });
  socket.once('connect', () => {
    socket.destroy();
    resolve('connected');
  });
  socket.once('error', ({ code, message }: NodeJS.ErrnoException) => resolve(code ?? message));
  return promise;
}
