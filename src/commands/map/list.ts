import { GwCommand, type Outcome } from '../../cli/command.ts';
import { siteFlag, viaFlag } from '../../cli/flags.ts';
import { renderMapList } from '../../cli/render/map.ts';
import type { MapList as Result } from '../../lib/toolkit/map/map.result.ts';

export default class MapList extends GwCommand<Result> {
  static override summary = 'List the stored maps of the chassis and the current map.';
  static override description = 'Reads only. The other commands accept these map numbers.';
  static override examples = [
    '<%= config.bin %> map list',
    '<%= config.bin %> map list --site robot-7/site.yaml --json',
  ];
  static override flags = { site: siteFlag, via: viaFlag };
  static override readonly schema = 'gw/map-list/1';

  protected override async execute(): Promise<Outcome<Result>> {
    const { flags } = await this.parse(MapList);
    const { listMaps } = await import('../../lib/toolkit/map/list.ts');
    const data = await this.withToolkit(flags, (toolkit, signal) =>
      listMaps(toolkit, { signal, onProgress: () => {} }),
    );
    return { data };
  }

  protected override readonly render = renderMapList;
}
