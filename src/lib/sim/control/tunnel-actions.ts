import { z } from 'zod';
import type { CloudControl } from '../cloud/model.ts';

/** What the technician's cloud console can do with tunnels, as the control server accepts it. */
export const tunnelActionSchemas = [
  z.strictObject({
    action: z.literal('tunnel-open'),
    services: z.array(z.string()),
    lifetimeMs: z.number(),
    serial: z.string().optional(),
    region: z.string().optional(),
  }),
  z.strictObject({
    action: z.literal('tunnel-rotate'),
    tunnelId: z.string(),
    side: z.enum(['source', 'destination', 'all']),
  }),
  z.strictObject({ action: z.literal('tunnel-close'), tunnelId: z.string() }),
  z.strictObject({ action: z.literal('tunnel-list') }),
] as const;
export type TunnelAction = z.infer<(typeof tunnelActionSchemas)[number]>;

const MAX_HANDSHAKES = 20;

/** Throws USAGE. */
export async function runTunnelAction(
  { tunnel: control, broker }: CloudControl,
  action: TunnelAction,
): Promise<object> {
  const isConnected = (serial: string) => broker.connectedIds().includes(serial);
  switch (action.action) {
    case 'tunnel-open': {
      const { action: _, ...options } = action;
      const { tunnel, sourceToken } = await control.open(options);
      return { tunnel, sourceToken, connected: isConnected(tunnel.serial), ...control.place };
    }
    case 'tunnel-rotate': {
      const { tunnel, sourceToken, destinationToken } = await control.rotate(action.tunnelId, action.side);
      const connected = destinationToken === null ? null : isConnected(tunnel.serial);
      return { tunnel, side: action.side, sourceToken, connected, ...control.place };
    }
    case 'tunnel-close':
      return { tunnel: control.close(action.tunnelId) };
    case 'tunnel-list':
      return { tunnels: control.list(), handshakes: control.handshakes().slice(-MAX_HANDSHAKES) };
  }
}
