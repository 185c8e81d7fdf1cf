import type { Socket } from 'node:net';
import type { TurnReader } from './turns.ts';

export interface Reader extends TurnReader {
  /** Passes the next piece to the HTTP parser. False when there is none, or when the parser takes none now. */
  parsePiece(): boolean;
  /** To be called when `pieceBytes` may have risen from 0. */
  wake(): void;
}

export interface ReadingOptions {
  readonly peer: string;
  /** Asks for a call of `parsePiece`, at once or later; never twice before it. */
  readonly schedule: (reader: Reader) => void;
  /** Size of the next piece; 0: nothing may be parsed now. */
  readonly pieceBytes: () => number;
  readonly onParsed: (bytes: number) => void;
}

/**
 * Takes over the reading of a connection that Node's HTTP server has just accepted, so that received bytes wait in the
 * bounded buffer of the socket until their turn. Node by itself parses up to 2 MiB of a connection per round of the
 * event loop, with a call and a buffer for each chunk of a body: 0.3 s for chunks of one byte (measured).
 */
export function takeOverReading(socket: Socket, options: ReadingOptions): Reader {
  const { peer, schedule, pieceBytes, onParsed } = options;
  let isScheduled = false;
  /** The parser's own flow control: a body that is not consumed, or answers that are not read. */
  let isPaused = false;
  const reader: Reader = { peer, parsePiece, wake };

  function wake(): void {
    if (isScheduled || isPaused || pieceBytes() === 0) return;
    isScheduled = true;
    schedule(reader);
  }

  function parsePiece(): boolean {
    isScheduled = false;
    // After the end of the writing side the connection only waits for its close.
    if (isPaused || !socket.writable) return false;
    const piece = socket.read(Math.min(socket.readableLength, pieceBytes()));
    if (piece === null) return false;
    onParsed(piece.length);
    if (socket.readableLength > 0) wake();
    // Emits 'end' when everything was read.
    else socket.read(0);
    return true;
  }

  // With this listener nothing flows by itself; each `read` emits 'data', on which Node's server parses.
  socket.on('readable', wake);
  // The methods that Node's server calls on any stream; those of the socket do nothing while it has that listener.
  socket.pause = () => {
    isPaused = true;
    return socket;
  };
  socket.resume = () => {
    isPaused = false;
    wake();
    return socket;
  };
  return reader;
}
