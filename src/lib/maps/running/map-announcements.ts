import { failureDetail, openTopicStream, type TopicMessage, type TopicStreamOptions } from '../../chassis/index.ts';
import { GwError } from '../../error/index.ts';
import { overlaysSource } from '../../overlays/index.ts';

/** Access to the topic stream of a chassis. */
export type TopicAccess = Pick<TopicStreamOptions, 'endpoint' | 'dialer' | 'clock' | 'secret'>;

/** One message of `/map/info`: the running map as announced by the chassis. */
export interface Announcement {
  readonly name: string;
  readonly uid: string;
  readonly mapVersion: number | null;
  readonly overlaysVersion: number | null;
  /** Source of its overlays: content of a string, or JSON text of an object; null when the message has none. */
  readonly overlays: string | null;
}

/** Messages of `/map/info` received over one connection. */
export interface MapAnnouncements extends Disposable {
  /** The newest message; null when none was received. */
  latest(): Announcement | null;
  /** Messages received so far. */
  count(): number;
  /** Error of the stream or of its last rejected message; null without one. */
  problem(): string | null;
  /** Whether the connection has ended or was never established. */
  isOver(): boolean;
  /** Resolves at the next message, at the end of the connection, or after `ms`. Never rejects. */
  next(ms: number): Promise<void>;
}

const TOPIC = '/map/info';

/**
 * Subscribes to `/map/info`. A stream that cannot be opened is reported by `problem`; throws INTERRUPTED only.
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
    // Subscriptions for single topics are supported by every software version.
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
    problem = `the topic stream cannot be opened: ${failureDetail(error)}`;
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
