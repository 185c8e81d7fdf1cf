import { holdConnections } from '../attack.js';

/** More connections than the server accepts, from one address, without data. */
export default {
  name: 'idle-connections',
  title: '600 connections from one address that send nothing',
  attack: ({ target, from, connections = 600 }) =>
    holdConnections({ target, from, count: connections, use: (socket) => void socket.resume() }),
};
