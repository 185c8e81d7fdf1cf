/** Difference between the clocks of a server and of this machine. */
export interface ClockDifference {
  /** Positive: the clock of this machine is behind, in milliseconds. */
  readonly behindMs: number;
  /** Uncertainty either way: the whole seconds of an HTTP date, and the transit time. */
  readonly uncertainMs: number;
}

/** The time of one endpoint beside the wall clock of this machine, read over a verified connection. */
export interface ClockReading extends ClockDifference {
  readonly host: string;
  /** Of its name: two names of one address count as one clock. */
  readonly addresses: readonly string[];
}

/** What several endpoints say together of the wall clock of this machine. */
export type ClockAgreement =
  | { readonly kind: 'none' }
  /** All of them are one machine, by name or address, whose own clock may be wrong. */
  | { readonly kind: 'one'; readonly reading: ClockReading }
  /** The two that differ most. */
  | { readonly kind: 'disagree'; readonly readings: readonly [ClockReading, ClockReading] }
  | ({ readonly kind: 'agreed'; readonly hosts: readonly string[] } & ClockDifference);

/** Project decision: servers that agree may differ by so much beyond the uncertainty of their readings. */
const AGREE_MS = 2_000;
/** Project decision: the validity of certificates and pre-signed URLs depends on the clock, and so does every record. */
const MAX_CLOCK_OFFSET_MS = 60_000;

/** Two that disagree by more than their uncertainty are no majority: nothing is decided, whatever a third one says. */
export function compareClocks(readings: readonly ClockReading[]): ClockAgreement {
  const [first] = readings;
  if (first === undefined) return { kind: 'none' };
  const sorted = readings.toSorted((a, b) => a.behindMs - b.behindMs);
  for (const least of sorted) {
    const most = sorted.findLast((one) => !doAgree(least, one));
    if (most !== undefined) return { kind: 'disagree', readings: [least, most] };
  }
  const others: ClockReading[] = [];
  for (const one of readings) if (!others.some((other) => isSameMachine(one, other))) others.push(one);
  if (others.length < 2) return { kind: 'one', reading: first };
  // The range that holds each of them, so that it is right where any one of them is.
  const from = Math.min(...readings.map(({ behindMs, uncertainMs }) => behindMs - uncertainMs));
  const to = Math.max(...readings.map(({ behindMs, uncertainMs }) => behindMs + uncertainMs));
  return {
    kind: 'agreed',
    behindMs: Math.round((from + to) / 2),
    uncertainMs: Math.ceil((to - from) / 2),
    hosts: others.map(({ host }) => host),
  };
}

export function doAgree(one: ClockDifference, other: ClockDifference): boolean {
  return Math.abs(one.behindMs - other.behindMs) <= one.uncertainMs + other.uncertainMs + AGREE_MS;
}

function isSameMachine(one: ClockReading, other: ClockReading): boolean {
  return (
    one.host.toLowerCase() === other.host.toLowerCase() ||
    one.addresses.some((address) => other.addresses.includes(address))
  );
}

/** 'right' and 'wrong' only where all of the uncertainty is on one side of the limit. */
export function judgeOffset({ behindMs, uncertainMs }: ClockDifference): 'right' | 'wrong' | 'not-decided' {
  const off = Math.abs(behindMs);
  if (off + uncertainMs <= MAX_CLOCK_OFFSET_MS) return 'right';
  return off - uncertainMs > MAX_CLOCK_OFFSET_MS ? 'wrong' : 'not-decided';
}

export function secondsText(ms: number): string {
  return ms < 10_000
    ? `${(ms / 1000).toFixed(1)} s`
    : ms < 7_200_000
      ? `${Math.round(ms / 1000)} s`
      : ms < 172_800_000
        ? `${Math.round(ms / 3_600_000)} h`
        : `${Math.round(ms / 86_400_000)} days`;
}
