import type { ChassisClient } from '../chassis/index.ts';
import type { ChassisMapWrites } from '../chassis/map-writes.ts';
import { GwError } from '../error/index.ts';
import type { Clock } from '../lifecycle/index.ts';
import { onAbort } from '../lifecycle/index.ts';
import { overlaysOf, reasonOf } from './live-maps.ts';
import type { ArchivedMap } from './model.ts';

/** What every write needs: the calls, time, and how much of it is left once a person has pressed Ctrl-C. */
export interface WriteTools {
  readonly client: ChassisClient;
  readonly writes: ChassisMapWrites;
  readonly clock: Clock;
  readonly pace: WritePace;
  /** The person's own signal. It never cuts what was begun: see `within`. */
  readonly signal: AbortSignal;
  readonly onProgress: (text: string) => void;
  /** Called right before each order leaves. */
  readonly onSend: () => void;
}

/** Decisions of ours, in milliseconds. Tests pass shorter ones. */
export interface WritePace {
  /** Between two looks. */
  readonly pollMs: number;
  /** So long a chassis that answers may take until a read shows what was written. */
  readonly settleMs: number;
  /** The same, when the answer to the write was lost: it may still be at work. */
  readonly settleLostMs: number;
  /** So long a chassis that does not answer is asked again. */
  readonly readBackMs: number;
  /** So long /map/info may take until it announces what was written. */
  readonly announceMs: number;
  /** So long each step that was begun goes on after Ctrl-C. */
  readonly graceMs: number;
}

export const usualPace: WritePace = {
  pollMs: 400,
  settleMs: 2_000,
  settleLostMs: 6_000,
  readBackMs: 60_000,
  announceMs: 5_000,
  graceMs: 15_000,
};

/**
 * Runs one step of something that must not be cut in the middle: after the person's abort it has `graceMs` left,
 * however late it begins.
 */
export async function withGrace<T>(
  { signal, clock, pace }: Pick<WriteTools, 'signal' | 'clock' | 'pace'>,
  work: (grace: AbortSignal) => Promise<T>,
): Promise<T> {
  const ending = new AbortController();
  let timer: Disposable | undefined;
  using _aborted = onAbort(signal, () => {
    timer ??= clock.after(pace.graceMs, () => {
      ending.abort(new GwError('INTERRUPTED', 'Interrupted, and the time to finish in order is over.'));
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
  /** The chassis answered that it does not do it. It should have changed nothing, and nobody promises it. */
  | { readonly kind: 'refused'; readonly why: string }
  /** It may have been taken. */
  | { readonly kind: 'lost'; readonly why: string };

/** Sends an order once. Never throws for what a chassis or a network can do. */
export async function send<T>(tools: WriteTools, order: (grace: AbortSignal) => Promise<T>): Promise<Sent<T>> {
  tools.onSend();
  try {
    return { kind: 'answered', value: await withGrace(tools, order) };
  } catch (error) {
    if (!(error instanceof GwError) || error.code === 'INTERNAL') throw error;
    return { kind: fateOf(error), why: reasonOf(error) };
  }
}

/** What a failed order says about whether the chassis took it. */
export function fateOf(error: GwError): 'not-sent' | 'refused' | 'lost' {
  // The serial number is asked on the very connection that would have carried the order.
  if (error.code === 'CHASSIS_WRONG_DEVICE') return 'not-sent';
  if (error.code === 'CHASSIS_REFUSED') return 'refused';
  return error.code === 'CHASSIS_NOT_CONNECTED' && error.details?.orderAccepted !== 'unknown' ? 'not-sent' : 'lost';
}

/** A map as it was read back; 'gone' when the chassis lists it no more. */
export type ReadBack =
  | ({ readonly kind: 'read'; readonly data: Uint8Array } & Pick<ArchivedMap, 'overlays' | 'overlaysForm'>)
  | { readonly kind: 'gone' }
  | { readonly kind: 'unknown'; readonly why: string };

/**
 * Reads a map back until `isExpected`, or until the chassis has given the same other answer for `settleMs`. One that
 * does not answer is asked again for `readBackMs`. Only the chassis of this serial number is believed.
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

/** null when the chassis does not list the map any more. */
async function readExisting(client: ChassisClient, id: string, signal: AbortSignal): Promise<Uint8Array | null> {
  await client.identity(signal);
  const listed = await client.listMaps(signal);
  if (!listed.some((item) => String(item.id) === id)) return null;
  return await client.mapBytes(id, signal);
}

/**
 * Looks until the expected is found, or something else has been found for `settleMs`. What was seen before the
 * connection was lost is no answer: a chassis that is silent at the end gives 'unknown'.
 */
export async function settle<F>(
  tools: WriteTools,
  settleMs: number,
  look: (grace: AbortSignal) => Promise<{ readonly found: F; readonly expected: boolean }>,
): Promise<F | { readonly kind: 'unknown'; readonly why: string }> {
  const { clock, pace, onProgress } = tools;
  try {
    return await withGrace(tools, async (grace) => {
      const began = clock.monotonicMs();
      let answeredAt: number | undefined;
      for (;;) {
        const now = clock.monotonicMs();
        try {
          const { found, expected } = await look(grace);
          answeredAt ??= now;
          if (expected || now - answeredAt >= settleMs) return found;
        } catch (error) {
          if (!(error instanceof GwError) || error.code === 'INTERNAL' || grace.aborted) throw error;
          const hopeless = error.code === 'CHASSIS_WRONG_DEVICE';
          if (hopeless || now - began >= pace.readBackMs) return { kind: 'unknown', why: reasonOf(error) };
          answeredAt = undefined;
          onProgress(`reading back: ${reasonOf(error)}; trying again`);
        }
        await clock.sleep(pace.pollMs, grace);
      }
    });
  } catch (error) {
    if (!(error instanceof GwError) || error.code !== 'INTERRUPTED') throw error;
    return { kind: 'unknown', why: reasonOf(error) };
  }
}
