/** Something that has data for the WebSocket. */
export interface Sender {
  /** Sends one message at most. */
  sendOne(): Sent;
}

export interface Sent {
  readonly bytes: number;
  readonly hasMore: boolean;
}

export interface Turns {
  /** Gives a sender its turns, until it has no more. */
  add(sender: Sender): void;
  /** Sends, as long as the WebSocket takes it. To be called when something was sent. */
  run(): void;
}

export interface TurnsOptions {
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
