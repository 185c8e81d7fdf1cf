/** What the kernel says of one open TCP connection; null where it does not say. */
export interface ConnectionInfo {
  /** Largest packet that the path takes, in bytes, as far as the kernel has learnt it. */
  readonly pathMtuBytes: number | null;
  /** Largest part of the stream in one packet, in bytes. */
  readonly segmentBytes: number | null;
  /** Smoothed round trip time, in milliseconds. */
  readonly roundTripMs: number | null;
}

/**
 * Reads what `ss --tcp --info --numeric --no-header` prints of one connection. Words that are not known are left out,
 * so that a newer `ss` is read as well.
 */
export function parseConnectionInfo(text: string): ConnectionInfo {
  const words = text.slice(0, 16 * 1024).split(/\s+/);
  const whole = (name: string) => {
    const match = words.map((word) => new RegExp(`^${name}:(\\d{1,7})$`).exec(word)?.[1]).find(Boolean);
    return match === undefined ? null : Number(match);
  };
  const roundTrip = words.map((word) => /^rtt:(\d{1,9}(?:\.\d{1,6})?)\//.exec(word)?.[1]).find(Boolean);
  return {
    pathMtuBytes: whole('pmtu'),
    segmentBytes: whole('mss'),
    roundTripMs: roundTrip === undefined ? null : Number(roundTrip),
  };
}
