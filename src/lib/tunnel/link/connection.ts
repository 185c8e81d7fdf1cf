import type { Socket } from 'node:net';
import type { Clock } from '../../lifecycle/index.ts';
import { PIECE_OVERHEAD_BYTES, type ProxyLimits } from './limits.ts';

/** Pieces of one connection that wait for the WebSocket: many small ones take more memory than their bytes. */
const MAX_READ_PIECES = 64;

const NOTHING: Sent = { bytes: 0, hasMore: false };

export interface ConnectionOptions {
  /** A TCP connection: established, or just begun. */
  readonly connect: () => Socket;
  readonly limits: ProxyLimits;
  readonly clock: Clock;
  /** Of all connections of the WebSocket. */
  readonly brake: Brake;
  /** The target has not read for too long: the connection must be reset. */
  readonly onStalled: () => void;
  /** There is something to send: the connection wants turns. */
  readonly onReady: (connection: Sender) => void;
  /** Sends one DATA message. */
  readonly send: (payload: Uint8Array) => void;
  /** The target has ended it, or could not be reached, and everything before is sent. Called at most once. */
  readonly onEnded: (isConnected: boolean) => void;
  /** The socket is closed, after whichever end. Called once. */
  readonly onClosed: () => void;
}

/** One TCP connection to the target. */
export interface LocalConnection extends Sender {
  /** Writes data of the technician, also before the connection is established. False: the queue is full. */
  write(payload: Uint8Array): boolean;
  /** Bytes that the target has not taken, with their overhead. */
  queuedBytes(): number;
  /** The technician has closed it: what waits is written within the limit of time, then it is closed. Silent from now on. */
  finish(): void;
  /** Resets it at once. Silent from now on. */
  destroy(): void;
}

/**
 * Opens a connection to the target. The protocol has no half-close: the end of the target's data ends the connection.
 * Until it is connected, the socket itself keeps what is written.
 */
export function openConnection(options: ConnectionOptions): LocalConnection {
  const { limits, clock, brake } = options;
  const read: Uint8Array[] = [];
  let readBytes = 0;
  let queued = 0;
  /** The target has ended it. */
  let isOver = false;
  /** The technician has closed it, or its end was reported. */
  let isSilent = false;
  let flushing: Disposable | undefined;

  const socket = options.connect();
  let isConnected = !socket.connecting;
  const connecting = isConnected ? undefined : clock.after(limits.connectMs, () => socket.destroy());
  socket.setNoDelay(true);
  socket.once('connect', () => {
    isConnected = true;
    connecting?.[Symbol.dispose]();
  });
  socket.on('data', (bytes: Uint8Array) => {
    if (isSilent) return;
    read.push(bytes);
    readBytes += bytes.length;
    if (readBytes >= limits.readAheadBytes || read.length >= MAX_READ_PIECES) socket.pause();
    options.onReady(connection);
  });
  const onOver = () => {
    if (isOver || isSilent) return;
    isOver = true;
    options.onReady(connection);
  };
  socket.once('end', onOver);
  socket.on('error', () => {});
  socket.once('close', () => {
    connecting?.[Symbol.dispose]();
    flushing?.[Symbol.dispose]();
    settle(queued);
    onOver();
    options.onClosed();
  });

  /** Written, or given up with the socket. */
  const settle = (bytes: number) => {
    const settled = Math.min(bytes, queued);
    queued -= settled;
    brake.settled(connection, queued, settled);
  };
  const becomeSilent = () => {
    isSilent = true;
    // No more data follows for it, so no other connection has to wait.
    brake.leave(connection);
    read.length = 0;
    readBytes = 0;
  };

  const close = () => {
    // Both ends of the data must be consumed for the socket to close.
    socket.resume();
    socket.destroySoon();
    flushing ??= clock.after(limits.flushMs, () => socket.destroy());
  };

  const connection: LocalConnection = {
    write(payload) {
      if (isSilent || isOver || payload.length === 0 || !socket.writable) return true;
      const cost = payload.length + PIECE_OVERHEAD_BYTES;
      if (queued + cost > limits.queueBytes) return false;
      queued += cost;
      brake.queued(connection, queued, cost, options.onStalled);
      socket.write(payload, () => settle(cost));
      return true;
    },
    queuedBytes: () => queued,
    sendOne() {
      if (isSilent) return NOTHING;
      const [first] = read;
      const chunk = first?.subarray(0, limits.chunkBytes);
      if (first !== undefined && chunk !== undefined) {
        if (chunk.length === first.length) read.shift();
        else read[0] = first.subarray(chunk.length);
        readBytes -= chunk.length;
        options.send(chunk);
        if (readBytes < limits.readAheadBytes / 2 && read.length < MAX_READ_PIECES / 2) socket.resume();
      }
      const hasMore = read.length > 0;
      if (!hasMore && isOver) {
        becomeSilent();
        close();
        options.onEnded(isConnected);
      }
      return { bytes: (chunk?.length ?? 0) + PIECE_OVERHEAD_BYTES, hasMore };
    },
    finish() {
      if (isSilent) return;
      becomeSilent();
      if (isConnected || queued > 0) close();
      else socket.destroy();
    },
    destroy() {
      becomeSilent();
      reset(socket);
    },
  };
  return connection;
}

