import { Args, Flags } from '@oclif/core';
import { GwCommand, type Outcome } from '../../cli/command.ts';
import { siteFlag } from '../../cli/flags.ts';
import { renderReleaseVerify } from '../../cli/render/release.ts';
import type { ReleaseVerify as Result } from '../../lib/toolkit/release/release.result.ts';

export default class ReleaseVerify extends GwCommand<Result> {
  static override summary = 'Verify a release package: signature, manifest, every file.';
  static override description =
    'Needs no robot and unpacks nothing. Verifies the Ed25519 signature of the manifest with the public key of --key, or else of cloud.release.keyFile in the site file; then every path, size and SHA-256, and that nothing unlisted is in the package. Exits with 2 for an invalid package, listing what is wrong with it.';
  static override examples = [
    '<%= config.bin %> release verify gw-1.2.3.tar --key release-key.pem',
    '<%= config.bin %> release verify gw-1.2.3.tar --site robot-7/site.yaml --json',
  ];
  static override args = { file: Args.string({ description: 'The package.', required: true }) };
  static override flags = {
    site: siteFlag,
    key: Flags.file({
      summary: 'Public key (PEM) that signs releases; default: that of the site file.',
      helpValue: 'FILE',
    }),
  };
  static override readonly schema = 'gw/release-verify/1';

  protected override async execute(): Promise<Outcome<Result>> {
    const { args, flags } = await this.parse(ReleaseVerify);
    const { verifyRelease } = await import('../../lib/toolkit/release/verify.ts');
    const { file: path } = args;
    return { data: await verifyRelease({ path, keyFile: flags.key, sitePath: flags.site, signal: this.signal }) };
  }

  protected override readonly render = renderReleaseVerify;
}
