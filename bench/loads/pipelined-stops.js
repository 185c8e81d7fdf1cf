import { addresses, holdConnections, requestText } from '../attack.js';

const PER_CONNECTION = 10;
const stops = requestText('POST', '/api/stopp', { body: `{"reason":"${'x'.repeat(200)}"}` }).repeat(PER_CONNECTION);

/** Stops without a pause, ten at a time on each connection. */
export default {
  name: 'pipelined-stops',
  title: '200 connections of 200 addresses that pipeline ten stops at a time',
  from: addresses(15, 200),
  attack({ target, from, connections = 200 }) {
    let answered = 0;
    const held = holdConnections({
      target,
      from,
      count: connections,
      use(socket) {
        let answers = 0;
        socket.on('data', (chunk) => {
          const more = chunk.toString('latin1').split('HTTP/1.1 ').length - 1;
          answers += more;
          answered += more;
          if (answers < PER_CONNECTION) return;
          answers = 0;
          socket.write(stops);
        });
        socket.resume();
        socket.write(stops);
      },
    });
    return {
      get counts() {
        return { ...held.counts, answered };
      },
      stop: () => held.stop(),
    };
  },
};
