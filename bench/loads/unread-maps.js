import { randomBytes } from 'node:crypto';
import { holdConnections, requestText } from '../attack.js';

const BYTES = 24_000_000;

/** A map of realistic maximum size, and clients that request it and never read. */
export default {
  name: 'unread-maps',
  title: '64 clients that request a map of 24 MB and never read',
  chassis: {
    map() {
      const texts = [];
      for (let bytes = 0; bytes < BYTES; bytes += 4_003) texts.push(randomBytes(3_000).toString('base64'));
      return Buffer.from(JSON.stringify({ id: 'bench', texts }));
    },
  },
  attack: ({ target, from, connections = 64 }) =>
    holdConnections({
      target,
      from,
      count: connections,
      // Staggered: concurrent requests may share the same bytes.
      intervalMs: 120,
      use: (socket) => void socket.write(requestText('GET', '/api/chassis/maps/bench')),
    }),
};
