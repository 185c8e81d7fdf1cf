import { isUtf8 } from 'node:buffer';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Clock } from '../../../lifecycle/index.ts';
import { MASK_BYTES, unmask } from './mask.ts';
import { release, withHeader } from './message-memory.ts';

/**
 * The server's end of a WebSocket, by hand from RFC 6455: it shares no code with the client, and passes bytes on as they
 * arrive, where a library would put every message together first.
 */
export interface ServerSocket {
  /** Sends a binary message. `onWritten`: it is handed to the operating system, or the connection is over. */
  send(payload: Uint8Array, onWritten?: () => void): void;
  /** Bytes that are not handed to the operating system yet. */
  bufferedBytes(): number;
  /** Stops reading; what has arrived is still handled. */
  pause(): void;
  resume(): void;
  /** Sends a close frame and waits a limited time for the one of the client. What it sends meanwhile is left out. */
  close(code: number, reason: string): void;
  /** Ends the connection at once. */
  terminate(): void;
}

export interface ServerSocketOptions {
  /** After the answer to the handshake. */
  readonly socket: Duplex;
  readonly maxMessageBytes: number;
  readonly clock: Pick<Clock, 'after'>;
  /** A part of a binary message: memory that changes after the call. */
  readonly onBytes: (bytes: Buffer) => void;
  /** A text message begins. */
  readonly onText: () => void;
  /** The connection is over. Called once. */
  readonly onClosed: () => void;
}

/** @source RFC 6455, 5.2 */
const FIN = 0x80;
const RESERVED = 0x70;
const MASKED = 0x80;
const opcodes = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const;
const known: ReadonlySet<number> = new Set(Object.values(opcodes));
const MAX_CONTROL_BYTES = 125;
const SHORT_HEADER_BYTES = 2;
/** @source RFC 6455, 7.4.1 */
const PROTOCOL_ERROR = 1002;
const TOO_BIG = 1009;
/** Of a close frame without one. */
const NO_STATUS = 1005;
const NEVER_SENT: ReadonlySet<number> = new Set([1004, NO_STATUS, 1006]);
/** Until a close frame is answered. */
const CLOSE_WAIT_MS = 5_000;

