import type { z } from 'zod';
import { deliveryListSchema } from '../../pages/index.ts';

/** `gw deliveries --json`, which is the answer of `GET /api/lieferungen`. */
export const deliveriesSchema = deliveryListSchema;
export type Deliveries = z.infer<typeof deliveriesSchema>;
