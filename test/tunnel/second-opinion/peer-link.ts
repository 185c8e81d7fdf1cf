import type { Socket } from 'node:net';
import WebSocket from 'ws';
import { bodies, type Frame, kinds, pack, unpack } from './codec.ts';
import type { Mode } from './relay.ts';

export interface LinkOptions {
  readonly host: string;
  readonly port: number;
  readonly ca: string;
  readonly token: string;
  /** Largest payload of the next DATA. */
  readonly pieceBytes?: () => number;
}

const MAX_PIECE_BYTES = 64_512;
const HIGH_BYTES = 1024 * 1024;

/** The WebSocket of one of the two sides. */
export interface PeerLink {
  readonly web: WebSocket;
  send(frame: Partial<Frame> & { readonly type: number }): void;
  /** Sends in pieces what a local connection wrote, which pauses while too much waits. */
  sendData(socket: Socket, bytes: Buffer, head: Partial<Frame>): void;
}

export function openLink(mode: Mode, options: LinkOptions, onFrame: (frame: Frame) => void): Promise<PeerLink> {
  const { host, port, ca, token, pieceBytes = () => MAX_PIECE_BYTES } = options;
  const web = new WebSocket(`wss://${host}:${port}/tunnel?local-proxy-mode=${mode}`, ['securetunneling-3.0'], {
    ca,
    perMessageDeflate: false,
    followRedirects: false,
    headers: { 'access-token': token },
  });
  const read = bodies((body) => onFrame(unpack(body)));
  web.on('message', (data: Buffer) => read(data));
  const sendData: PeerLink['sendData'] = (socket, bytes, head) => {
    const sent = () => {
      if (web.bufferedAmount <= HIGH_BYTES / 2) socket.resume();
    };
    for (let at = 0; at < bytes.length; ) {
      const payload = bytes.subarray(at, at + Math.min(MAX_PIECE_BYTES, pieceBytes()));
      at += payload.length;
      web.send(pack({ type: kinds.data, ...head, payload }), sent);
    }
    if (web.bufferedAmount > HIGH_BYTES) socket.pause();
  };
  return new Promise((resolve, reject) => {
    web.on('error', reject);
    web.on('open', () => resolve({ web, send: (frame) => web.send(pack(frame)), sendData }));
  });
}
