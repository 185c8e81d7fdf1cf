/** Reaching robot-side addresses: dialers, what kind of failure a failed dial is, and what the machine knows. */
export {
  DialError,
  type Dialer,
  type DialFailure,
  dialFailureOf,
  dialFailureText,
  directDialer,
  type Endpoint,
} from './dialer.ts';
