import { Args } from '@oclif/core';
import { GwCommand, type Outcome } from '../../cli/command.ts';
import { protocolTrustFlags } from '../../cli/protocol-flags.ts';
import { renderProtocolVerify } from '../../cli/render/protocol.ts';
import type { ProtocolVerify as Result } from '../../lib/toolkit/checklist/verify.result.ts';

export default class ChecklistVerify extends GwCommand<Result> {
  static override summary = 'Verify the protocol of a checklist: unchanged, signed by the device, attachments there.';
  static override description =
    'One changed byte is refused. Without the authority that issued the certificate of the device a protocol is never verified: anybody can make a certificate. Ends with 0 only when everything was looked at and is in order, else with 1.';
  static override examples = [
    '<%= config.bin %> checklist verify protocol.json --site site.yaml',
    '<%= config.bin %> checklist verify protocol.json --ca operator-ca.pem --serial SN0007',
    '<%= config.bin %> checklist verify protocol.json --json',
  ];
  static override args = { file: Args.string({ description: 'The protocol file (JSON).', required: true }) };
  static override flags = protocolTrustFlags;
  static override readonly schema = 'gw/checklist-verify/1';

  protected override async execute(): Promise<Outcome<Result>> {
    const { args, flags } = await this.parse(ChecklistVerify);
    const { checkProtocol } = await import('../../lib/toolkit/checklist/verify.ts');
    const data = await checkProtocol(args.file, { caPath: flags.ca, sitePath: flags.site, serial: flags.serial });
    return { data, ok: data.state === 'verified' };
  }

  protected override render(data: Result): string {
    return renderProtocolVerify(data);
  }
}
