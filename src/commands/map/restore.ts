import { Args, Flags } from '@oclif/core';
import { GwCommand, type Outcome } from '../../cli/command.ts';
import { siteFlag, viaFlag } from '../../cli/flags.ts';
import { keptStateFlags } from '../../cli/kept-state-flags.ts';
import { printable } from '../../cli/output.ts';
import { renderMapRestore } from '../../cli/render/map-restore.ts';
import { exitCodes } from '../../lib/error/index.ts';
import type { MapRestore as Result } from '../../lib/toolkit/map/restore.result.ts';

export default class MapRestore extends GwCommand<Result> {
  static override summary = 'Bring maps of a backup back to the chassis they came from; says what it would do first.';
  static override description =
    'Without --write-although-never-measured nothing is written: it compares and says map by map what it would do. With it, overlays that differ are replaced and maps that are lost are created; both calls were never measured on a real chassis. The robot must stand still, the present state is kept in a file first, each write is read back and its content compared, and overlays that came out differently are put back. A map that was made anew since the backup keeps its own overlays. End tours before, and let nobody else work on the maps meanwhile. In the end it compares what is stored with what the robot drives by (/map/info): a chassis may store what was written and go on by the overlays it has loaded. Ends with 1 when a map cannot be restored or did not come out as it should, and when the robot drives by other overlays than the stored ones.';
  static override examples = [
    '<%= config.bin %> map restore maps-SN0007-20260131T120000Z.tar.gz',
    '<%= config.bin %> map restore before-the-update.tar.gz --map 1 --write-although-never-measured',
    '<%= config.bin %> map restore before-the-update.tar.gz --write-although-never-measured --it-stands-still --backup now.tar.gz',
  ];
  static override args = { file: Args.string({ description: 'The backup.', required: true }) };
  static override flags = {
    site: siteFlag,
    via: viaFlag,
    map: Flags.string({
      summary: 'Only this map of the backup, by its number there or its uid; may stand several times.',
      helpValue: 'ID',
      multiple: true,
    }),
    'write-although-never-measured': Flags.boolean({
      summary: 'Write, although PATCH /maps/<id> and POST /maps/ were never measured on a real chassis.',
      default: false,
    }),
    ...keptStateFlags,
  };
  static override readonly schema = 'gw/map-restore/1';

  protected override async execute(): Promise<Outcome<Result>> {
    const { args, flags } = await this.parse(MapRestore);
    const { restoreFromBackup } = await import('../../lib/toolkit/map/restore.ts');
    const { runCarefully } = await import('../../cli/careful-run.ts');
    const options = {
      path: args.file,
      ids: flags.map ?? [],
      write: flags['write-although-never-measured'],
      itStandsStill: flags['it-stands-still'],
      backupPath: flags.backup,
      sitePath: flags.site,
      gwVersion: this.config.version,
    };
    const data = await this.withToolkit(
      flags,
      (toolkit, signal) =>
        runCarefully({ quiet: this.jsonEnabled(), signal }, (careful) => restoreFromBackup(toolkit, options, careful)),
      (lost) => this.warn(lost.message),
    );
    for (const note of data.notes) this.warn(printable(note));
    for (const lack of data.safetyBackup?.lacks ?? []) this.warn(printable(`the kept state lacks ${lack}`));
    const { isOutOfStep } = await import('../../lib/toolkit/map/change/running-map.ts');
    const isWell = ['nothing-to-do', 'to-do', 'restored'].includes(data.verdict);
    const ok = isWell && !data.interrupted && !isOutOfStep(data.running);
    return { data, ok, exitCode: data.interrupted ? exitCodes.interrupted : exitCodes.checkFailed };
  }

  protected override render(data: Result): string {
    return renderMapRestore(data);
  }
}
