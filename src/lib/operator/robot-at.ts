import { get } from 'node:http';
import type { Clock } from '../lifecycle/index.ts';
import { READ_ONLY_SOCKET } from './operator.ts';
import { ROBOT_HEADER } from './routes.ts';

/** A running gateway answers at once; one that does not within this time is not known to be one. */
const ANSWER_MS = 1_500;
const SERIAL = /^[\x20-\x7e]{1,128}$/;

type Place = { readonly port: number } | { readonly socketPath: string };

/** Serial number that a gateway there, on this machine, names; null: no answer of a gateway. */
export function robotAt(place: Place, clock: Clock): Promise<string | null> {
  const { promise, resolve } = Promise.withResolvers<string | null>();
  const where = 'port' in place ? { host: READ_ONLY_SOCKET.host, port: place.port } : place;
  const asked = get({ ...where, path: '/api/health', agent: false, headers: { host: 'localhost' } }, (answer) => {
    const named = answer.headers[ROBOT_HEADER];
    resolve(typeof named === 'string' && SERIAL.test(named) ? named : null);
    asked.destroy();
  });
  const late = clock.after(ANSWER_MS, () => asked.destroy());
  asked.once('error', () => resolve(null));
  asked.once('close', () => {
    late[Symbol.dispose]();
    resolve(null);
  });
  return promise;
}
