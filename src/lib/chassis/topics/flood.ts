/** Traffic of the topic stream in one sampling interval. */
export interface Sample {
  readonly ms: number;
  /** How long reading was paused. */
  readonly heldMs: number;
  /** Messages, pings and pongs. */
  readonly frames: number;
  /** Frames larger than `LARGE_FRAME_BYTES`. */
  readonly large: number;
  readonly bytes: number;
}

/** Project decisions: sampling interval, and samples in the window. */
export const SAMPLE_MS = 200;
const WINDOW_SAMPLES = 10;
/** A chassis publishes about a hundred small messages a second, and a large one when its map changes. */
export const LARGE_FRAME_BYTES = 64 * 1024;
/** Project decisions: a flood exceeds one of these within two seconds, while reading was paused for a good part of them. */
const MANY_FRAMES = 2_000;
const MANY_LARGE = 6;
const HELD_SHARE = 0.25;

/**
 * Distinguishes a flood of the topic stream from a single burst; returns the reason to end the stream, or null.
 * Buffered messages are older than their arrival time suggests, and a pose of unknown age must not be used.
 */
export function createTopicFlood(): (sample: Sample) => string | null {
  const samples: Sample[] = [];
  return (sample) => {
    samples.push(sample);
    if (samples.length > WINDOW_SAMPLES) samples.shift();
    if (samples.length < WINDOW_SAMPLES) return null;
    const sum = (field: keyof Sample) => samples.reduce((total, one) => total + one[field], 0);
    const isMuch = sum('frames') >= MANY_FRAMES || sum('large') >= MANY_LARGE;
    if (!isMuch || sum('heldMs') < HELD_SHARE * sum('ms')) return null;
    const seconds = (sum('ms') / 1_000).toFixed(1);
    const figures = `${sum('frames')} messages, ${(sum('bytes') / 1e6).toFixed(1)} MB within ${seconds} s`;
    return `topic stream flooded: ${figures}, more than gw can read`;
  };
}
