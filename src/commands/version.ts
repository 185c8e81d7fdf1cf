import { GwCommand, type Outcome } from '../cli/command.ts';
import { renderVersion } from '../cli/render/version.ts';
import type { VersionResult as Result } from '../cli/version.result.ts';

export default class Version extends GwCommand<Result> {
  static override summary = 'Show the version of gw and of its platform.';
  static override description =
    'For bug reports: version, Node.js, operating system, architecture and folder. `gw --version` prints the same in one line.';
  static override examples = ['<%= config.bin %> version', '<%= config.bin %> version --json'];
  static override readonly schema = 'gw/version/1';

  protected override async execute(): Promise<Outcome<Result>> {
    await this.parse(Version);
    const { readPlatform } = await import('../cli/platform.ts');
    const { name, version, root } = this.config;
    return { data: { name, version, ...(await readPlatform()), folder: root } };
  }

  protected override readonly render = renderVersion;
}
