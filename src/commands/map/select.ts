import { Args, Flags } from '@oclif/core';
import { GwCommand, type Outcome } from '../../cli/command.ts';
import { safetyFlags, siteFlag, viaFlag } from '../../cli/flags.ts';
import { nothingWritten, unended } from '../../cli/lost-write.ts';
import { printable } from '../../cli/output.ts';
import { renderMapSelect } from '../../cli/render/map.ts';
import type { GwError } from '../../lib/error/index.ts';
import type { MapSelect as Result } from '../../lib/toolkit/map/change.result.ts';

export default class MapSelect extends GwCommand<Result> {
  static override summary = 'Select a stored map, or the current one again; without the risk flag a dry run.';
  static override description =
    'Without --select-although-the-position-is-lost nothing is sent: the command shows the current map and whether the robot drives by its stored overlays. With the flag the map becomes the current one (POST /chassis/current-map, never measured on a real chassis); selecting the current map again makes the chassis reload its overlays. The robot must stand still, a backup of every map is written first, and afterwards the current map, the running overlays and the stored maps are read back. The position of the robot is expected to be lost: set it before it moves. Takes up to a minute. Exits with 1 when the map was not selected, the robot drives by other overlays than the stored ones, or a stored map changed.';
  static override examples = [
    '<%= config.bin %> map select 1',
    '<%= config.bin %> map select 1 --select-although-the-position-is-lost',
    '<%= config.bin %> map select 2 --select-although-the-position-is-lost --it-stands-still --backup now.tar.gz',
  ];
  static override args = {
    id: Args.string({ description: 'Number of the map in gw map list.', required: true }),
  };
  static override flags = {
    site: siteFlag,
    via: viaFlag,
    'select-although-the-position-is-lost': Flags.boolean({
      summary: 'Select it: a person on site can set the position of the robot afterwards.',
      default: false,
    }),
    ...safetyFlags,
  };
  static override readonly schema = 'gw/map-select/1';

  protected override async execute(): Promise<Outcome<Result>> {
    const { args, flags } = await this.parse(MapSelect);
    const { selectStoredMap } = await import('../../lib/toolkit/map/select.ts');
    const { runCarefully } = await import('../../cli/careful-run.ts');
    const options = {
      id: args.id,
      select: flags['select-although-the-position-is-lost'],
      itStandsStill: flags['it-stands-still'],
      backupPath: flags.backup,
      sitePath: flags.site,
      gwVersion: this.config.version,
    };
    let lost: GwError | undefined;
    const data = await this.withToolkit(
      flags,
      (toolkit, signal) =>
        runCarefully({ quiet: this.jsonEnabled(), signal }, (careful) => selectStoredMap(toolkit, options, careful)),
      (loss) => {
        lost = loss;
        this.warn(loss.message);
      },
      nothingWritten,
    );
    for (const lack of data.safetyBackup?.lacks ?? []) this.warn(printable(`the safety backup lacks ${lack}`));
    const ok = ['to-do', 'selected', 'running-not-checked'].includes(data.verdict) && !data.interrupted;
    return { data, ok, ...(data.interrupted && unended(lost)) };
  }

  protected override readonly render = renderMapSelect;
}
