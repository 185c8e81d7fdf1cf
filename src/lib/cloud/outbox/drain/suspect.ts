/** Losses in a row, without any PUBACK, after which messages are sent one at a time. */
const CAREFUL_AFTER = 2;
/** Losses of the connection with one message alone in flight, after which others are tried before it. */
const SUSPECT_AFTER = 5;
/** How long a message that the broker does not accept is kept back before it is sent again. */
const HELD_BACK_MS = 3_600_000;

/**
 * Finds the message that ends each connection it is sent on, so that it does not block all others for ever. It is held
 * back, and nothing else is, only when another message was acknowledged in its stead: a network that loses everything
 * holds back nothing.
 */
export interface Suspects {
  /** 1 while a message is being searched for. */
  readonly maxInFlight: number | null;
  /** Whether a message is not to be sent now. */
  isSkipped(key: number): boolean;
  /** There is nothing else to send, so the suspect is sent again. */
  nothingElse(): boolean;
  acknowledged(): void;
  /** The drain ended by a failure, with these messages in flight. */
  lost(inFlight: readonly number[]): void;
  /** Ends the time of messages that were held back long enough; whether there were any. */
  release(): boolean;
  /** Number of messages that are held back. */
  readonly heldBack: number;
}

export function createSuspects(nowMs: () => number): Suspects {
  const held = new Map<number, number>();
  let losses = 0;
  let suspect: { readonly key: number; losses: number } | null = null;
  let isTrial = false;

  return {
    get maxInFlight() {
      return losses >= CAREFUL_AFTER ? 1 : null;
    },
    isSkipped: (key) => held.has(key) || (isTrial && suspect?.key === key),
    nothingElse() {
      const wasTrial = isTrial;
      isTrial = false;
      return wasTrial;
    },
    acknowledged() {
      losses = 0;
      if (isTrial && suspect !== null) held.set(suspect.key, nowMs() + HELD_BACK_MS);
      suspect = null;
      isTrial = false;
    },
    lost(inFlight) {
      if (inFlight.length === 0) return;
      losses += 1;
      const [only] = inFlight;
      if (inFlight.length > 1 || only === undefined) return;
      // What was sent in the suspect's stead was lost as well: the connection is to blame.
      if (isTrial) suspect = null;
      isTrial = false;
      if (suspect?.key === only) suspect.losses += 1;
      else suspect = { key: only, losses: 1 };
      isTrial = suspect.losses >= SUSPECT_AFTER;
    },
    release() {
      const before = held.size;
      for (const [key, untilMs] of held) if (nowMs() >= untilMs) held.delete(key);
      return held.size < before;
    },
    get heldBack() {
      return held.size;
    },
  };
}
