import { floodRequests, requestText } from '../attack.js';

const BYTES = 32 * 1024 * 1024;

/** `[{},{},…]`: valid JSON with as many objects as fit into the maximum forwarded size. */
export default {
  name: 'hostile-map',
  title: 'the chassis returns a map of 11 million empty objects (32 MiB), requested repeatedly',
  chassis: {
    map() {
      const objects = Math.floor((BYTES - 4) / 3);
      return Buffer.concat([Buffer.from('['), Buffer.from('{},'.repeat(objects - 1)), Buffer.from('{}]')]);
    },
  },
  attack: ({ target, from, connections = 2 }) =>
    floodRequests({ target, from, connections, request: () => requestText('GET', '/api/chassis/maps/bench') }),
};
