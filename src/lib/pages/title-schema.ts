import { z } from 'zod';

const oneTitle = z.string();

export const titleSchema = z
  .union([oneTitle, z.strictObject({ de: oneTitle, en: oneTitle })])
  .describe('Name for people, as the site file has it. Beside a `name`, which is a key; absent: that is shown.');
