import { addresses, holdConnections } from '../attack.js';

/** Like `idle-connections`, from many addresses with few connections each. */
export default {
  name: 'many-addresses',
  title: '600 connections from 60 addresses that send nothing',
  from: addresses(12, 60),
  attack: ({ target, from, connections = 600 }) =>
    holdConnections({ target, from, count: connections, use: (socket) => void socket.resume() }),
};
