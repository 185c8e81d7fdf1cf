import type { ChassisClient } from '../../chassis/index.ts';
import type { ChassisMapWrites } from '../../chassis/map-writes.ts';
import { GwError } from '../../error/index.ts';
import type { Clock } from '../../lifecycle/index.ts';
import { onAbort } from '../../lifecycle/index.ts';
import { overlaysOf, reasonOf } from '../live-maps.ts';
import { unreadableMap } from '../map-reading.ts';
import type { ArchivedMap } from '../model.ts';

/** Dependencies of every write. */
export interface WriteTools {
  readonly client: ChassisClient;
  readonly writes: ChassisMapWrites;
  readonly clock: Clock;
  readonly pace: WritePace;
  /** Aborted by the user. A started step continues for `graceMs`: see `withGrace`. */
  readonly signal: AbortSignal;
  readonly onProgress: (text: string) => void;
  /** Called right before each order is sent. */
  readonly onSend: () => void;
}

/** Intervals and timeouts. Project decisions; tests pass shorter ones. */
export interface WritePace {
  /** Poll interval. */
  readonly pollMs: number;
  /** Time until a connected chassis must return the written content. */
  readonly settleMs: number;
  /** The same when the response to the write was lost, since it may still be in progress. */
  readonly settleLostMs: number;
  /** Time limit of retries when the chassis does not answer. */
  readonly readBackMs: number;
  /** Time until /map/info must announce the written content. */
  readonly announceMs: number;
  /** Time left for each step after Ctrl-C. */
  readonly graceMs: number;
}

export const defaultPace: WritePace = {
  pollMs: 400,
  settleMs: 2_000,
  settleLostMs: 6_000,
  readBackMs: 60_000,
  announceMs: 5_000,
  graceMs: 15_000,
};

/**
 * Runs one step of work that must not be aborted in the middle: after an abort by the user each step still has
 * `graceMs`.
 */
export async function withGrace<T>(
  { signal, clock, pace }: Pick<WriteTools, 'signal' | 'clock' | 'pace'>,
  work: (grace: AbortSignal) => Promise<T>,
): Promise<T> {
  const ending = new AbortController();
  let timer: Disposable | undefined;
  using _aborted = onAbort(signal, () => {
    timer ??= clock.after(pace.graceMs, () => {
      ending.abort(new GwError('INTERRUPTED', 'Interrupted, and the grace period has ended.'));
    });
  });
  try {
    return await work(ending.signal);
  } finally {
    timer?.[Symbol.dispose]();
  }
}

/** What became of sending an order. */
export type Sent<T> =
  | { readonly kind: 'answered'; readonly value: T }
  /** It surely never reached the chassis. */
  | { readonly kind: 'not-sent'; readonly why: string }
  /** The chassis refused it, which should but need not mean that nothing was changed. */
  | { readonly kind: 'refused'; readonly why: string }
  /** It may have been accepted. */
  | { readonly kind: 'lost'; readonly why: string };

/** Sends an order once. Chassis and network errors are results. */
export async function send<T>(tools: WriteTools, order: (grace: AbortSignal) => Promise<T>): Promise<Sent<T>> {
  tools.onSend();
  try {
    return { kind: 'answered', value: await withGrace(tools, order) };
  } catch (error) {
    if (!(error instanceof GwError) || error.code === 'INTERNAL') throw error;
    return { kind: deliveryOf(error), why: reasonOf(error) };
  }
}

/** Whether a failed order may have reached the chassis. */
export function deliveryOf(error: GwError): 'not-sent' | 'refused' | 'lost' {
  // The serial number is verified on the same connection before the order is sent.
  if (error.code === 'CHASSIS_WRONG_DEVICE') return 'not-sent';
  if (error.code === 'CHASSIS_REFUSED') return 'refused';
  return error.code === 'CHASSIS_NOT_CONNECTED' && error.details?.orderAccepted !== 'unknown' ? 'not-sent' : 'lost';
}

/** A map as read back; 'gone': no longer listed. */
export type ReadBack =
  | ({ readonly kind: 'read'; readonly data: Uint8Array } & Pick<ArchivedMap, 'overlays' | 'overlaysForm'>)
  | { readonly kind: 'gone' }
  | { readonly kind: 'unknown'; readonly why: string };

/**
 * Reads a map back until `isExpected`, or until the chassis has answered otherwise for `settleMs`. Connection errors are
 * retried for `readBackMs`. The serial number is verified with every read.
 */
export async function readMapBack(
  tools: WriteTools,
  id: string,
  isExpected: (overlays: string | null, data: Uint8Array) => boolean,
  settleMs: number,
): Promise<ReadBack> {
  return await settle<ReadBack>(tools, settleMs, async (grace) => {
    const data = await readExisting(tools.client, id, grace);
    if (data === null) return { found: { kind: 'gone' }, expected: false };
    const overlays = overlaysOf(data);
    return { found: { kind: 'read', data, ...overlays }, expected: isExpected(overlays.overlays, data) };
  });
}

/** null when the chassis no longer lists the map. */
async function readExisting(client: ChassisClient, id: string, signal: AbortSignal): Promise<Uint8Array | null> {
  await client.identity(signal);
  const { maps, damaged } = await client.listMaps(signal);
  if (![...maps, ...damaged].some((item) => String(item.id) === id)) {
    const nameless = damaged.find((item) => item.id === null);
    // It may be this map, which is then not gone.
    if (nameless !== undefined) throw unreadableMap(nameless);
    return null;
  }
  return await client.mapBytes(id, signal);
}

/**
 * Polls until the expected value is found, or another one for `settleMs`. Values read before a lost connection do not
 * count: a chassis that stays silent gives 'unknown'.
 */
export async function settle<F>(
  tools: WriteTools,
  settleMs: number,
  poll: (grace: AbortSignal) => Promise<{ readonly found: F; readonly expected: boolean }>,
): Promise<F | { readonly kind: 'unknown'; readonly why: string }> {
  const { clock, pace, onProgress } = tools;
  try {
    return await withGrace(tools, async (grace) => {
      const began = clock.monotonicMs();
      let answeredAt: number | undefined;
      for (;;) {
        const now = clock.monotonicMs();
        try {
          const { found, expected } = await poll(grace);
          answeredAt ??= now;
          if (expected || now - answeredAt >= settleMs) return found;
        } catch (error) {
          if (!(error instanceof GwError) || error.code === 'INTERNAL' || grace.aborted) throw error;
          const isFinal = error.code === 'CHASSIS_WRONG_DEVICE';
          if (isFinal || now - began >= pace.readBackMs) return { kind: 'unknown', why: reasonOf(error) };
          answeredAt = undefined;
          onProgress(`reading back: ${reasonOf(error)}; retrying`);
        }
        await clock.sleep(pace.pollMs, grace);
      }
    });
  } catch (error) {
    if (!(error instanceof GwError) || error.code !== 'INTERRUPTED') throw error;
    return { kind: 'unknown', why: reasonOf(error) };
  }
}
