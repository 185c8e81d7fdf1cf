import { Flags } from '@oclif/core';

export const passwordFileFlag = Flags.file({
  summary: 'File with the device password, for operations that require sign-in.',
  helpValue: 'FILE',
});

/** Reads the password from an owner-only file. Throws SECRET_UNREADABLE. */
export async function readDevicePassword(file: string | undefined): Promise<string | undefined> {
  if (file === undefined) return undefined;
  const { readSecret } = await import('../lib/site/index.ts');
  return (await readSecret(file, 'the device password')).split(/\r?\n/, 1)[0] ?? '';
}
