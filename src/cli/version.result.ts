import { z } from 'zod';

export const versionSchema = z.object({
  name: z.string(),
  version: z.string(),
  node: z.string().describe('Version of the Node.js that runs it, without v.'),
  nodePath: z.string().describe('That program: the one that came along, or the one of the system.'),
  os: z.string().describe('What the operating system calls itself: `Debian GNU/Linux 12 (bookworm)`.'),
  kernel: z.string().describe('Kernel and its release: `Linux 6.1.0`.'),
  architecture: z.string().describe('As Node.js names it: x64, arm64.'),
  folder: z.string().describe('Where gw is installed; its documentation is in docs/ below it.'),
});

export type VersionResult = z.infer<typeof versionSchema>;
