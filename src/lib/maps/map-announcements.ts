import { failureDetail, openTopicStream, type TopicMessage, type TopicStreamOptions } from '../chassis/index.ts';
import { GwError } from '../error/index.ts';
import { overlaysSource } from '../overlays/index.ts';

/** The way to the topic stream of a chassis. */
export type TopicAccess = Pick<TopicStreamOptions, 'endpoint' | 'dialer' | 'clock' | 'secret'>;

/** One message of `/map/info`: the map by which the robot drives, as the chassis says. */
export interface Announcement {
  readonly name: string;
  readonly uid: string;
  readonly mapVersion: number | null;
  readonly overlaysVersion: number | null;
  /** Source of its overlays: the content of a text, or the text of an object; null when the message has none. */
  readonly overlays: string | null;
}

/** What `/map/info` has said over one connection. */
export interface MapAnnouncements extends Disposable {
  /** The newest message; null when none was received. */
  latest(): Announcement | null;
  /** Messages received so far. */
  count(): number;
  /** Why nothing more will come or nothing came, as far as it is known; null when nothing speaks against it. */
  problem(): string | null;
  /** The connection has ended, or never came about. */
  isOver(): boolean;
  /** Resolves at the next message, at the end of the connection, or after `ms`. Never rejects. */
  next(ms: number): Promise<void>;
}

const TOPIC = '/map/info';

/**
 * Subscribes to `/map/info`. A stream that does not open is a problem of what it returns and no error; throws
 * INTERRUPTED only.
 * @source vendor REST book (HINWEIS): the topic is latched, with a new message on every change of the active map
 */
export async function openMapAnnouncements(access: TopicAccess, signal?: AbortSignal): Promise<MapAnnouncements> {
  let latest: Announcement | null = null;
  let count = 0;
  let problem: string | null = null;
  let isOver = false;
  const waiting = new Set<() => void>();
  const wake = () => {
    for (const resolve of [...waiting]) resolve();
  };
  const onMessage = (message: TopicMessage) => {
    if (message.kind === 'complaint') problem = message.what;
    if (message.kind !== 'data' || message.topic !== TOPIC) return;
    const { name, uid, map_version: mapVersion, overlays_version: overlaysVersion } = message.data;
    latest = { name, uid, mapVersion, overlaysVersion, overlays: overlaysOf(message.text) };
    count += 1;
    wake();
  };
  let close = () => {};
  try {
    // One topic a message: that form every software version understands.
    const stream = await openTopicStream({ ...access, topics: [TOPIC], listForm: false, onMessage, signal });
    close = () => stream.close();
    void stream.ended.then(({ detail }) => {
      isOver = true;
      problem = `the topic stream: ${detail}`;
      wake();
    });
  } catch (error) {
    if (!(error instanceof GwError) || signal?.aborted) throw error;
    isOver = true;
    problem = `the topic stream does not open: ${failureDetail(error)}`;
  }
  return {
    latest: () => latest,
    count: () => count,
    problem: () => problem,
    isOver: () => isOver,
    async next(ms) {
      if (isOver) return;
      const { promise, resolve } = Promise.withResolvers<void>();
      using _limit = access.clock.after(ms, resolve);
      waiting.add(resolve);
      await promise;
      waiting.delete(resolve);
    },
    [Symbol.dispose]: () => close(),
  };
}

function overlaysOf(frame: string): string | null {
  return overlaysSource(Buffer.from(frame)).text;
}
