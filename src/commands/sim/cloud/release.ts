import { Args, Flags } from '@oclif/core';
import { command } from '../../../cli/define.ts';
import { durationFlag, simDirFlag, simSerialFlag } from '../../../cli/flags.ts';
import { withProgress } from '../../../cli/progress.ts';
import { renderSimCloudRelease } from '../../../cli/render/sim.ts';

export default command({
  summary: 'Release a package from the simulated cloud.',
  description:
    'Stores the package and queues a job for it. With --wait it exits with 1 unless the job succeeds. Without --dir it uses the simulator of ./gw-sim, or the last started one if none runs there.',
  examples: [
    '<%= config.bin %> sim cloud release gw-1.4.0.tar',
    '<%= config.bin %> sim cloud release gw-1.4.0.tar --stage 2 --wait',
    '<%= config.bin %> sim cloud release gw-1.3.0.tar --allow-downgrade --wait --timeout 5m',
  ],
  args: { file: Args.file({ description: 'The package.', required: true }) },
  flags: {
    version: Flags.string({
      summary: 'Version in the job document; by default that of the manifest in the package.',
      helpValue: 'VERSION',
    }),
    stage: Flags.integer({ summary: 'Number of the rollout stage.', helpValue: 'N', min: 0 }),
    'allow-downgrade': Flags.boolean({ summary: 'Allow an older version than the running one.', default: false }),
    wait: Flags.boolean({ summary: 'Wait for the end of the job.' }),
    timeout: durationFlag({
      summary: 'How long to wait, if not 10m',
      min: 1,
      max: 86_400,
      dependsOn: ['wait'],
    }),
    serial: simSerialFlag,
    dir: simDirFlag,
  },
  schema: 'gw/sim-cloud-release/1',
  async run({ args, flags }) {
    const { dir, version, stage, serial, wait, timeout = 600 } = flags;
    const { simCloudRelease } = await import('../../../lib/sim/control/cloud-commands.ts');
    const data = await withProgress({ quiet: this.isQuiet }, (progress) =>
      simCloudRelease(
        { dir },
        {
          file: args.file,
          version,
          stage,
          allowDowngrade: flags['allow-downgrade'],
          serial,
          waitMs: wait ? timeout * 1000 : undefined,
          signal: this.signal,
          onStatus: ({ jobId, status }) => progress.say(`Job ${jobId}: ${status}`),
        },
      ),
    );
    return { data, ok: !data.waited || data.job.status === 'SUCCEEDED' };
  },
  render: renderSimCloudRelease,
});
