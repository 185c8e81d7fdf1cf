import { command } from '../../cli/define.ts';
import { acceptUndecidedFlag, gatewayFlags } from '../../cli/flags.ts';
import { renderCloudOutbox } from '../../cli/render/cloud.ts';

export default command({
  summary: 'Show the messages that the gateway keeps until the broker has acknowledged them.',
  description:
    'Counts per class, size on the disk, the oldest message, refused messages and thinned telemetry. Asks the operator server of the gateway; shows no content of messages, and none of other robots: see gw cloud others. Exits with 1 when the outbox refuses messages, is not open although a cloud is configured, holds a message back, or had to set a damaged file aside; also while that is not known, unless --accept-undecided.',
  examples: ['<%= config.bin %> cloud outbox', '<%= config.bin %> cloud outbox --via technician@192.0.2.2 --json'],
  flags: { ...gatewayFlags, 'accept-undecided': acceptUndecidedFlag },
  schema: 'gw/cloud-outbox/1',
  async run({ flags }) {
    const { readCloudOutbox, judgeOutbox } = await import('../../lib/toolkit/cloud/outbox.ts');
    const data = await this.call(flags, readCloudOutbox, { host: flags.host });
    return await this.judged(data, judgeOutbox(data), flags);
  },
  render: renderCloudOutbox,
});
