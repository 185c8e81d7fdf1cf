import { Args } from '@oclif/core';
import { GwCommand, type Outcome } from '../../cli/command.ts';
import { recordTrustFlags } from '../../cli/flags.ts';
import { renderRecordVerify } from '../../cli/render/record.ts';
import type { RecordVerify as Result } from '../../lib/toolkit/checklist/checklist.result.ts';

export default class ChecklistVerify extends GwCommand<Result> {
  static override summary = 'Verify an acceptance record: unchanged, signed by the device, attachments complete.';
  static override description =
    'A single changed byte is refused. Without the CA of the device certificate a record is never verified, because a certificate can be forged. Changes nothing. Exits with 0 only when every check passed, else with 1.';
  static override examples = [
    '<%= config.bin %> checklist verify record.json --site site.yaml',
    '<%= config.bin %> checklist verify record.json --ca operator-ca.pem --serial SN0007',
    '<%= config.bin %> checklist verify record.json --json',
  ];
  static override args = { file: Args.string({ description: 'Record file (JSON).', required: true }) };
  static override flags = recordTrustFlags;
  static override readonly schema = 'gw/checklist-verify/1';

  protected override async execute(): Promise<Outcome<Result>> {
    const { args, flags } = await this.parse(ChecklistVerify);
    const { checkRecord } = await import('../../lib/toolkit/checklist/verify.ts');
    const data = await checkRecord(args.file, { caPath: flags.ca, sitePath: flags.site, serial: flags.serial });
    return { data, ok: data.state === 'verified' };
  }

  protected override readonly render = renderRecordVerify;
}
