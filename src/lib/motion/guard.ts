import type { ChassisLink } from '../chassis/index.ts';
import type { Clock } from '../lifecycle/index.ts';
import type { Canceller } from './canceller.ts';
import type { StopLatch } from './model.ts';
import type { MoveWatch } from './unowned-move.ts';

/** While stopped, a moving robot is cancelled again at this interval. */
const GUARD_MS = 1_000;

export interface GuardOptions {
  readonly link: ChassisLink;
  readonly latch: { state(): Pick<StopLatch, 'latched'> };
  readonly canceller: Canceller;
  readonly watch: MoveWatch;
  readonly clock: Clock;
}

/** While stopped every move is cancelled, regardless of its client, also right after a reconnect or a restart. */
export function startGuard({ link, latch, canceller, watch, clock }: GuardOptions): DisposableStack {
  const stack = new DisposableStack();
  let wasConnected = false;
  let guardedAtMs = Number.NEGATIVE_INFINITY;
  const supervise = () => {
    const snapshot = link.snapshot();
    const isDrivingUnowned = watch.update(snapshot);
    const { link: state, values } = snapshot;
    const isConnected = state.kind === 'connected';
    const isBack = isConnected && !wasConnected;
    wasConnected = isConnected;
    if (!isConnected || canceller.isSending) return;
    const { latched } = latch.state();
    const nowMs = clock.monotonicMs();
    const isDriving = values.planning.status === 'received' && values.planning.value.moveState === 'moving';
    const isDue = nowMs - Math.max(guardedAtMs, canceller.answeredAtMs) >= GUARD_MS;
    if ((isBack && latched) || (isDue && (canceller.isPending || isDrivingUnowned || (latched && isDriving)))) {
      guardedAtMs = nowMs;
      const other = canceller.isPending ? 'a cancel was pending' : 'the robot executes a move that gw did not order';
      void canceller.cancel(latched ? 'the robot is stopped' : other);
    }
  };
  stack.use(link.subscribe(supervise));
  stack.use(clock.every(GUARD_MS, supervise));
  supervise();
  return stack;
}
