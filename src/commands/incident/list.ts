import { command } from '../../cli/define.ts';
import { gatewayFlags } from '../../cli/flags.ts';
import { renderIncidents } from '../../cli/render/incident.ts';

export default command({
  summary: 'List the incidents that the running gateway keeps: stops, faults, lost links, failed moves.',
  description:
    'Of each the gateway keeps the minute before and at least 10 s after: poses, links, orders, alerts and log. The 50 newest stay, of each kind some. Exits with 1 when an incident could not be kept or read.',
  examples: ['<%= config.bin %> incident list', '<%= config.bin %> incident list --via root@192.0.2.2 --json'],
  flags: gatewayFlags,
  schema: 'gw/incident-list/1',
  async run({ flags }) {
    const { listIncidents } = await import('../../lib/toolkit/incident/list.ts');
    const data = await this.call(flags, listIncidents, { host: flags.host });
    return { data, ok: data.notKept === null && data.unreadable === 0 && data.folderProblem === null };
  },
  render: renderIncidents,
  paged: true,
});
