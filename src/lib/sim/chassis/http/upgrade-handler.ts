import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { paths } from '../../../chassis/wire.ts';
import type { Faults } from '../../faults.ts';
import type { TopicServer } from '../topic-server.ts';
import { readPath } from './reception.ts';
import { PAGE, REDIRECT_URL } from './wrong-answers.ts';

export interface UpgradeHandlerOptions {
  readonly faults: Pick<Faults, 'is'>;
  readonly topicServer: Pick<TopicServer, 'upgrade'>;
  readonly isBooting: () => boolean;
  readonly isClosing: () => boolean;
}

/** Passes upgrades to the topic server, or refuses them. */
export function createUpgradeHandler({ faults, topicServer, isBooting, isClosing }: UpgradeHandlerOptions) {
  return (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
    if (socket.destroyed || isClosing()) return;
    if (faults.is('redirect')) refuseUpgrade(socket, '302 Found', '', `Location: ${REDIRECT_URL}\r\n`);
    else if (faults.is('html')) refuseUpgrade(socket, '200 OK', PAGE, 'Content-Type: text/html\r\n');
    else if (faults.is('server-error')) refuseUpgrade(socket, '500 Internal Server Error', '');
    else if (isBooting()) refuseUpgrade(socket, '503 Service Unavailable', '');
    else if (readPath(request.url) !== paths.topics) refuseUpgrade(socket, '404 Not Found', '');
    else topicServer.upgrade(request, socket, head);
  };
}

function refuseUpgrade(socket: Duplex, status: string, body: string, header = ''): void {
  const length = `Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n`;
  socket.on('error', () => {});
  socket.end(`HTTP/1.1 ${status}\r\n${header}${length}\r\n${body}`);
}
