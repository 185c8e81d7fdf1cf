import type { ServerResponse } from 'node:http';
import type { Clock } from '../../../lifecycle/index.ts';
import type { Faults } from '../../faults.ts';
import { writeJson } from '../json-writer.ts';
import type { RestReply } from '../rest/rest-reply.ts';

export type ReplyWriter = (response: ServerResponse, reply: RestReply) => void;

/** Pieces of a slow picture, and the interval between two of them. */
const TRICKLE_PIECES = 200;
const TRICKLE_MS = 20;

/** Writes replies of the REST interface, with the faults of JSON and of pictures. */
export function createReplyWriter(clock: Pick<Clock, 'every'>, faults: Faults): ReplyWriter {
  function trickle(response: ServerResponse, bytes: Buffer): void {
    const piece = Math.ceil(bytes.length / TRICKLE_PIECES);
    let sent = 0;
    const flow = clock.every(TRICKLE_MS, () => {
      const left = bytes.length - sent;
      if (response.destroyed || left <= 0) flow[Symbol.dispose]();
      // When the fault is switched off midway, the rest is sent at once.
      if (response.destroyed) return;
      if (left <= piece || !faults.is('image-slow')) {
        response.end(bytes.subarray(sent));
        sent = bytes.length;
      } else {
        response.write(bytes.subarray(sent, sent + piece));
        sent += piece;
      }
    });
  }

  return (response, reply) => {
    if (response.destroyed) return;
    if (!('json' in reply) && !('bytes' in reply)) {
      response.writeHead(reply.status).end();
      return;
    }
    if ('json' in reply) {
      const text = writeJson(reply.json, faults);
      const length = Buffer.byteLength(text);
      response.writeHead(reply.status, {
        'Content-Type': 'application/json',
        'Content-Length': length,
        ...reply.headers,
      });
      response.end(text);
      return;
    }
    const { status, bytes, type, flow } = reply;
    response.writeHead(status, { 'Content-Type': type, 'Content-Length': bytes.length });
    if (flow === 'slow') trickle(response, bytes);
    else if (flow === 'cut') response.write(bytes.subarray(0, bytes.length >> 1), () => response.destroy());
    else response.end(bytes);
  };
}
