import { Args, Flags } from '@oclif/core';
import { command } from '../../cli/define.ts';
import { acceptUndecidedFlag } from '../../cli/flags.ts';
import { renderReleaseInspect } from '../../cli/render/release.ts';

export default command({
  summary: 'Show what is in a release package: version, commit, size of its parts.',
  description:
    'Needs no robot and unpacks nothing. Compares every file with the manifest; whose manifest it is only with --key, by its Ed25519 signature. With --json it lists every file. Exits with 2 for an invalid package; with 1 without --key, since a manifest alone proves nothing, unless --accept-undecided.',
  examples: [
    '<%= config.bin %> release inspect gw-1.2.3.release.tar --key release-key.pem',
    '<%= config.bin %> release inspect gw-1.2.3.release.tar --accept-undecided --json',
  ],
  args: { file: Args.string({ description: 'The package.', required: true }) },
  flags: {
    key: Flags.file({ summary: 'Public key (PEM) that signs releases.', helpValue: 'FILE' }),
    'accept-undecided': acceptUndecidedFlag,
  },
  schema: 'gw/release-inspect/1',
  async run({ args, flags }) {
    const { inspectRelease } = await import('../../lib/toolkit/release/inspect.ts');
    const data = await inspectRelease({ path: args.file, keyFile: flags.key, signal: this.signal });
    return await this.judged(data, data.verdict, flags);
  },
  render: renderReleaseInspect,
});
