import { Flags } from '@oclif/core';
import { command } from '../../cli/define.ts';
import { siteFlag } from '../../cli/flags.ts';
import { renderCloudOthers } from '../../cli/render/cloud-others.ts';

export default command({
  summary: 'List the messages to the cloud that belong to other robots; export those of one.',
  description:
    'After a chassis was replaced, messages of the robot before are kept and never sent: this lists them by serial number, with their number and times. --export writes those of one robot to a new file, readable for its owner only: a line of JSON each, with topic, payload, time and serial number as they would have been sent. Reads copies of the files of this machine, as root or the user of `gw serve`; nothing is sent or removed, and `gw serve` need not run. Exits with 1 when a file or a message could not be read.',
  examples: ['<%= config.bin %> cloud others', '<%= config.bin %> cloud others --export SN0006 --out messages.jsonl'],
  flags: {
    site: siteFlag,
    export: Flags.string({ summary: 'Export the messages of this robot.', helpValue: 'SERIAL' }),
    out: Flags.file({
      char: 'o',
      summary: 'New file for them; by default messages-SERIAL-TIME.jsonl here.',
      helpValue: 'FILE',
      dependsOn: ['export'],
    }),
  },
  schema: 'gw/cloud-others/1',
  async run({ flags }) {
    const { readOthers } = await import('../../lib/toolkit/cloud/others.ts');
    const { loadSite } = await import('../../lib/site/index.ts');
    const site = await loadSite(flags.site);
    const exported = flags.export === undefined ? null : { serial: flags.export, out: flags.out ?? null };
    const data = await readOthers({ site, exported, now: new Date() });
    return { data, ok: data.verdict === 'ok' };
  },
  render: renderCloudOthers,
});
