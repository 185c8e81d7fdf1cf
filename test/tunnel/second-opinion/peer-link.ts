import WebSocket from 'ws';
import { bodies, type Frame, pack, unpack } from './codec.ts';
import type { Mode } from './relay.ts';

export interface LinkOptions {
  readonly host: string;
  readonly port: number;
  readonly ca: string;
  readonly token: string;
  readonly clientToken?: string;
  readonly protocol?: string;
}

/** The WebSocket of one of the two sides. */
export interface PeerLink {
  readonly web: WebSocket;
  send(frame: Partial<Frame> & { readonly type: number }): void;
  /** Resolves when it is gone. */
  readonly gone: Promise<void>;
}

export function openLink(mode: Mode, options: LinkOptions, onFrame: (frame: Frame) => void): Promise<PeerLink> {
  const { host, port, ca, token, clientToken, protocol = 'securetunneling-3.0' } = options;
  const web = new WebSocket(`wss://${host}:${port}/tunnel?local-proxy-mode=${mode}`, [protocol], {
    ca,
    perMessageDeflate: false,
    followRedirects: false,
    headers: { 'access-token': token, ...(clientToken !== undefined && { 'client-token': clientToken }) },
  });
  const read = bodies((body) => onFrame(unpack(body)));
  web.on('message', (data: Buffer) => read(data));
  const gone = new Promise<void>((resolve) => web.on('close', () => resolve()));
  return new Promise((resolve, reject) => {
    web.on('error', reject);
    web.on('open', () => resolve({ web, send: (frame) => web.send(pack(frame)), gone }));
  });
}
