import { GwCommand, type Outcome } from '../../cli/command.ts';
import { siteFlag } from '../../cli/flags.ts';
import { renderMapList } from '../../cli/render/map.ts';
import type { MapList as Result } from '../../lib/toolkit/map-list.result.ts';

export default class MapList extends GwCommand<Result> {
  static override summary = 'Which maps does the chassis store, and which one is in use?';
  static override description =
    'Reads only. The numbers are those of the chassis; the other commands take them with --map.';
  static override examples = [
    '<%= config.bin %> map list',
    '<%= config.bin %> map list --site robot-7/site.yaml --json',
  ];
  static override flags = { site: siteFlag };
  static override readonly schema = 'gw/map-list/1';

  protected override async execute(): Promise<Outcome<Result>> {
    const { flags } = await this.parse(MapList);
    const { openToolkit } = await import('../../lib/toolkit/toolkit.ts');
    const { listMaps } = await import('../../lib/toolkit/map-list.ts');
    const context = { signal: this.signal, onProgress: () => {} };
    return { data: await listMaps(await openToolkit(flags.site), context) };
  }

  protected override render(data: Result): string {
    return renderMapList(data);
  }
}
