/** What came over the topic stream between two looks. */
export interface Look {
  readonly ms: number;
  /** How long of it nothing more was let in. */
  readonly heldMs: number;
  /** Messages, pings and their answers. */
  readonly frames: number;
  /** Those of them that are larger than `LARGE_FRAME_BYTES`. */
  readonly large: number;
  readonly bytes: number;
}

/** Decisions of ours: how often it is looked, and over how many looks it is judged. */
export const LOOK_MS = 200;
const LOOKS = 10;
/** A chassis publishes about a hundred small messages a second, and a large one when its map changes. */
export const LARGE_FRAME_BYTES = 64 * 1024;
/** Decisions of ours: what makes a flood within two seconds, where the sender also had to wait a good part of them. */
const MANY_FRAMES = 2_000;
const MANY_LARGE = 6;
const HELD_SHARE = 0.25;

/**
 * Tells a chassis that floods the topic stream from one that had much to say once; gives the reason to end the stream,
 * for a person, or null. What waits on the way is older than it seems: a pose of unknown age is no pose.
 */
export function createTopicFlood(): (look: Look) => string | null {
  const looks: Look[] = [];
  return (look) => {
    looks.push(look);
    if (looks.length > LOOKS) looks.shift();
    if (looks.length < LOOKS) return null;
    const sum = (field: keyof Look) => looks.reduce((total, one) => total + one[field], 0);
    const isMuch = sum('frames') >= MANY_FRAMES || sum('large') >= MANY_LARGE;
    if (!isMuch || sum('heldMs') < HELD_SHARE * sum('ms')) return null;
    const seconds = (sum('ms') / 1_000).toFixed(1);
    const figures = `${sum('frames')} messages, ${(sum('bytes') / 1e6).toFixed(1)} MB within ${seconds} s`;
    return `the chassis floods the topic stream: ${figures}, more than can be read`;
  };
}
