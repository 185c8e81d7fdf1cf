import type { ServerResponse } from 'node:http';
import { type Connection, dropConnection, type Exchange } from '../connection.ts';

/**
 * The order of the requests of each connection: one begins when the answer before it is sent, an urgent one at once.
 * `begin` may be called twice with an urgent one. Of more than `maxWaiting` that wait, the connection is closed.
 */
export function createPipeline(maxWaiting: number, begin: (exchange: Exchange) => void) {
  function makeCurrent(connection: Connection, response: ServerResponse): void {
    connection.current = response;
    connection.silentTimes = 0;
    connection.heldFor = null;
    connection.isUpload = false;
  }

  /** The previous answer is sent: starts the next request. */
  function advance(connection: Connection): void {
    const next = connection.socket.destroyed ? undefined : connection.waiting.shift();
    if (next === undefined) {
      connection.waiting.length = 0;
      return;
    }
    makeCurrent(connection, next.response);
    if (connection.waiting.length > 0) next.response.once('close', () => advance(connection));
    begin(next);
  }

  return {
    /** The next request of its connection. */
    add(exchange: Exchange): void {
      const { connection, response } = exchange;
      const { current, waiting } = connection;
      if (current === null || (waiting.length === 0 && current.writableFinished)) {
        makeCurrent(connection, response);
        begin(exchange);
        return;
      }
      if (waiting.length >= maxWaiting) {
        dropConnection(connection.socket);
        return;
      }
      if (waiting.length === 0) current.once('close', () => advance(connection));
      waiting.push(exchange);
      if (exchange.isUrgent) begin(exchange);
    },
  };
}
