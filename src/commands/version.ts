import { command } from '../cli/define.ts';
import { renderVersion } from '../cli/render/version.ts';

export default command({
  summary: 'Show the version of gw and of its platform.',
  description:
    'For bug reports: version, package and commit, Node.js, operating system, architecture and folder. `gw --version` prints the same in one line.',
  examples: ['<%= config.bin %> version', '<%= config.bin %> version --json'],
  schema: 'gw/version/1',
  async run() {
    const { readOrigin, readPlatform } = await import('../cli/platform.ts');
    const { name, version, root } = this.config;
    return { data: { name, version, ...(await readPlatform()), origin: await readOrigin(root), folder: root } };
  },
  render: renderVersion,
});
