import { Args } from '@oclif/core';
import { GwCommand, type Outcome } from '../../cli/command.ts';
import { siteFlag, viaFlag } from '../../cli/flags.ts';
import { renderMapShow } from '../../cli/render/map.ts';
import type { MapShow as Result } from '../../lib/toolkit/map/map.result.ts';

export default class MapShow extends GwCommand<Result> {
  static override summary = 'Show one map: grid, features by kind, and what a backup of it would lack.';
  static override description =
    'Reads all files of a backup without saving them. Exits with 1 when the picture or the localisation data is missing. For the features themselves see overlays inspect.';
  static override examples = ['<%= config.bin %> map show 1', '<%= config.bin %> map show 2 --json'];
  static override args = {
    id: Args.string({ description: 'Number of the map in gw map list.', required: true }),
  };
  static override flags = { site: siteFlag, via: viaFlag };
  static override readonly schema = 'gw/map-show/1';

  protected override async execute(): Promise<Outcome<Result>> {
    const { args, flags } = await this.parse(MapShow);
    const { showMap } = await import('../../lib/toolkit/map/show.ts');
    const { withProgress } = await import('../../cli/progress.ts');
    const data = await this.withToolkit(flags, (toolkit, signal) =>
      withProgress({ quiet: this.jsonEnabled() }, (progress) =>
        showMap(toolkit, { id: args.id }, { signal, onProgress: progress.say }),
      ),
    );
    return { data, ok: data.missing.length === 0 && data.overlays.problem === null };
  }

  protected override readonly render = renderMapShow;
}
