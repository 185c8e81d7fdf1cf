import { addresses, holdConnections } from '../attack.js';

/** The same as `idle-connections`, from a whole network instead of one address: no single one has many. */
export default {
  name: 'many-addresses',
  title: '600 connections from 60 addresses that send nothing',
  from: addresses(12, 60),
  attack: ({ target, from, connections = 600 }) =>
    holdConnections({ target, from, count: connections, use: (socket) => void socket.resume() }),
};
