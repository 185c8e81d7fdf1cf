import { Args } from '@oclif/core';
import { command } from '../../cli/define.ts';
import { recordTrustFlags } from '../../cli/flags.ts';
import { renderRecordVerify } from '../../cli/render/record.ts';

export default command({
  summary: 'Verify an acceptance record: unchanged, signed by the device, attachments complete.',
  description:
    'A single changed byte is refused. Without the CA of the device certificate a record is never verified, because a certificate can be forged. Changes nothing. Exits with 0 only when every check passed, else with 1.',
  examples: [
    '<%= config.bin %> checklist verify record.json --site site.yaml',
    '<%= config.bin %> checklist verify record.json --ca-file operator-ca.pem --serial SN0007',
    '<%= config.bin %> checklist verify record.json --json',
  ],
  args: { file: Args.string({ description: 'Record file (JSON).', required: true }) },
  flags: recordTrustFlags,
  schema: 'gw/checklist-verify/1',
  async run({ args, flags }) {
    const { checkRecord } = await import('../../lib/toolkit/checklist/verify.ts');
    const data = await checkRecord(args.file, { caPath: flags['ca-file'], sitePath: flags.site, serial: flags.serial });
    return { data, ok: data.state === 'verified' };
  },
  render: renderRecordVerify,
});
