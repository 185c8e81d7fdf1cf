import { Args } from '@oclif/core';
import { GwCommand, type Outcome } from '../../cli/command.ts';
import { acceptUndecidedFlag } from '../../cli/flags.ts';
import { renderMapVerify } from '../../cli/render/map.ts';
import type { MapArchiveView as Result } from '../../lib/toolkit/map/map.result.ts';

export default class MapVerify extends GwCommand<Result> {
  static override summary = 'Verify a backup file, without site file and chassis.';
  static override description =
    'Checks every length and checksum, that each overlays file equals the overlays of its map, and that every picture is a valid PNG. Extracts nothing to disk. Exits with 2 for a corrupt file, listing every problem, and with 1 for a valid backup that is incomplete, or may be, unless --accept-undecided.';
  static override examples = [
    '<%= config.bin %> map verify maps-SN0007-20260131T120000Z.tar.gz',
    '<%= config.bin %> map verify before-the-update.tar.gz --json',
  ];
  static override args = { file: Args.string({ description: 'The backup.', required: true }) };
  static override flags = { 'accept-undecided': acceptUndecidedFlag };
  static override readonly schema = 'gw/map-verify/1';

  protected override async execute(): Promise<Outcome<Result>> {
    const { args, flags } = await this.parse(MapVerify);
    const { verifyMapBackup } = await import('../../lib/toolkit/map/verify.ts');
    const data = await verifyMapBackup({ path: args.file });
    return await this.judged(data, data.verdict, flags);
  }

  protected override readonly render = renderMapVerify;
}
