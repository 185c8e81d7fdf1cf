// Loads that cost the parser of the gateway much for each byte, without end, by name.
import { addresses, holdConnections, requestText } from '../attack.js';

/** @source specification, 'Operator server': the read-only socket, the only one that a remote tunnel reaches */
const READ_ONLY = { host: '127.0.0.1', port: 5174 };
const BLOCK_BYTES = 64 * 1024;
const CHUNKED = ['Host: 127.0.0.1', 'Content-Type: application/json', 'Transfer-Encoding: chunked'];

const head = (line, ...more) => `${[`${line} HTTP/1.1`, ...CHUNKED, ...more].join('\r\n')}\r\n\r\n`;
const chunk = '1\r\nx\r\n';
/** Bodies for routes of every kind: with sign-in and without, the stop, none at all. */
const bodies = [
  head('POST /api/anmeldung'),
  head('GET /'),
  head('POST /api/stopp', 'Expect: 100-continue'),
  head('DELETE /api/touren/lauf'),
  head('PUT /none'),
  head('POST /api/medien'),
];
const reads = [head('GET /'), head('HEAD /service'), head('POST /api/stopp'), head('GET /api/events')];

const upgrade = 'GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n';
const tls = Buffer.concat([Buffer.from([0x16, 3, 1, 2, 0]), Buffer.alloc(512, 0xa5)]).toString('latin1');

/** `begin`: the first bytes of a connection; `repeat`: those after them, without end. */
const table = {
  chunks: { title: '8 bodies in chunks of one byte from one address', begin: bodies, repeat: chunk, connections: 8 },
  'chunks-addresses': { title: '200 such bodies from 50 addresses', begin: bodies, repeat: chunk, isSpread: true },
  'chunks-read-only': {
    title: '64 such bodies on 5174',
    begin: reads,
    repeat: chunk,
    connections: 64,
    isReadOnly: true,
  },
  'chunks-tunnel': {
    title: '32 such bodies through the support tunnel',
    begin: reads,
    repeat: chunk,
    connections: 32,
    isTunnel: true,
  },
  'chunk-extensions': {
    title: 'chunks of one byte with an extension',
    begin: bodies,
    repeat: '1;a=b\r\nx\r\n',
    isSpread: true,
  },
  trailers: {
    title: 'endless trailers',
    begin: bodies.map((text) => `${text}0\r\n`),
    repeat: 'a: b\r\n',
    isSpread: true,
  },
  'blank-lines': { title: 'empty lines before a request', begin: [''], repeat: '\r\n', isSpread: true },
  'header-lines': {
    title: 'header lines of one byte',
    begin: ['GET / HTTP/1.1\r\n'],
    repeat: 'a:\r\n',
    isSpread: true,
  },
  'pipelined-options': {
    title: 'pipelined OPTIONS',
    begin: [''],
    repeat: requestText('OPTIONS', '/api/stopp'),
    isSpread: true,
  },
  upgrades: { title: 'pipelined upgrades', begin: [''], repeat: upgrade, isSpread: true },
  'tls-bytes': { title: 'bytes of TLS', begin: [''], repeat: tls, isSpread: true },
  'tiny-segments': {
    title: 'a body of one TCP segment per byte',
    begin: bodies,
    repeat: ' ',
    isSpread: true,
    blockBytes: 1,
  },
};

export const endlessLoads = new Map(
  Object.entries(table).map(
    ([name, { title, begin, repeat, connections = 200, blockBytes = BLOCK_BYTES, ...where }]) => [
      name,
      {
        name,
        title,
        isTunnel: where.isTunnel === true,
        from: where.isSpread ? addresses(30, 50) : '127.0.0.1',
        attack({ target, from }) {
          const block = Buffer.from(repeat.repeat(Math.ceil(blockBytes / repeat.length)), 'latin1');
          return holdConnections({
            target: where.isReadOnly ? READ_ONLY : target,
            from,
            count: connections,
            use(socket, index) {
              socket.setNoDelay(true);
              socket.resume();
              socket.write(begin[index % begin.length]);
              const write = () => {
                while (!socket.destroyed && socket.write(block));
              };
              socket.on('drain', write);
              write();
              return () => socket.off('drain', write);
            },
          });
        },
      },
    ],
  ),
);
