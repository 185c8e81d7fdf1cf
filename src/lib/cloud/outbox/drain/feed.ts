import { PAGE_BYTES, PAGE_MESSAGES } from '../limits.ts';
import { type MessageClass, messageClasses } from '../model.ts';
import { classIndexOf } from '../store/keys.ts';
import type { StoredMessage } from '../store/model.ts';
import type { StoreCalls } from '../thread/messages.ts';
import { unpackMessages } from '../thread/packed.ts';

type PageRequest = StoreCalls['page']['request'];
type PageResult = StoreCalls['page']['result'];

export interface FeedOptions {
  /** Null: the store cannot be read at the moment. */
  readonly page: (request: Omit<PageRequest, 'recordId'>) => Promise<PageResult | null>;
  /** Messages that are not to be sent. */
  readonly isSkipped: (key: number) => boolean;
  /** Called when `next` may have more than before. */
  readonly wake: () => void;
}

/** The kept messages in the order in which they are sent; pages of them are in memory. */
export interface Feed {
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

export function createFeed({ page, isSkipped, wake }: FeedOptions): Feed {
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
