/**
 * Taking the maps of a chassis into safety and bringing them back. The writes among it were never measured on a real
 * device, so each takes a backup first, is read back and compared, and is undone when the result differs.
 */
export type * from './model.ts';
