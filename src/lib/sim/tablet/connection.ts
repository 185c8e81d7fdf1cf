import { randomBytes } from 'node:crypto';
import type { Socket } from 'node:net';
import { type ChannelPort, createChannel } from './channel.ts';
import { readHostKey, TOKEN_BYTES } from './host-key.ts';
import type { Keyring } from './keyring.ts';
import type { Service } from './services.ts';
import { command, createFrameReader, type Frame, packHeader, SMALLEST_MAXIMUM, VERSION_UNSUMMED } from './wire.ts';

/** What a connection needs of its tablet. */
export interface ConnectionHost {
  /** The protocol that this tablet speaks, and how it presents itself: `device::name=value;…;features=a,b`. */
  readonly version: number;
  readonly mostPayload: number;
  banner(): string;
  readonly keys: Keyring;
  /** Connections are taken and never answered. */
  isDeaf(): boolean;
  /** What runs behind a name; undefined where nothing does. */
  service(name: string): Service | undefined;
  brake(bytes: number, signal: AbortSignal): Promise<void>;
  /** How many bytes one transfer gets through; undefined for all. */
  cutAfter(): number | undefined;
}

const AUTH_TOKEN = 1;
const AUTH_SIGNATURE = 2;
const AUTH_PUBLIC_KEY = 3;
/** More streams in one connection are refused. */
const MOST_STREAMS = 64;
/** Longest piece in one frame to the peer, so that a peer that stops reading holds little. */
const LONGEST_PIECE = 256 * 1024;
/** With so much unsent nothing more is read. */
const MOST_UNSENT = 4 * 1024 * 1024;
/** Wrong signatures before a connection is ended. A machine tries each of its keys once. */
const MOST_SIGNATURES = 64;

interface Stream {
  readonly channel: ChannelPort;
  readonly remoteId: number;
  readonly isTransfer: boolean;
  received: number;
}

/** One connection of a machine that debugs: handshake, then streams. Nothing that it sends throws. */
export function serveConnection(socket: Socket, host: ConnectionHost): void {
  const streams = new Map<number, Stream>();
  let lastId = 0;
  let phase: 'new' | 'asking' | 'online' = 'new';
  let token: Buffer = Buffer.alloc(0);
  let signatures = 0;
  let prompt: Disposable | undefined;
  let version = VERSION_UNSUMMED;
  let mostPayload = SMALLEST_MAXIMUM;
  const isSummed = () => version < VERSION_UNSUMMED;

  const reader = createFrameReader({
    mostPayload: () => (phase === 'online' ? host.mostPayload : SMALLEST_MAXIMUM),
    summed: () => phase === 'online' && isSummed(),
  });

  function send(kind: number, arg0: number, arg1: number, payload: Buffer = Buffer.alloc(0)): void {
    if (socket.destroyed) return;
    const frame = { command: kind, arg0, arg1, payload };
    socket.cork();
    // The first frames are summed for peers that have not yet said whether they want it.
    socket.write(packHeader(frame, phase !== 'online' || isSummed()));
    if (payload.length > 0) socket.write(payload);
    socket.uncork();
    if (socket.writableLength > MOST_UNSENT) socket.pause();
  }

  function askForSignature(): void {
    phase = 'asking';
    token = randomBytes(TOKEN_BYTES);
    send(command.AUTH, AUTH_TOKEN, 0, token);
  }

  function goOnline(): void {
    send(command.CNXN, host.version, host.mostPayload, Buffer.from(host.banner()));
    phase = 'online';
  }

  function shutStreams(): void {
    for (const { channel } of streams.values()) channel.shut();
    streams.clear();
  }

  function connect({ arg0, arg1 }: Frame): void {
    shutStreams();
    prompt?.[Symbol.dispose]();
    phase = 'new';
    version = Math.min(arg0, host.version);
    mostPayload = Math.min(Math.max(arg1, SMALLEST_MAXIMUM), host.mostPayload);
    if (!host.isDeaf()) askForSignature();
  }

  function authenticate({ arg0, payload }: Frame): void {
    if (phase !== 'asking') return;
    if (arg0 === AUTH_SIGNATURE) {
      signatures += 1;
      if (host.keys.signer(token, payload)) goOnline();
      else if (signatures > MOST_SIGNATURES) socket.destroy();
      else askForSignature();
    } else if (arg0 === AUTH_PUBLIC_KEY) {
      const key = readHostKey(payload);
      prompt?.[Symbol.dispose]();
      if (key) {
        prompt = host.keys.ask(key, () => {
          if (phase === 'asking' && !socket.destroyed) goOnline();
        });
      }
    }
  }

  function open({ arg0: remoteId, payload }: Frame): void {
    if (remoteId === 0) return;
    const end = payload.indexOf(0);
    const name = payload.toString('utf8', 0, end === -1 ? payload.length : end);
    const service = streams.size < MOST_STREAMS ? host.service(name) : undefined;
    if (!service) {
      send(command.CLSE, 0, remoteId);
      return;
    }
    do lastId = (lastId + 1) >>> 0 || 1;
    while (streams.has(lastId));
    const id = lastId;
    const channel = createChannel({
      mostPayload: Math.min(mostPayload, LONGEST_PIECE),
      send: (piece) => send(command.WRTE, id, remoteId, piece),
      acknowledge: () => send(command.OKAY, id, remoteId),
      brake: host.brake,
    });
    const isTransfer = /^(sync|exec):/.test(name);
    streams.set(id, { channel, remoteId, isTransfer, received: 0 });
    send(command.OKAY, id, remoteId);
    const closed = () => {
      channel.shut();
      if (streams.delete(id)) send(command.CLSE, id, remoteId);
    };
    service(channel).then(closed, closed);
  }

  /** The stream that a frame belongs to. A machine that means another one of its own is not listened to. */
  function streamOf({ arg0, arg1 }: Frame): Stream | undefined {
    const stream = streams.get(arg1);
    return stream && (arg0 === stream.remoteId || arg0 === 0) ? stream : undefined;
  }

  function take(frame: Frame): boolean {
    if (frame.command === command.CNXN) connect(frame);
    else if (frame.command === command.AUTH) authenticate(frame);
    else if (phase === 'online') takeOnline(frame);
    return !socket.destroyed;
  }

  function takeOnline(frame: Frame): void {
    if (frame.command === command.OPEN) {
      open(frame);
      return;
    }
    const stream = streamOf(frame);
    if (!stream) {
      if (frame.command === command.WRTE) send(command.CLSE, 0, frame.arg0);
      return;
    }
    if (frame.command === command.OKAY) stream.channel.taken();
    else if (frame.command === command.CLSE) {
      streams.delete(frame.arg1);
      stream.channel.shut();
      send(command.CLSE, frame.arg1, stream.remoteId);
    } else if (frame.command === command.WRTE) {
      stream.received += frame.payload.length;
      const limit = stream.isTransfer ? host.cutAfter() : undefined;
      const isCut = limit !== undefined && stream.received > limit;
      if (isCut || !stream.channel.deliver(frame.payload)) socket.destroy();
    }
  }

  socket.on('data', (bytes: Buffer) => {
    if (reader.feed(bytes, take) !== undefined) socket.destroy();
  });
  socket.on('drain', () => socket.resume());
  socket.on('error', () => {});
  socket.on('close', () => {
    prompt?.[Symbol.dispose]();
    shutStreams();
  });
}
