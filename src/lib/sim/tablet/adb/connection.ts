import { randomBytes } from 'node:crypto';
import type { Socket } from 'node:net';
import type { Device } from '../device.ts';
import { type Channel, createChannel } from './channel.ts';
import { type Keyring, readHostKey, TOKEN_BYTES } from './keyring.ts';
import { findService } from './services.ts';
import { command, createFrameReader, type Frame, MIN_MAX_PAYLOAD, packHeader, VERSION_UNSUMMED } from './wire.ts';

const AUTH_TOKEN = 1;
const AUTH_SIGNATURE = 2;
const AUTH_PUBLIC_KEY = 3;
/** Concurrent streams per connection; more are refused. */
const MAX_STREAMS = 64;
/** Maximum payload of one frame to the peer, which bounds the memory for a peer that stops reading. */
const MAX_PIECE_BYTES = 256 * 1024;
/** Beyond it reading is paused. */
const MAX_UNSENT_BYTES = 4 * 1024 * 1024;
const CUT_AFTER_BYTES = 256 * 1024;

interface Stream {
  readonly channel: Channel;
  readonly remoteId: number;
  readonly isTransfer: boolean;
  received: number;
}

export interface ConnectionOptions {
  readonly device: Device;
  readonly keys: Keyring;
  readonly brake: (bytes: number, signal: AbortSignal) => Promise<void>;
}

/** Serves one connection of a debugging host: handshake, then streams. No received bytes make it throw. */
export function serveConnection(socket: Socket, { device, keys, brake }: ConnectionOptions): void {
  const { faults } = device;
  const streams = new Map<number, Stream>();
  let lastId = 0;
  let phase: 'new' | 'asking' | 'online' = 'new';
  let token: Buffer = Buffer.alloc(0);
  let prompt: Disposable | undefined;
  let version = VERSION_UNSUMMED;
  let maxPayload = MIN_MAX_PAYLOAD;
  const isSummed = () => version < VERSION_UNSUMMED;

  const reader = createFrameReader({
    maxPayload: () => (phase === 'online' ? device.android().maxPayload : MIN_MAX_PAYLOAD),
    summed: () => phase === 'online' && isSummed(),
  });

  function send(kind: number, arg0: number, arg1: number, payload: Buffer = Buffer.alloc(0)): void {
    if (socket.destroyed) return;
    socket.cork();
    // Until the peer's version is known, frames carry checksums.
    socket.write(packHeader({ command: kind, arg0, arg1, payload }, phase !== 'online' || isSummed()));
    socket.write(payload);
    socket.uncork();
    if (socket.writableLength > MAX_UNSENT_BYTES) socket.pause();
  }

  function requestSignature(): void {
    phase = 'asking';
    token = randomBytes(TOKEN_BYTES);
    send(command.AUTH, AUTH_TOKEN, 0, token);
  }

  function goOnline(): void {
    const { version: own, maxPayload: ownMax } = device.android();
    send(command.CNXN, own, ownMax, Buffer.from(device.banner()));
    phase = 'online';
  }

  function close(): void {
    prompt?.[Symbol.dispose]();
    for (const { channel } of streams.values()) channel.close();
    streams.clear();
  }

  function connect({ arg0, arg1 }: Frame): void {
    close();
    phase = 'new';
    version = Math.min(arg0, device.android().version);
    maxPayload = Math.min(Math.max(arg1, MIN_MAX_PAYLOAD), MAX_PIECE_BYTES);
    if (!faults.is('tablet-offline')) requestSignature();
  }

  function authenticate({ arg0, payload }: Frame): void {
    if (phase !== 'asking') return;
    if (arg0 === AUTH_SIGNATURE) {
      if (keys.isSigned(token, payload)) goOnline();
      else requestSignature();
    } else if (arg0 === AUTH_PUBLIC_KEY) {
      const key = readHostKey(payload);
      prompt?.[Symbol.dispose]();
      if (key) {
        prompt = keys.prompt(key, () => {
          if (phase === 'asking' && !socket.destroyed) goOnline();
        });
      }
    }
  }

  function open({ arg0: remoteId, payload }: Frame): void {
    if (remoteId === 0) return;
    const name = payload.toString('utf8').split('\0', 1)[0] ?? '';
    const service = streams.size < MAX_STREAMS ? findService(name, device) : undefined;
    if (!service) {
      send(command.CLSE, 0, remoteId);
      return;
    }
    lastId += 1;
    const id = lastId;
    const channel = createChannel({
      maxPayload,
      send: (piece) => send(command.WRTE, id, remoteId, piece),
      acknowledge: () => send(command.OKAY, id, remoteId),
      brake,
    });
    streams.set(id, { channel, remoteId, isTransfer: /^(sync|exec):/.test(name), received: 0 });
    send(command.OKAY, id, remoteId);
    const closed = () => {
      channel.close();
      if (streams.delete(id)) send(command.CLSE, id, remoteId);
    };
    service(channel).then(closed, closed);
  }

  function accept(frame: Frame): boolean {
    if (frame.command === command.CNXN) connect(frame);
    else if (frame.command === command.AUTH) authenticate(frame);
    else if (phase === 'online' && frame.command === command.OPEN) open(frame);
    else if (phase === 'online') acceptInStream(frame);
    return !socket.destroyed;
  }

  function acceptInStream({ command: kind, arg0, arg1, payload }: Frame): void {
    const stream = streams.get(arg1);
    if (!stream || (arg0 !== stream.remoteId && arg0 !== 0)) {
      if (kind === command.WRTE) send(command.CLSE, 0, arg0);
    } else if (kind === command.OKAY) stream.channel.acknowledged();
    else if (kind === command.CLSE) {
      streams.delete(arg1);
      stream.channel.close();
      send(command.CLSE, arg1, stream.remoteId);
    } else if (kind === command.WRTE) {
      stream.received += payload.length;
      const isCut = stream.isTransfer && faults.is('tablet-cut') && stream.received > CUT_AFTER_BYTES;
      if (isCut || !stream.channel.deliver(payload)) socket.destroy();
    }
  }

  socket.on('data', (bytes: Buffer) => {
    if (!reader.feed(bytes, accept)) socket.destroy();
  });
  socket.on('drain', () => socket.resume());
  socket.on('error', () => {});
  socket.on('close', close);
}
