import { Args } from '@oclif/core';
import { GwCommand, type Outcome } from '../../cli/command.ts';
import { renderMapVerify } from '../../cli/render/map.ts';
import type { MapArchiveView as Result } from '../../lib/toolkit/map/archive.result.ts';

export default class MapVerify extends GwCommand<Result> {
  static override summary = 'Prove a backup whole, without a site file and without a chassis.';
  static override description =
    'Checks every length and checksum, that the overlays stand apart exactly as in their map, and that every picture is a whole PNG. Unpacks nothing to the disk. A damaged file ends with 2 and names everything that is wrong; a sound one that lacks something ends with 1.';
  static override examples = [
    '<%= config.bin %> map verify maps-SN0007-20260131T120000Z.tar.gz',
    '<%= config.bin %> map verify before-the-update.tar.gz --json',
  ];
  static override args = { file: Args.string({ description: 'The backup.', required: true }) };
  static override readonly schema = 'gw/map-verify/1';

  protected override async execute(): Promise<Outcome<Result>> {
    const { args } = await this.parse(MapVerify);
    const { verifyMapBackup } = await import('../../lib/toolkit/map/verify.ts');
    const data = await verifyMapBackup({ path: args.file });
    return { data, ok: data.verdict === 'ok' };
  }

  protected override render(data: Result): string {
    return renderMapVerify(data);
  }
}
