import { Args, Flags } from '@oclif/core';
import { command } from '../../cli/define.ts';
import { durationFlag, siteFlag } from '../../cli/flags.ts';
import { renderCloudUpload } from '../../cli/render/cloud.ts';
import { exitCodes } from '../../lib/error/index.ts';

export default command({
  summary: 'Give a map backup to the running gateway, which uploads it to the object storage.',
  description:
    'Runs on the gateway, as the user of `gw serve`. Verifies the backup like `gw map verify`, and copies it into the state folder of the gateway; the file itself stays. The gateway asks the cloud for a pre-signed URL and uploads it, also after a restart, until the object storage has confirmed it. With --wait, exits with 4 when it was refused and with 3 when it is not uploaded within the time; the gateway goes on trying.',
  examples: [
    '<%= config.bin %> cloud upload maps-SN0007-20260131T120000Z.tar.gz',
    '<%= config.bin %> cloud upload maps-SN0007-20260131T120000Z.tar.gz --wait',
    '<%= config.bin %> cloud upload backup.tar.gz --wait --timeout 1h --json',
  ],
  args: { file: Args.string({ description: 'The backup, by `gw map backup`.', required: true }) },
  flags: {
    site: siteFlag,
    via: Flags.string({
      summary: 'Refused with what to do instead: the backup must be on the gateway.',
      helpValue: 'USER@HOST[:PORT]',
    }),
    wait: Flags.boolean({ summary: 'Wait until the gateway has uploaded it.' }),
    timeout: durationFlag({ summary: 'How long to wait, if not 10m', min: 1, max: 86_400, dependsOn: ['wait'] }),
  },
  schema: 'gw/cloud-upload/1',
  async run({ args, flags }) {
    const { uploadArchive } = await import('../../lib/toolkit/cloud/upload.ts');
    const { site, via, wait, timeout = 600 } = flags;
    const options = { file: args.file, via, waitMs: wait ? timeout * 1_000 : undefined };
    const data = await this.call({ site }, uploadArchive, options, { shown: 'spinner' });
    const { state } = data.upload;
    if (state === 'refused') return { data, ok: false, exitCode: exitCodes.refused };
    return { data, ok: wait !== true || state === 'uploaded', exitCode: exitCodes.notReachable };
  },
  render: renderCloudUpload,
});
