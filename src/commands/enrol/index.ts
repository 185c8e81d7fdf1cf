import { Flags } from '@oclif/core';
import { GwCommand, type Outcome } from '../../cli/command.ts';
import { siteFlag } from '../../cli/flags.ts';
import { withProgress } from '../../cli/progress.ts';
import { renderEnrol } from '../../cli/render/enrol.ts';
import type { Enrol as Result } from '../../lib/toolkit/enrol/enrol.result.ts';

export default class Enrol extends GwCommand<Result> {
  static override summary = 'Give this device its identity in the cloud, once, on the gateway itself.';
  static override description =
    'Takes the serial number from the chassis, makes a key that never leaves this machine, and sends a certificate request with a one-time code to enrolment.url of the site file. The code is typed unseen, or is the first line of a file or of stdin, or stands in an environment variable; it is never an argument. Nothing is installed unless everything about the answer is right. A run that was cut is resumed by the next one, with the same key. A second identity is refused unless --renew.';
  static override examples = [
    '<%= config.bin %> enrol',
    '<%= config.bin %> enrol --site robot-7/site.yaml --code-file code.txt',
    'CODE=… <%= config.bin %> enrol --code-env CODE --json',
    '<%= config.bin %> enrol --renew',
  ];
  static override flags = {
    site: siteFlag,
    renew: Flags.boolean({
      summary: 'Replace the identity that is there; needs a new one-time code.',
      default: false,
    }),
    'code-file': Flags.file({
      summary: 'Take the one-time code from the first line of this file, which others must not be able to read.',
      helpValue: 'FILE',
      exclusive: ['code-env'],
    }),
    'code-env': Flags.string({
      summary: 'Take the one-time code from the environment variable of this name.',
      helpValue: 'NAME',
    }),
  };
  static override readonly schema = 'gw/enrol/1';

  protected override async execute(): Promise<Outcome<Result>> {
    const { flags } = await this.parse(Enrol);
    const { openToolkit } = await import('../../lib/toolkit/toolkit.ts');
    const { enrolDevice } = await import('../../lib/toolkit/enrol/enrol.ts');
    const { readOneTimeCode } = await import('../../cli/one-time-code.ts');
    const toolkit = await openToolkit(flags.site);
    const { signal } = this;
    const data = await withProgress({ quiet: this.jsonEnabled() }, (progress) => {
      const readCode = () => {
        progress.stop();
        return readOneTimeCode({
          streams: { input: process.stdin, output: process.stderr },
          fromFile: flags['code-file'],
          fromVariable: flags['code-env'],
          environment: process.env,
          signal,
        });
      };
      return enrolDevice(
        toolkit,
        { renew: flags.renew, readCode },
        { signal, onProgress: (text) => progress.say(text) },
      );
    });
    if (data.clock.verdict === 'wrong') this.warn('The clock of this device differs from that of the endpoint.');
    return { data };
  }

  protected override render(data: Result): string {
    return renderEnrol(data);
  }
}
