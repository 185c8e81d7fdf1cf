import { z } from 'zod';

/** How the running gateway is, as it says itself. */
export const gatewayHealthSchema = z.strictObject({
  status: z.enum(['ok', 'degraded']),
  version: z.string(),
  upForMs: z.number(),
  services: z.array(
    z.strictObject({
      name: z.string(),
      status: z.enum(['waiting', 'starting', 'running', 'restarting', 'stopping', 'stopped']),
      restarts: z.int(),
      lastError: z.string().nullable(),
      detail: z.string(),
    }),
  ),
});
export type GatewayHealth = z.infer<typeof gatewayHealthSchema>;
