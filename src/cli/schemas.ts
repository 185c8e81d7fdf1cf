import type { ZodType } from 'zod';

/**
 * The result schema of every command, by command id. Only the generator of schemas/ and the tests load this file:
 * a command itself carries the name of its schema, not the schema.
 */
export const resultSchemas: Readonly<Record<string, () => Promise<ZodType>>> = {};
