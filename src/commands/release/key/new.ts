import { Args } from '@oclif/core';
import { command } from '../../../cli/define.ts';
import { renderReleaseKeyNew } from '../../../cli/render/release.ts';

export default command({
  summary: 'Make the key pair that signs releases.',
  description:
    'An Ed25519 key pair: FILE is the private key, readable for its owner only; the public key is written beside it, with .pub.pem at its end. Never replaces a file.',
  examples: ['<%= config.bin %> release key new', '<%= config.bin %> release key new keys/releases-2027.pem'],
  args: { file: Args.file({ name: 'FILE', description: 'Private key to write.', default: 'release-signing-key.pem' }) },
  schema: 'gw/release-key-new/1',
  async run({ args }) {
    const { newReleaseKey } = await import('../../../lib/toolkit/release/make.ts');
    return { data: await newReleaseKey(args.file) };
  },
  render: renderReleaseKeyNew,
});
