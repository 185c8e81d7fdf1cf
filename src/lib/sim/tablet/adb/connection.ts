import { randomBytes } from 'node:crypto';
import type { Socket } from 'node:net';
import { type ChannelPort, createChannel } from './channel.ts';
import { type Keyring, readHostKey, TOKEN_BYTES } from './keyring.ts';
import type { Service } from './services.ts';
import { command, createFrameReader, type Frame, MIN_MAX_PAYLOAD, packHeader, VERSION_UNSUMMED } from './wire.ts';

/** The tablet's side that a connection uses. */
export interface TabletHost {
  /** Protocol version, and the banner `device::name=value;…;features=a,b`. */
  readonly version: number;
  readonly maxPayload: number;
  banner(): string;
  readonly keys: Keyring;
  /** Whether connections are accepted and never answered. */
  isUnresponsive(): boolean;
  /** The service of a name; undefined when there is none. */
  service(name: string): Service | undefined;
  brake(bytes: number, signal: AbortSignal): Promise<void>;
  /** Bytes after which a transfer is cut; undefined for no limit. */
  cutAfter(): number | undefined;
}

const AUTH_TOKEN = 1;
const AUTH_SIGNATURE = 2;
const AUTH_PUBLIC_KEY = 3;
/** Concurrent streams per connection; more are refused. */
const MAX_STREAMS = 64;
/** Maximum payload of one frame to the peer, which bounds the memory for a peer that stops reading. */
const MAX_PIECE_BYTES = 256 * 1024;
/** Beyond it reading is paused. */
const MAX_UNSENT_BYTES = 4 * 1024 * 1024;
/** Wrong signatures per connection. A host tries each of its keys once. */
const MAX_SIGNATURES = 64;

interface Stream {
  readonly channel: ChannelPort;
  readonly remoteId: number;
  readonly isTransfer: boolean;
  received: number;
}

/** Serves one connection of a debugging host: handshake, then streams. No received bytes make it throw. */
export function serveConnection(socket: Socket, host: TabletHost): void {
  const streams = new Map<number, Stream>();
  let lastId = 0;
  let phase: 'new' | 'asking' | 'online' = 'new';
  let token: Buffer = Buffer.alloc(0);
  let signatures = 0;
  let prompt: Disposable | undefined;
  let version = VERSION_UNSUMMED;
  let maxPayload = MIN_MAX_PAYLOAD;
  const isSummed = () => version < VERSION_UNSUMMED;

  const reader = createFrameReader({
    maxPayload: () => (phase === 'online' ? host.maxPayload : MIN_MAX_PAYLOAD),
    summed: () => phase === 'online' && isSummed(),
  });

  function send(kind: number, arg0: number, arg1: number, payload: Buffer = Buffer.alloc(0)): void {
    if (socket.destroyed) return;
    const frame = { command: kind, arg0, arg1, payload };
    socket.cork();
    // Until the peer's version is known, frames carry checksums.
    socket.write(packHeader(frame, phase !== 'online' || isSummed()));
    if (payload.length > 0) socket.write(payload);
    socket.uncork();
    if (socket.writableLength > MAX_UNSENT_BYTES) socket.pause();
  }

  function requestSignature(): void {
    phase = 'asking';
    token = randomBytes(TOKEN_BYTES);
    send(command.AUTH, AUTH_TOKEN, 0, token);
  }

  function goOnline(): void {
    send(command.CNXN, host.version, host.maxPayload, Buffer.from(host.banner()));
    phase = 'online';
  }

  function closeStreams(): void {
    for (const { channel } of streams.values()) channel.close();
    streams.clear();
  }

  function connect({ arg0, arg1 }: Frame): void {
    closeStreams();
    prompt?.[Symbol.dispose]();
    phase = 'new';
    version = Math.min(arg0, host.version);
    maxPayload = Math.min(Math.max(arg1, MIN_MAX_PAYLOAD), host.maxPayload);
    if (!host.isUnresponsive()) requestSignature();
  }

  function authenticate({ arg0, payload }: Frame): void {
    if (phase !== 'asking') return;
    if (arg0 === AUTH_SIGNATURE) {
      signatures += 1;
      if (host.keys.signer(token, payload)) goOnline();
      else if (signatures > MAX_SIGNATURES) socket.destroy();
      else requestSignature();
    } else if (arg0 === AUTH_PUBLIC_KEY) {
      const key = readHostKey(payload);
      prompt?.[Symbol.dispose]();
      if (key) {
        prompt = host.keys.prompt(key, () => {
          if (phase === 'asking' && !socket.destroyed) goOnline();
        });
      }
    }
  }

  function open({ arg0: remoteId, payload }: Frame): void {
    if (remoteId === 0) return;
    const end = payload.indexOf(0);
    const name = payload.toString('utf8', 0, end === -1 ? payload.length : end);
    const service = streams.size < MAX_STREAMS ? host.service(name) : undefined;
    if (!service) {
      send(command.CLSE, 0, remoteId);
      return;
    }
    do lastId = (lastId + 1) >>> 0 || 1;
    while (streams.has(lastId));
    const id = lastId;
    const channel = createChannel({
      maxPayload: Math.min(maxPayload, MAX_PIECE_BYTES),
      send: (piece) => send(command.WRTE, id, remoteId, piece),
      acknowledge: () => send(command.OKAY, id, remoteId),
      brake: host.brake,
    });
    const isTransfer = /^(sync|exec):/.test(name);
    streams.set(id, { channel, remoteId, isTransfer, received: 0 });
    send(command.OKAY, id, remoteId);
    const closed = () => {
      channel.close();
      if (streams.delete(id)) send(command.CLSE, id, remoteId);
    };
    service(channel).then(closed, closed);
  }

  /** The stream of a frame; undefined when the ids do not match. */
  function streamOf({ arg0, arg1 }: Frame): Stream | undefined {
    const stream = streams.get(arg1);
    return stream && (arg0 === stream.remoteId || arg0 === 0) ? stream : undefined;
  }

  function accept(frame: Frame): boolean {
    if (frame.command === command.CNXN) connect(frame);
    else if (frame.command === command.AUTH) authenticate(frame);
    else if (phase === 'online') acceptOnline(frame);
    return !socket.destroyed;
  }

  function acceptOnline(frame: Frame): void {
    if (frame.command === command.OPEN) {
      open(frame);
      return;
    }
    const stream = streamOf(frame);
    if (!stream) {
      if (frame.command === command.WRTE) send(command.CLSE, 0, frame.arg0);
      return;
    }
    if (frame.command === command.OKAY) stream.channel.acknowledged();
    else if (frame.command === command.CLSE) {
      streams.delete(frame.arg1);
      stream.channel.close();
      send(command.CLSE, frame.arg1, stream.remoteId);
    } else if (frame.command === command.WRTE) {
      stream.received += frame.payload.length;
      const limit = stream.isTransfer ? host.cutAfter() : undefined;
      const isCut = limit !== undefined && stream.received > limit;
      if (isCut || !stream.channel.deliver(frame.payload)) socket.destroy();
    }
  }

  socket.on('data', (bytes: Buffer) => {
    if (reader.feed(bytes, accept) !== undefined) socket.destroy();
  });
  socket.on('drain', () => socket.resume());
  socket.on('error', () => {});
  socket.on('close', () => {
    prompt?.[Symbol.dispose]();
    closeStreams();
  });
}
