import { z } from 'zod';

export const versionSchema = z.object({
  name: z.string(),
  version: z.string(),
  node: z.string().describe('Version of the Node.js that runs it, without v.'),
  nodePath: z.string().describe('That program: the one that came along, or the one of the system.'),
  os: z.string().describe('What the operating system calls itself: `Debian GNU/Linux 12 (bookworm)`.'),
  kernel: z.string().describe('Kernel and its release: `Linux 6.1.0`.'),
  architecture: z.string().describe('As Node.js names it: x64, arm64.'),
  origin: z
    .strictObject({
      kind: z.enum(['deb', 'tar', 'npm', 'release']).describe('The package that it was installed from.'),
      commit: z.string().describe('Of the sources; with -changed where files differed from it.'),
      sourceTime: z.iso.datetime().describe('Time of that commit.'),
    })
    .nullable()
    .describe('What its package says of itself; null: a checkout, or a package that says nothing.'),
  folder: z.string().describe('Where gw is installed; its documentation is in docs/ below it.'),
});

export type VersionResult = z.infer<typeof versionSchema>;
