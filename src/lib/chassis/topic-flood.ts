/** What came over the topic stream since the last look. */
export interface Look {
  /** How often the reading of it had to rest. */
  readonly rests: number;
  readonly bytes: number;
  /** How many messages wait to be read. */
  readonly waiting: number;
}

export interface FloodVerdict {
  readonly isFlooded: boolean;
  /** Why the stream is to be ended, for a person; null while it may go on. */
  readonly end: string | null;
}

/**
 * Decisions of ours. A chassis publishes about a hundred small messages a second, and a large one when its map changes.
 */
const MANY_FRAMES = 500;
const MANY_BYTES = 512 * 1024;
const MANY_RESTS = 3;
/** Between two looks. */
export const LOOK_MS = 200;
/** More than that is a flood even where it costs next to nothing to read. */
const MOST_FRAMES = 10_000;
const MOST_BYTES = 8 * 1024 * 1024;
/** So many looks in a row. Until then a value may be as old as that without anybody seeing it. */
const MOST_LOOKS = 10;

/**
 * Tells a chassis that floods the topic stream from one that had much to say once. What waits on the way is older than
 * it seems, so a stream that stays flooded is ended: a pose of unknown age is no pose.
 */
export function createTopicFlood() {
  let frames = 0;
  let looks = 0;
  let sumFrames = 0;
  let sumBytes = 0;
  return {
    /** One frame of any kind. */
    count(): void {
      frames += 1;
    },
    judge({ rests, bytes, waiting }: Look): FloodVerdict {
      const isMuch = frames + waiting >= MANY_FRAMES || bytes >= MANY_BYTES;
      const isFlooded = (rests >= MANY_RESTS && isMuch) || frames >= MOST_FRAMES || bytes >= MOST_BYTES;
      looks = isFlooded ? looks + 1 : 0;
      sumFrames = isFlooded ? sumFrames + frames : 0;
      sumBytes = isFlooded ? sumBytes + bytes : 0;
      frames = 0;
      if (looks < MOST_LOOKS) return { isFlooded, end: null };
      const end = `the chassis floods the topic stream: ${sumFrames} messages, ${(sumBytes / 1e6).toFixed(1)} MB within ${(MOST_LOOKS * LOOK_MS) / 1_000} s, more than can be read`;
      return { isFlooded, end };
    },
  };
}
