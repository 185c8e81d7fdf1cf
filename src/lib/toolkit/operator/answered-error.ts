import { z } from 'zod';

/** An error as another gw sends it: the operator server of a gateway, or a remote gw over SSH. */
export const answeredErrorSchema = z.looseObject({
  error: z.looseObject({
    code: z.string(),
    message: z.string(),
    remedy: z.string().optional().catch(undefined),
    details: z.record(z.string(), z.unknown()).optional().catch(undefined),
    tried: z
      .looseObject({
        address: z.string(),
        port: z.number().optional(),
        action: z.string().optional(),
        forMs: z.number().optional(),
      })
      .optional()
      .catch(undefined),
  }),
});
