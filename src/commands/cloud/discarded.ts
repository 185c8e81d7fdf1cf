import { command } from '../../cli/define.ts';
import { gatewayFlags } from '../../cli/flags.ts';
import { renderCloudDiscarded } from '../../cli/render/cloud.ts';

export default command({
  summary: 'Show the messages from the cloud that the gateway has discarded, by reason.',
  description:
    'The gateway accepts a version release, a stop, the tunnel notification and answers to its own requests; everything else is discarded and counted. Shows topics and sizes, never payloads. docs/cloud.md lists the reasons. Exits with 0 also when messages were discarded.',
  examples: [
    '<%= config.bin %> cloud discarded',
    '<%= config.bin %> cloud discarded --via technician@192.0.2.2 --json',
  ],
  flags: { ...gatewayFlags },
  schema: 'gw/cloud-discarded/1',
  async run({ flags }) {
    const { readCloudDiscarded } = await import('../../lib/toolkit/cloud/discarded.ts');
    const data = await this.call(flags, readCloudDiscarded, { host: flags.host });
    return { data };
  },
  render: renderCloudDiscarded,
  paged: true,
});
