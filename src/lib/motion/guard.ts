import type { ChassisLink } from '../chassis/index.ts';
import type { Clock } from '../lifecycle/index.ts';
import type { Canceller } from './canceller.ts';
import type { StopLatch } from './model.ts';
import type { StopProofs } from './stop-proof.ts';
import type { MoveWatch } from './unowned-move.ts';

/** While stopped, a moving robot is cancelled again at this interval. */
const GUARD_MS = 1_000;

export interface GuardOptions {
  readonly link: ChassisLink;
  readonly latch: { state(): Pick<StopLatch, 'latched'>; isKnown(): boolean };
  readonly canceller: Canceller;
  readonly watch: MoveWatch;
  readonly proofs: Pick<StopProofs, 'current' | 'began' | 'ordered'>;
  readonly clock: Clock;
  /** Called when a pose, or time, has changed what the gate is closed for. */
  readonly onChange: () => void;
}

/**
 * While stopped every move is cancelled, regardless of its client, also right after a reconnect or a restart, and whether
 * the chassis reports it or only the poses show it. A robot that does not obey a cancel is cancelled again.
 */
export function startGuard({ link, latch, canceller, watch, proofs, clock, onChange }: GuardOptions): DisposableStack {
  const stack = new DisposableStack();
  let wasReady = false;
  let drivenMoveId: number | null = null;
  /** Moves that were reported as ended: one that is reported again is resumed, and no order of anyone. */
  const ended = new Set<number>();
  let foreignMoveId: number | null = null;
  let guardedAtMs = Number.NEGATIVE_INFINITY;
  let lastClosing = '';
  const supervise = () => {
    const snapshot = link.snapshot();
    const isDrivingUnowned = watch.update(snapshot);
    const { link: state, values, standing } = snapshot;
    const isConnected = state.kind === 'connected';
    // Until it was read no order passes, but only a stop cancels the moves of others.
    const latched = latch.isKnown() && latch.state().latched;
    const isReady = isConnected && latch.isKnown();
    const isBack = isReady && !wasReady;
    wasReady = isReady;
    // The chassis may number its moves anew.
    if (!isConnected) ended.clear();
    if (!isConnected || canceller.isSending) return;
    const nowMs = clock.monotonicMs();
    const isReported = values.planning.status === 'received' && values.planning.value.moveState === 'moving';
    const isDriving = isReported || standing.verdict === 'moves';
    const moveId = isReported ? values.planning.value.actionId : null;
    if (moveId !== null && moveId !== drivenMoveId) proofs.began();
    if (drivenMoveId !== null && moveId !== drivenMoveId) ended.add(drivenMoveId);
    drivenMoveId = moveId;
    const foreign = watch.current(snapshot)?.moveId ?? null;
    if (foreign !== null && foreign !== foreignMoveId && !ended.has(foreign)) proofs.ordered();
    foreignMoveId = foreign;
    // Asked at every change: a robot that does not stop is noticed with its pose, not with the next request.
    const proof = proofs.current(snapshot);
    const isDisobeying = proof?.verdict === 'drives-on';
    const isDue = nowMs - Math.max(guardedAtMs, canceller.answeredAtMs) >= GUARD_MS;
    if (
      (isBack && latched) ||
      (isDue && (canceller.isPending || isDrivingUnowned || isDisobeying || (latched && isDriving)))
    ) {
      guardedAtMs = nowMs;
      void canceller.cancel(whyAgain({ latched, isPending: canceller.isPending, isDisobeying }));
    }
    // After the cancel, which no follower may delay.
    const closing = `${proof?.verdict} ${canceller.isPending} ${watch.isAwaited}`;
    if (closing === lastClosing) return;
    lastClosing = closing;
    onChange();
  };
  stack.use(link.subscribe(supervise));
  stack.use(clock.every(GUARD_MS, supervise));
  supervise();
  return stack;
}

function whyAgain(found: { latched: boolean; isPending: boolean; isDisobeying: boolean }): string {
  if (found.isDisobeying) return 'the robot did not stop after a cancel';
  if (found.latched) return 'the robot is stopped';
  return found.isPending ? 'a cancel was pending' : 'the robot executes a move that gw did not order';
}