export function openServerSocket(options: ServerSocketOptions): ServerSocket {
  const { socket, maxMessageBytes, clock, onBytes, onText, onClosed } = options;
  /** Header of the frame that is being read; empty within its payload. */
  const header: number[] = [];
  let headerBytes = SHORT_HEADER_BYTES;
  const key = new Uint8Array(MASK_BYTES);
  let keyAt = 0;
  let opcode = 0;
  let isLastFrame = false;
  let payloadLeft = 0;
  let control = Buffer.alloc(0);
  /** Of the message that is being read; null: none. */
  let messageBytes: number | null = null;
  let isText = false;
  /** `over`: nothing more is handled, also because it cannot be understood. */
  let state: 'open' | 'closing' | 'over' = 'open';
  let closeTimer: Disposable | null = null;

  function write(first: number, payload: Uint8Array, onWritten?: () => void): void {
    const bytes = withHeader(headerOf(first, payload.length), payload);
    socket.write(bytes, () => {
      release(bytes);
      onWritten?.();
    });
  }

  function sendClose(code: number, reason: string): void {
    const text = Buffer.from(reason);
    const payload = Buffer.alloc(code === NO_STATUS ? 0 : 2 + text.length);
    if (payload.length > 0) {
      payload.writeUInt16BE(code);
      text.copy(payload, 2);
    }
    write(FIN | opcodes.close, payload);
    closeTimer = clock.after(CLOSE_WAIT_MS, () => socket.destroy());
  }

  /** What follows is read all the same: unread bytes would make the end a reset. */
  function end(code: number, reason: string): void {
    if (state === 'open') sendClose(code, reason);
    state = 'over';
    socket.end();
  }

  function beginFrame(): void {
    const [first = 0, second = 0] = header;
    opcode = first & 0x0f;
    isLastFrame = (first & FIN) !== 0;
    payloadLeft = lengthOf(header);
    key.set(header.slice(-MASK_BYTES));
    keyAt = 0;
    const problem = problemOf(first, second);
    if (problem !== null) end(PROTOCOL_ERROR, problem);
    else if (opcode >= opcodes.close) control = Buffer.alloc(0);
    else beginData();
  }

  function problemOf(first: number, second: number): string | null {
    if ((first & RESERVED) !== 0) return 'reserved bits';
    if ((second & MASKED) === 0) return 'a frame without a mask';
    if (!known.has(opcode)) return `the opcode ${opcode}`;
    if (opcode >= opcodes.close) {
      return isLastFrame && payloadLeft <= MAX_CONTROL_BYTES ? null : 'a control frame that is long or in fragments';
    }
    const isWithin = messageBytes !== null;
    return (opcode === opcodes.continuation) === isWithin ? null : 'fragments in a wrong order';
  }

  function beginData(): void {
    if (opcode !== opcodes.continuation) isText = opcode === opcodes.text;
    messageBytes = (messageBytes ?? 0) + payloadLeft;
    if (messageBytes > maxMessageBytes) end(TOO_BIG, 'a message is too long');
    else if (opcode === opcodes.text && state === 'open') onText();
  }

  function readPayload(bytes: Buffer): void {
    if (opcode >= opcodes.close) control = Buffer.concat([control, bytes]);
    else if (state === 'open' && !isText) onBytes(bytes);
  }

  function endFrame(): void {
    if (opcode === opcodes.close) receiveClose();
    else if (opcode === opcodes.ping) {
      if (state === 'open') write(FIN | opcodes.pong, control);
    } else if (opcode !== opcodes.pong && isLastFrame) messageBytes = null;
  }

  /** An answer has the same code. */
  function receiveClose(): void {
    const hasCode = control.length >= 2;
    const code = hasCode ? control.readUInt16BE() : NO_STATUS;
    const isValid = hasCode ? isCloseCode(code) && isUtf8(control.subarray(2)) : control.length === 0;
    if (isValid) end(code, '');
    else end(PROTOCOL_ERROR, 'an invalid close frame');
  }

  function receive(chunk: Buffer): void {
    for (let at = 0; at < chunk.length && state !== 'over'; ) {
      if (header.length < headerBytes) {
        header.push(chunk[at] as number);
        at += 1;
        if (header.length === SHORT_HEADER_BYTES) headerBytes = headerBytesOf(header);
        if (header.length < headerBytes) continue;
        beginFrame();
      } else {
        const end = Math.min(chunk.length, at + payloadLeft);
        unmask(chunk, at, end, key, keyAt);
        keyAt = (keyAt + end - at) % MASK_BYTES;
        payloadLeft -= end - at;
        readPayload(chunk.subarray(at, end));
        at = end;
      }
      if (payloadLeft > 0 || isOver()) continue;
      header.length = 0;
      headerBytes = SHORT_HEADER_BYTES;
      endFrame();
    }
  }
  const isOver = () => state === 'over';

  if (socket instanceof Socket) socket.setTimeout(0).setNoDelay();
  socket.on('data', receive);
  socket.on('end', () => socket.end());
  socket.on('error', () => {});
  socket.once('close', () => {
    closeTimer?.[Symbol.dispose]();
    onClosed();
  });

  return {
    send(payload, onWritten) {
      if (state === 'open') write(FIN | opcodes.binary, payload, onWritten);
    },
    bufferedBytes: () => socket.writableLength,
    pause: () => void socket.pause(),
    resume: () => void socket.resume(),
    close(code, reason) {
      if (state !== 'open') return;
      state = 'closing';
      sendClose(code, reason);
    },
    terminate: () => void socket.destroy(),
  };
}

/** Bytes of the whole header, by its first two. */
function headerBytesOf([, second = 0]: readonly number[]): number {
  const mask = (second & MASKED) === 0 ? 0 : MASK_BYTES;
  return SHORT_HEADER_BYTES + extendedBytes(second & 0x7f) + mask;
}

function extendedBytes(short: number): number {
  return short === 126 ? 2 : short === 127 ? 8 : 0;
}

function lengthOf(header: readonly number[]): number {
  const short = (header[1] ?? 0) & 0x7f;
  const extended = header.slice(SHORT_HEADER_BYTES, SHORT_HEADER_BYTES + extendedBytes(short));
  return extended.length === 0 ? short : extended.reduce((length, byte) => length * 256 + byte, 0);
}

function headerOf(first: number, length: number): Buffer {
  if (length < 126) return Buffer.of(first, length);
  const isShort = length < 65_536;
  const header = Buffer.alloc(isShort ? 4 : 10);
  header[0] = first;
  header[1] = isShort ? 126 : 127;
  if (isShort) header.writeUInt16BE(length, 2);
  else header.writeUIntBE(length, 4, 6);
  return header;
}

/** Codes that may stand in a close frame. @source RFC 6455, 7.4 */
function isCloseCode(code: number): boolean {
  if (code >= 3000 && code <= 4999) return true;
  return code >= 1000 && code <= 1014 && !NEVER_SENT.has(code);
}
