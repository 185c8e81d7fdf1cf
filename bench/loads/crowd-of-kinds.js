import { addresses, holdConnections, requestText } from '../attack.js';
import { endlessLoads } from './endless-bytes.js';
import { everyRouteLoads } from './every-route.js';

const changes = everyRouteLoads.find(({ name }) => name === 'every-change');
const half = requestText('POST', '/api/stopp', { body: '{', length: 16_000 });

/** Most of their connections are refused, and come back each half a second. */
export default {
  name: 'crowd-of-kinds',
  title: 'endless bodies, half requests and every change at once, each on hundreds of connections of one address',
  from: addresses(19, 6),
  attack({ target, from }) {
    const loads = [
      endlessLoads.get('chunks-addresses').attack({ target, from: from[0] }),
      endlessLoads.get('trailers').attack({ target, from: from[1] }),
      ...[from[2], from[3]].map((address) =>
        holdConnections({
          target,
          from: address,
          count: 300,
          use(socket) {
            socket.write(half);
            socket.resume();
          },
        }),
      ),
      changes.attack({ target, from: Array(20).fill(from[4]) }),
      changes.attack({ target, from: Array(20).fill(from[5]) }),
    ];
    return {
      get counts() {
        const sums = { opened: 0, failed: 0, closed: 0, open: 0, most: 0 };
        for (const { counts } of loads) for (const what of Object.keys(sums)) sums[what] += counts[what];
        return sums;
      },
      stop() {
        for (const load of loads) load.stop();
      },
    };
  },
};
