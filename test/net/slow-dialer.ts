import { type Dialer, directDialer, type RoundTrips } from '../../src/lib/net/index.ts';

/** As through an SSH connection with these round trips. */
export function slowDialer(roundTrips: () => RoundTrips | null = () => slowLink): Dialer {
  return { way: 'via technician@192.0.2.2:22', roundTrips, dial: directDialer.dial };
}

export const slowLink: RoundTrips = { medianMs: 300, longestMs: 400, isSlow: true };
