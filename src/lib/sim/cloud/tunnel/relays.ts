import type { Tunnel } from './registry.ts';
import { createRelay, type Relay, type RelayOptions } from './relay.ts';

/** The relays of the tunnels, each made at its first use. */
export function createRelays({ clock, onViolation }: Pick<RelayOptions, 'clock' | 'onViolation'>) {
  const relays = new Map<string, Relay>();

  return {
    of(tunnel: Tunnel): Relay {
      const known = relays.get(tunnel.tunnelId);
      if (known !== undefined) return known;
      const relay = createRelay({ services: tunnel.services, clock, onViolation });
      relays.set(tunnel.tunnelId, relay);
      return relay;
    },
    /** Closes the connections of a tunnel, if it ever had any. */
    close({ tunnelId }: Tunnel, reason: string): void {
      relays.get(tunnelId)?.close(reason);
    },
    /** Forgets the relays of tunnels that are not kept any more. */
    prune(isKept: (tunnelId: string) => boolean): void {
      for (const tunnelId of relays.keys()) if (!isKept(tunnelId)) relays.delete(tunnelId);
    },
    setSilent(on: boolean): void {
      for (const relay of relays.values()) relay.setSilent(on);
    },
    /** Ends all connections without a close frame. */
    cut(): void {
      for (const relay of relays.values()) relay.cut();
    },
  };
}

export type Relays = ReturnType<typeof createRelays>;
