import { Args, Flags } from '@oclif/core';
import { command } from '../../cli/define.ts';
import { renderReleaseMake } from '../../cli/render/release.ts';

export default command({
  summary: 'Make a signed release package from a whole installation of gw.',
  description:
    'Packs every file of the folder, such as the unpacked archive of `npm run package`, with a manifest of their sizes and SHA-256, signed with the private key of --signing-key (Ed25519), and verifies what was written. The version is that of its package.json. The same files and the same key give the same bytes. A gateway replaces only a version from --minimum-version on. Exits with 2 for a folder that is no whole installation, or holds what a package may not.',
  examples: [
    '<%= config.bin %> release make gw-0.2.0-linux-x64 --signing-key release-signing-key.pem --out gw-0.2.0-x64.tar',
    '<%= config.bin %> release make gw-0.2.0-linux-x64 --signing-key release-signing-key.pem --out gw-0.2.0-x64.tar --minimum-version 0.1.0',
  ],
  args: { dir: Args.directory({ name: 'DIR', description: 'Folder of the installation.', required: true }) },
  flags: {
    'signing-key': Flags.file({
      summary: 'Private key (PEM) that signs the release.',
      helpValue: 'FILE',
      required: true,
    }),
    out: Flags.file({ char: 'o', summary: 'Package to write.', helpValue: 'FILE', required: true }),
    'minimum-version': Flags.string({
      summary: 'Oldest version that the package may replace.',
      helpValue: 'VERSION',
      default: '0.0.0',
    }),
    force: Flags.boolean({ summary: 'Replace an existing file.', default: false }),
  },
  schema: 'gw/release-make/1',
  async run({ args, flags }) {
    const { makeRelease } = await import('../../lib/toolkit/release/make.ts');
    const { 'signing-key': keyFile, out, 'minimum-version': minimumVersion, force } = flags;
    return { data: await makeRelease({ folder: args.dir, keyFile, out, minimumVersion, force, signal: this.signal }) };
  },
  render: renderReleaseMake,
});
