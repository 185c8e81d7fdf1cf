import type { SimTunnel, SimTunnelList } from '../../control/control.result.ts';
import type { Side } from './rules.ts';

/** A tunnel without its tokens. */
export type TunnelView = SimTunnel;
export type SideView = SimTunnel['source'];
/** A handshake, also a refused one. */
export type Handshake = SimTunnelList['handshakes'][number];

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
