import type { ClosedBy } from './registry.ts';
import type { Side } from './rules.ts';

export interface SideView {
  readonly connected: boolean;
  /** Of the current or the last connection; null: there was none. */
  readonly channelId: string | null;
  /** Handshakes that were accepted. */
  readonly connects: number;
  /** Of frames that this side has sent. */
  readonly bytes: number;
}

/** A tunnel without its tokens. */
export interface TunnelView {
  readonly tunnelId: string;
  readonly serial: string;
  readonly services: readonly string[];
  /** In its notifications. */
  readonly region: string;
  readonly status: 'OPEN' | 'CLOSED';
  /** null: it is open. */
  readonly closedBy: ClosedBy | null;
  /** UTC by the clock of the cloud. */
  readonly openedAt: string;
  /** Until the clock of the service closes it; 0 when closed. */
  readonly leftMs: number;
  readonly source: SideView;
  readonly destination: SideView;
}

/** A handshake, also a refused one. */
export interface Handshake {
  /** UTC by the clock of the cloud. */
  readonly at: string;
  /** null: neither of the two. */
  readonly mode: Side | null;
  readonly tunnelId: string | null;
  /** 101 when accepted. */
  readonly status: number;
  /** Body of the answer; empty when accepted. */
  readonly reason: string;
  readonly hasClientToken: boolean;
}

interface OpenOptions {
  /** One to three names. */
  readonly services: readonly string[];
  /** Above 0, at most 720 minutes. */
  readonly lifetimeMs: number;
  readonly serial?: string | undefined;
  /** In the notification; that of the service by default. */
  readonly region?: string | undefined;
}

interface OpenedTunnel {
  readonly tunnel: TunnelView;
  readonly sourceToken: string;
  readonly destinationToken: string;
}

/** The tokens that were made; the notification has the one of the destination. */
interface RotatedTunnel {
  readonly tunnel: TunnelView;
  readonly sourceToken: string | null;
  readonly destinationToken: string | null;
}

/** What the technician's cloud console can do. */
export interface TunnelControl {
  readonly place: { readonly host: string; readonly port: number };
  /** Opens a tunnel and notifies the device. Throws USAGE. */
  open(options: OpenOptions): Promise<OpenedTunnel>;
  /**
   * Replaces the tokens of a side or of both, without effect on its connections and lifetime; a new token of the
   * destination is published in a notification. Throws USAGE.
   */
  rotate(tunnelId: string, sides: Side | 'all'): Promise<RotatedTunnel>;
  /** Closes a tunnel as a person does. Throws USAGE. */
  close(tunnelId: string): TunnelView;
  /** Oldest first; closed ones stay, at most the last 1000 in total. */
  list(): readonly TunnelView[];
  /** Oldest first, at most the last 1000. */
  handshakes(): readonly Handshake[];
}
