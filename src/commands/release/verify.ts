import { Args, Flags } from '@oclif/core';
import { command } from '../../cli/define.ts';
import { siteFlag } from '../../cli/flags.ts';
import { renderReleaseVerify } from '../../cli/render/release.ts';

export default command({
  summary: 'Verify a release package: signature, manifest, every file.',
  description:
    'Needs no robot and unpacks nothing. Verifies the Ed25519 signature of the manifest with the public key of --key, or else of cloud.release.keyFile in the site file; then every path, size and SHA-256, and that nothing unlisted is in the package. Exits with 2 for an invalid package, listing what is wrong with it.',
  examples: [
    '<%= config.bin %> release verify gw-1.2.3.tar --key release-key.pem',
    '<%= config.bin %> release verify gw-1.2.3.tar --site robot-7/site.yaml --json',
  ],
  args: { file: Args.string({ description: 'The package.', required: true }) },
  flags: {
    site: siteFlag,
    key: Flags.file({
      summary: 'Public key (PEM) that signs releases; default: that of the site file.',
      helpValue: 'FILE',
    }),
  },
  schema: 'gw/release-verify/1',
  async run({ args, flags }) {
    const { verifyRelease } = await import('../../lib/toolkit/release/verify.ts');
    const { file: path } = args;
    return { data: await verifyRelease({ path, keyFile: flags.key, sitePath: flags.site, signal: this.signal }) };
  },
  render: renderReleaseVerify,
});
