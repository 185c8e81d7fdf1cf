import { GwError } from '../../../error/index.ts';
import { type Clock, createWakeup, onAbort } from '../../../lifecycle/index.ts';
import { MAX_IN_FLIGHT, PAGE_BYTES, PAGE_MESSAGES, PUBACK_TIMEOUT_MS } from '../limits.ts';
import { type MessageClass, messageClasses } from '../message-class.ts';
import type { Publisher } from '../model.ts';
import type { createPace } from '../pace.ts';
import { classIndexOf } from '../store/keys.ts';
import type { StoredMessage } from '../store/model.ts';
import type { StoreCalls } from '../thread/messages.ts';
import { unpackMessages } from '../thread/packed.ts';
import type { Suspects } from './suspect.ts';

/** Wait before a store that could not be read is read again. */
const READ_AGAIN_MS = 5_000;
const CHECK_MS = 1_000;

export interface DrainOptions {
  readonly clock: Clock;
  readonly pace: ReturnType<typeof createPace>;
  readonly page: FeedOptions['page'];
  readonly suspects: Suspects;
  /** Acknowledged messages that are not removed from the disk yet. */
  readonly isAcknowledged: (key: number) => boolean;
  /** Whether so many removals wait for the disk that no more are to be added. */
  readonly isRemovalBehind: () => boolean;
  readonly onAcknowledged: (key: number) => void;
}

/** One drain over one connection. */
export interface Drain {
  readonly feed: Feed;
  /** Removals were made, or the disk works again. */
  wake(): void;
  run(publisher: Publisher, signal: AbortSignal): Promise<void>;
}

export function createDrain(options: DrainOptions): Drain {
  const { clock, pace, page, suspects, isAcknowledged, isRemovalBehind, onAcknowledged } = options;
  const wakeup = createWakeup();
  /** When each message was published, the oldest first. */
  const inFlight = new Map<number, number>();
  const isSkipped = (key: number) => inFlight.has(key) || isAcknowledged(key) || suspects.isSkipped(key);
  let feed = createFeed({ page, isSkipped, wake: wakeup.wake });
  let failure: { readonly error: unknown } | null = null;
  let isOver = false;

  function fail(error: unknown): void {
    failure ??= { error };
    wakeup.wake();
  }

  function publish(publisher: Publisher, { key, topic, payload }: StoredMessage): void {
    inFlight.set(key, clock.monotonicMs());
    const acknowledged = () => {
      inFlight.delete(key);
      // Also after the end of this drain: the broker has it.
      onAcknowledged(key);
      if (!isOver) suspects.acknowledged();
      wakeup.wake();
    };
    try {
      publisher.publish(topic, payload).then(acknowledged, fail);
    } catch (error) {
      fail(error);
    }
  }

  /** Publishes what may be published now; how long to wait for more, or null: until woken. */
  function step(publisher: Publisher): number | null {
    for (;;) {
      const limit = suspects.maxInFlight ?? MAX_IN_FLIGHT;
      if (failure !== null || inFlight.size >= limit || isRemovalBehind()) return null;
      const found = feed.next();
      if (found === 'wait') return null;
      if (found === 'failed') return READ_AGAIN_MS;
      if (found === null) {
        if (inFlight.size > 0 || !suspects.nothingElse()) return null;
        readAgain();
      } else if (isSkipped(found.key)) {
        feed.take(found);
      } else {
        const waitMs = pace.take();
        if (waitMs > 0) return waitMs;
        feed.take(found);
        publish(publisher, found);
      }
    }
  }

  function readAgain(): void {
    feed = createFeed({ page, isSkipped, wake: wakeup.wake });
    wakeup.wake();
  }

  function check(): void {
    // A message that was held back long enough is older than what was read since.
    if (suspects.release()) readAgain();
    const [oldest] = inFlight.values();
    if (oldest === undefined || clock.monotonicMs() - oldest < PUBACK_TIMEOUT_MS) return;
    fail(new GwError('CLOUD_NO_ANSWER', `The broker has not acknowledged a message for ${PUBACK_TIMEOUT_MS} ms.`));
  }

  return {
    get feed() {
      return feed;
    },
    wake: wakeup.wake,
    async run(publisher, signal) {
      using _aborted = onAbort(signal, wakeup.wake);
      using _check = clock.every(CHECK_MS, check);
      while (!signal.aborted && failure === null) {
        const waitMs = step(publisher);
        if (failure !== null) break;
        using _timer =
          waitMs === null ? null : clock.after(waitMs, waitMs === READ_AGAIN_MS ? () => feed.retry() : wakeup.wake);
        await wakeup.wait();
      }
      isOver = true;
      // The signal may be that of the connection, whose end then comes before the rejections of the publisher.
      suspects.lost([...inFlight.keys()]);
      if (!signal.aborted && failure !== null) throw failure.error;
    },
  };
}