/**
 * Closes a socket at once, with a reset where that is possible, so that a program does not take what it received for
 * complete. The library would wait for a connect and for what is not written, and cannot reset a socket that sends a FIN.
 */
export function reset(socket: Socket): void {
  if (socket.connecting || socket.writableLength > 0 || socket.writableEnded) {
    socket.destroy();
    return;
  }
  // The library's own sends a FIN before the reset.
  socket._final = (done) => done();
  socket.resetAndDestroy();
}

/**
 * Slows the other side down. The protocol has no flow control, so the only way is not to read the WebSocket, which holds
 * up every stream; so it is done for moments only, and a program that has not read after `holdMs` loses its connection,
 * at once with every other one that has taken nothing meanwhile: else each of them would hold up the rest in its turn.
 * Project decision.
 */
export interface Brake {
  /** Bytes that wait for all local connections, with their overhead. */
  readonly queuedBytes: number;
  /** Bytes were queued for a connection. `onLate`: it has not taken them in time. */
  queued(connection: object, own: number, bytes: number, onLate: () => void): void;
  /** Bytes were written, or given up; `own` is what is left for the connection. */
  settled(connection: object, own: number, bytes: number): void;
  /** The connection is over. */
  leave(connection: object): void;
}

interface BrakeOptions {
  readonly limits: ProxyLimits;
  readonly clock: Clock;
  /** Stops and continues reading the WebSocket. */
  readonly setHeld: (isHeld: boolean) => void;
  /** The connections together have not taken enough in time, though each of them has taken something. */
  readonly onTotalLate: () => void;
}

/** A connection that data was queued for. */
interface Waiting {
  own: number;
  /** Since the hold began. */
  hasTaken: boolean;
  readonly onLate: () => void;
}

