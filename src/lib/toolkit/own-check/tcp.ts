import { DialError, dialFailureText, formatEndpoint } from '../../net/index.ts';
import type { CheckContext, Toolkit } from '../toolkit.ts';
import { placeOf } from './place.ts';

export interface TcpOptions {
  readonly host: string;
  readonly port: number;
  readonly timeoutS: number;
}

/** Result of the check `tcp`. */
export interface TcpCheck {
  readonly from: string;
  readonly address: string;
  /** A connection was accepted; by the operating system there, also where its program hangs. */
  readonly reachable: boolean;
  /** Kind of failure; null where it is reachable. */
  readonly failure: string | null;
  readonly tookMs: number;
  readonly detail: string;
}

/** Opens a TCP connection to this one endpoint, sends nothing, and closes it. */
export async function checkTcp(
  { dialer, clock }: Pick<Toolkit, 'dialer' | 'clock'>,
  options: TcpOptions,
  { signal }: CheckContext,
): Promise<TcpCheck> {
  const { host, port, timeoutS } = options;
  const from = placeOf(dialer);
  const address = formatEndpoint({ host, port });
  const beganMs = clock.monotonicMs();
  try {
    const stream = await dialer.dial({ host, port }, { timeoutMs: timeoutS * 1_000, signal });
    const tookMs = Math.round(clock.monotonicMs() - beganMs);
    stream.on('error', () => {});
    stream.destroy();
    const detail = `${address} accepts connections, ${from}`;
    return { from, address, reachable: true, failure: null, tookMs, detail };
  } catch (error) {
    if (signal.aborted || !(error instanceof DialError)) throw error;
    const tookMs = Math.round(clock.monotonicMs() - beganMs);
    const detail = `${address}: ${dialFailureText[error.failure]}, ${from}`;
    return { from, address, reachable: false, failure: error.failure, tookMs, detail };
  }
}
