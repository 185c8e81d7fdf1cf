/** Something that has data for the WebSocket. */
export interface Sender {
  /** Sends one message; returns whether more waits. */
  sendOne(): boolean;
}

export interface Turns {
  /** Gives a sender its turns, until `sendOne` returns false. */
  add(sender: Sender): void;
  /** Sends, as long as the WebSocket takes it. To be called when something was sent. */
  run(): void;
}

/**
 * Round-robin between the local connections: one message each. Pauses while more than `pauseBytes` wait in the WebSocket,
 * and continues below half of it.
 */
export function createTurns(unsentBytes: () => number, pauseBytes: number): Turns {
  const waiting = new Set<Sender>();
  let isPaused = false;
  let isRunning = false;

  const turns: Turns = {
    add(sender) {
      waiting.add(sender);
      turns.run();
    },
    run() {
      // A sender may become ready again within its own turn.
      if (isRunning) return;
      isRunning = true;
      try {
        for (const sender of waiting) {
          isPaused = unsentBytes() > (isPaused ? pauseBytes / 2 : pauseBytes);
          if (isPaused) break;
          // Deleted and added again it is the last one; a set is iterated in the order of insertion.
          waiting.delete(sender);
          if (sender.sendOne()) waiting.add(sender);
        }
      } finally {
        isRunning = false;
      }
    },
  };
  return turns;
}
