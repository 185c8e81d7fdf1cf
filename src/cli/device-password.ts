import { Flags } from '@oclif/core';

export const passwordFileFlag = Flags.file({
  summary: 'File with the device password, for what needs a signed-in person.',
  helpValue: 'FILE',
});

/** The password out of its file, which only its owner may read. Throws SECRET_UNREADABLE. */
export async function readDevicePassword(file: string | undefined): Promise<string | undefined> {
  if (file === undefined) return undefined;
  const { readSecret } = await import('../lib/site/index.ts');
  return (await readSecret(file, 'the device password')).split(/\r?\n/, 1)[0] ?? '';
}
