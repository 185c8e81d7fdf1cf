import type { Clock } from '../../../lifecycle/index.ts';
import type { Registry, Tunnel } from './registry.ts';
import type { Relays } from './relays.ts';
import { createServiceTime } from './service-time.ts';

export interface LifetimesOptions {
  readonly registry: Pick<Registry, 'all'>;
  readonly relays: Pick<Relays, 'close'>;
  readonly clock: Pick<Clock, 'monotonicMs' | 'after'>;
}

/** Closes each tunnel at the end of its lifetime, by the clock of the service. */
export function createLifetimes({ registry, relays, clock }: LifetimesOptions) {
  const time = createServiceTime(clock);
  let timer: Disposable | null = null;

  function disarm(): void {
    timer?.[Symbol.dispose]();
    timer = null;
  }

  /** One timer, for the tunnel that ends next. */
  function arm(): void {
    disarm();
    if (time.isStopped()) return;
    const open = registry.all().filter(({ closedBy }) => closedBy === null);
    for (const tunnel of open) {
      if (tunnel.endsMs > time.ms()) continue;
      tunnel.closedBy = 'lifetime';
      relays.close(tunnel, 'tunnel lifetime expired');
    }
    const ends = open.filter(({ closedBy }) => closedBy === null).map(({ endsMs }) => endsMs);
    if (ends.length > 0) timer = clock.after(Math.min(...ends) - time.ms(), arm);
  }

  return {
    /** The end of a lifetime that begins now. */
    endsMs: (lifetimeMs: number) => time.ms() + lifetimeMs,
    /** Milliseconds until an open tunnel ends, at least 0; 0 for a closed one. */
    leftMs: ({ closedBy, endsMs }: Tunnel) => (closedBy === null ? Math.max(0, endsMs - time.ms()) : 0),
    /** Must be called when a tunnel was opened or closed. */
    arm,
    setStopped(isStopped: boolean): void {
      time.setStopped(isStopped);
      arm();
    },
    [Symbol.dispose]: disarm,
  };
}