export function createBrake({ limits, clock, setHeld, onTotalLate }: BrakeOptions): Brake {
  const holding = new Map<object, Disposable>();
  const connections = new Map<object, Waiting>();
  /** Stands for all connections together. */
  const whole = {};
  let queuedBytes = 0;

  const release = (key: object) => {
    const timer = holding.get(key);
    if (timer === undefined) return;
    timer[Symbol.dispose]();
    holding.delete(key);
    if (holding.size === 0) setHeld(false);
  };
  /** One of which little waits, such as a page in a hidden tab, holds up no other. */
  const isStalled = ({ own, hasTaken }: Waiting) => !hasTaken && own > limits.queueBytes / 64;
  const late = (key: object) => {
    release(key);
    for (const [connection, waiting] of [...connections]) {
      if (connection !== key && !isStalled(waiting)) continue;
      connections.delete(connection);
      waiting.onLate();
    }
    const left = [...connections.values()].reduce((sum, { own }) => sum + own, 0);
    if (key === whole && left > limits.queueTotalBytes / 2) onTotalLate();
  };
  const hold = (key: object) => {
    if (holding.has(key)) return;
    holding.set(
      key,
      clock.after(limits.holdMs, () => late(key)),
    );
    if (holding.size > 1) return;
    for (const waiting of connections.values()) waiting.hasTaken = false;
    setHeld(true);
  };
  /** Reads on when a slow reader has taken a part, not when it has taken all. */
  const isLow = (bytes: number, limit: number) => bytes < (limit / 16) * 7;

  return {
    get queuedBytes() {
      return queuedBytes;
    },
    queued(connection, own, bytes, onLate) {
      queuedBytes += bytes;
      const waiting = connections.get(connection);
      if (waiting) waiting.own = own;
      else connections.set(connection, { own, hasTaken: false, onLate });
      if (own > limits.queueBytes / 2) hold(connection);
      if (queuedBytes > limits.queueTotalBytes / 2) hold(whole);
    },
    settled(connection, own, bytes) {
      queuedBytes -= bytes;
      const waiting = connections.get(connection);
      if (waiting) {
        waiting.own = own;
        waiting.hasTaken ||= bytes > 0;
      }
      if (isLow(own, limits.queueBytes)) release(connection);
      if (isLow(queuedBytes, limits.queueTotalBytes)) release(whole);
    },
    leave(connection) {
      connections.delete(connection);
      release(connection);
    },
  };
}

/** Something that has data for the WebSocket. */
export interface Sender {
  /** Sends one message at most. */
  sendOne(): Sent;
}

interface Sent {
  readonly bytes: number;
  readonly hasMore: boolean;
}

export interface Turns {
  /** Gives a sender its turns, until it has no more. */
  add(sender: Sender): void;
  /** Sends, as long as the WebSocket takes it. To be called when something was sent. */
  run(): void;
}

interface TurnsOptions {
  /** Bytes that are not sent yet. */
  readonly unsentBytes: () => number;
  /** Pauses while more wait in the WebSocket, and continues below half of it. */
  readonly pauseBytes: number;
  /** What a sender that had nothing for a while may catch up. */
  readonly creditBytes: number;
}

/**
 * Shares the WebSocket between the local connections by bytes: the next turn has the one that was served least. Turns
 * of one message each in a circle would not do: a connection whose data is read a moment late misses a turn every time.
 */
export function createTurns({ unsentBytes, pauseBytes, creditBytes }: TurnsOptions): Turns {
  const waiting = new Set<Sender>();
  /** Bytes that were sent for each, counted from where the others were when it came. */
  const served = new WeakMap<Sender, number>();
  /** `served` of the one whose turn it was last. */
  let level = 0;
  let isPaused = false;
  let isRunning = false;
  const servedOf = (sender: Sender) => served.get(sender) ?? level;

  const leastServed = (): Sender | undefined => {
    let least: Sender | undefined;
    for (const sender of waiting) if (least === undefined || servedOf(sender) < servedOf(least)) least = sender;
    return least;
  };

  const turns: Turns = {
    add(sender) {
      if (!waiting.has(sender)) served.set(sender, Math.max(servedOf(sender), level - creditBytes));
      waiting.add(sender);
      turns.run();
    },
    run() {
      // A sender may become ready again within its own turn.
      if (isRunning) return;
      isRunning = true;
      try {
        for (;;) {
          isPaused = unsentBytes() > (isPaused ? pauseBytes / 2 : pauseBytes);
          const sender = isPaused ? undefined : leastServed();
          if (sender === undefined) break;
          // Added again it is the last one of those that were served as much; a set keeps the order of insertion.
          waiting.delete(sender);
          const before = servedOf(sender);
          level = Math.max(level, before);
          const { bytes, hasMore } = sender.sendOne();
          served.set(sender, before + bytes);
          if (hasMore) waiting.add(sender);
        }
      } finally {
        isRunning = false;
      }
    },
  };
  return turns;
}