type PageRequest = StoreCalls['page']['request'];
type PageResult = StoreCalls['page']['result'];

interface FeedOptions {
  /** Null: the store cannot be read at the moment. */
  readonly page: (request: Omit<PageRequest, 'recordId'>) => Promise<PageResult | null>;
  /** Messages that are not to be sent. */
  readonly isSkipped: (key: number) => boolean;
  /** Called when `next` may have more than before. */
  readonly wake: () => void;
}

/** The kept messages in the order in which they are sent; pages of them are in memory. */
interface Feed {
  /**
   * The next message: of the most important class that has one, the oldest. 'wait': one is being read. 'failed': it
   * cannot be read now. null: there is none.
   */
  next(): StoredMessage | 'wait' | 'failed' | null;
  /** Takes the message that `next` has just returned. */
  take(message: StoredMessage): void;
  /** A message was accepted. */
  added(messageClass: MessageClass, key: number): void;
  /** Reads again after 'failed'. */
  retry(): void;
}

interface ClassFeed {
  readonly name: MessageClass;
  buffer: StoredMessage[];
  /** Position in the buffer, since removing from its start copies it. */
  at: number;
  /** Payloads in the buffer. */
  bytes: number;
  /** The last key that was read. */
  readUpTo: number;
  /** The newest key that is known to exist. */
  newest: number;
  state: 'idle' | 'reading' | 'failed';
}

function createFeed({ page, isSkipped, wake }: FeedOptions): Feed {
  const classes = messageClasses.map(
    (name): ClassFeed => ({
      name,
      buffer: [],
      at: 0,
      bytes: 0,
      readUpTo: -1,
      newest: Number.POSITIVE_INFINITY,
      state: 'idle',
    }),
  );

  async function read(feed: ClassFeed): Promise<void> {
    feed.state = 'reading';
    const request = { class: feed.name, after: feed.readUpTo, maxMessages: PAGE_MESSAGES, maxBytes: PAGE_BYTES };
    const result = await page(request);
    feed.state = result === null ? 'failed' : 'idle';
    if (result !== null) {
      const messages = unpackMessages(result.messages);
      const more = messages.filter(({ key }) => !isSkipped(key));
      feed.buffer = [...feed.buffer.slice(feed.at), ...more];
      feed.at = 0;
      feed.bytes += more.reduce((sum, { payload }) => sum + payload.byteLength, 0);
      feed.readUpTo = Math.max(feed.readUpTo, result.isEnd ? result.newestKey : (messages.at(-1)?.key ?? -1));
      // Messages that were accepted after this was read are known by `added`.
      if (feed.newest === Number.POSITIVE_INFINITY && result.isEnd) feed.newest = feed.readUpTo;
      if (result.recordKey !== null) added('record', result.recordKey);
    }
    wake();
  }

  function added(messageClass: MessageClass, key: number): void {
    for (const feed of classes) {
      if (feed.name !== messageClass || feed.newest === Number.POSITIVE_INFINITY) continue;
      feed.newest = Math.max(feed.newest, key);
    }
    wake();
  }

  return {
    next() {
      for (const feed of classes) {
        const isLow = feed.buffer.length - feed.at < PAGE_MESSAGES / 2 && feed.bytes < PAGE_BYTES / 2;
        const hasMore = feed.newest > feed.readUpTo;
        if (hasMore && feed.state === 'idle' && isLow) void read(feed);
        const message = feed.buffer[feed.at];
        if (message !== undefined) return message;
        if (hasMore) return feed.state === 'failed' ? 'failed' : 'wait';
      }
      return null;
    },
    take(message) {
      const feed = classes[classIndexOf(message.key)];
      if (feed === undefined) return;
      feed.at += 1;
      feed.bytes -= message.payload.byteLength;
    },
    added,
    retry() {
      for (const feed of classes) if (feed.state === 'failed') feed.state = 'idle';
      wake();
    },
  };
}
