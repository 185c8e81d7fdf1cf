import { Args } from '@oclif/core';
import { command } from '../../cli/define.ts';
import { acceptUndecidedFlag } from '../../cli/flags.ts';
import { renderMapVerify } from '../../cli/render/map.ts';

export default command({
  summary: 'Verify a backup file, without site file and chassis.',
  description:
    'Checks every length and checksum, that each overlays file equals the overlays of its map, and that every picture is a valid PNG. Extracts nothing to disk. Exits with 2 for a corrupt file, listing every problem, and with 1 for a valid backup that is incomplete, or may be, unless --accept-undecided.',
  examples: [
    '<%= config.bin %> map verify maps-SN0007-20260131T120000Z.tar.gz',
    '<%= config.bin %> map verify before-the-update.tar.gz --json',
  ],
  args: { file: Args.string({ description: 'The backup.', required: true }) },
  flags: { 'accept-undecided': acceptUndecidedFlag },
  schema: 'gw/map-verify/1',
  async run({ args, flags }) {
    const { verifyMapBackup } = await import('../../lib/toolkit/map/verify.ts');
    const data = await verifyMapBackup({ path: args.file });
    return await this.judged(data, data.verdict, flags);
  },
  render: renderMapVerify,
});
