import { Args } from '@oclif/core';
import { command } from '../../cli/define.ts';
import { acceptUndecidedFlag } from '../../cli/flags.ts';
import { renderGatewayVerify } from '../../cli/render/gateway-backup.ts';
import { passphraseFlags } from '../../cli/secrets.ts';

export default command({
  summary: 'Verify a backup of a gateway, without site file and gateway.',
  description:
    'Reads it to its end: exactly the files of its manifest, each with its length and SHA-256, and the secrets opened with the passphrase and compared. Extracts nothing. The sums show damage; they are no signature: keep the SHA-256 of the file apart from it. Exits with 2 for a corrupt file or a wrong passphrase, listing every problem; with 1 where something was left out when it was made, or --without-secrets leaves the passphrase untried, unless --accept-undecided; what could not be read then is wrong in any case.',
  examples: [
    '<%= config.bin %> gateway verify gateway-SN0007-20260131T120000Z.tar.gz',
    '<%= config.bin %> gateway verify robot-7.tar.gz --passphrase-file passphrase --json',
  ],
  args: { file: Args.string({ description: 'The backup.', required: true }) },
  flags: { ...passphraseFlags, 'accept-undecided': acceptUndecidedFlag },
  schema: 'gw/gateway-verify/1',
  async run({ args, flags }) {
    const { verifyGatewayBackup } = await import('../../lib/toolkit/gateway/verify.ts');
    const { readPassphrase } = await import('../../cli/secrets.ts');
    const asking = { signal: this.signal, interrupted: 'Interrupted.' };
    const data = await verifyGatewayBackup(args.file, () => readPassphrase(flags, asking));
    return await this.judged(data, data.verdict, flags);
  },
  render: renderGatewayVerify,
});
