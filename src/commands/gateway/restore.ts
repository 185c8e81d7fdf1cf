import { Args, Flags } from '@oclif/core';
import { command } from '../../cli/define.ts';
import { acceptUndecidedFlag } from '../../cli/flags.ts';
import { withProgress } from '../../cli/progress.ts';
import { renderGatewayRestore } from '../../cli/render/gateway-backup.ts';
import { passphraseFlags } from '../../cli/secrets.ts';

export default command({
  summary: 'Restore a gateway from its backup; without --write a dry run.',
  description:
    'The whole file is verified before the first byte is written. Without --write it lists what would be written and where. Refused while `gw serve` of this robot is seen on this machine, and where something else is there already: with --move-aside that gets another name beside it; nothing is replaced or deleted, and a latched stop is never lifted. Files are readable for their owner only, the user who runs this. The site file is written last, so that an interrupted restore is repeated with the same command and goes on. Afterwards it says what no backup can know: above all, that the old gateway must be off. Exits with 1 while something is wrong, left out or to be looked at by a person; --accept-undecided accepts all but what is wrong.',
  examples: [
    '<%= config.bin %> gateway restore robot-7.tar.gz --into /var/lib/gw',
    '<%= config.bin %> gateway restore robot-7.tar.gz --into /var/lib/gw --write --passphrase-file passphrase',
    '<%= config.bin %> gateway restore robot-7.tar.gz --into /var/lib/gw --write --move-aside --also-in /etc/gw',
  ],
  args: { file: Args.string({ description: 'The backup.', required: true }) },
  flags: {
    into: Flags.directory({
      summary: 'Folder of the site file; by default the current one.',
      helpValue: 'FOLDER',
      default: '.',
    }),
    write: Flags.boolean({ summary: 'Write the files.' }),
    'move-aside': Flags.boolean({ summary: 'Give what is there already another name, and keep it.' }),
    'also-in': Flags.directory({
      summary:
        'A further folder in which files may be written that the site file names outside of its own; repeatable.',
      helpValue: 'FOLDER',
      multiple: true,
      multipleNonGreedy: true,
    }),
    ...passphraseFlags,
    'accept-undecided': acceptUndecidedFlag,
  },
  schema: 'gw/gateway-restore/1',
  async run({ args, flags }) {
    const { restoreGateway } = await import('../../lib/toolkit/gateway/restore.ts');
    const { lookForGateway } = await import('../../lib/toolkit/backup/running.ts');
    const { readPassphrase } = await import('../../cli/secrets.ts');
    const { signal } = this;
    const asking = { signal, interrupted: 'Interrupted; nothing was written.' };
    const options = {
      ...{ archive: args.file, into: flags.into, write: flags.write, moveAside: flags['move-aside'] },
      ...{ alsoIn: flags['also-in'] ?? [], now: new Date(), look: lookForGateway },
    };
    const { hasSecrets } = await import('../../lib/toolkit/backup/read.ts');
    // Before the progress, which a prompt would share its line with.
    const passphrase = (await hasSecrets(args.file)) ? await readPassphrase(flags, asking) : null;
    const data = await withProgress({ quiet: this.jsonEnabled() }, ({ say }) =>
      restoreGateway({ ...options, passphrase: async () => passphrase }, { signal, onProgress: say }),
    );
    return await this.judged(data, data.verdict, flags);
  },
  render: renderGatewayRestore,
});
